import { parseJson } from '../../core/json-text.ts';
import type { Call } from '../../core/state.ts';

/** The arguments of a call as JSON; no text at all counts as an empty object, as providers send it. */
export function parseCallInput(
  call: Pick<Call, 'name' | 'input'>,
): { readonly ok: true; readonly input: unknown } | { readonly ok: false; readonly error: string } {
  if (call.input.trim() === '') return { ok: true, input: {} };
  const parsed = parseJson(call.input);
  return parsed.ok
    ? { ok: true, input: parsed.value }
    : { ok: false, error: `the arguments of ${call.name} are not valid JSON: ${parsed.error}` };
}
