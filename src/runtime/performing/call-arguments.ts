import type { Arguments } from '../../kernel/turn/view.ts';
import type { Call } from '../../records/agent/state.ts';
import { parseJson } from '../../records/text/json-text.ts';

/** The arguments of calls as JSON, each read once: the step that decides a call asks for them, the tool that runs it, and whoever tells what an agent does. */
export function callArguments(): (call: Call) => Arguments {
  const known = new WeakMap<Call, Arguments>();
  return (call) => {
    const found = known.get(call) ?? parsed(call);
    known.set(call, found);
    return found;
  };
}

/** No text at all counts as an empty object, as providers send it. */
function parsed({ name, input }: Call): Arguments {
  if (input.trim() === '') return { ok: true, input: {} };
  const json = parseJson(input);
  return json.ok
    ? { ok: true, input: json.value }
    : { ok: false, error: `the arguments of ${name} are not valid JSON: ${json.error}` };
}
