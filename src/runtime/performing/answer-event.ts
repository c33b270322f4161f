import type { EventOf } from '../../kernel/transition/event.ts';
import type { ModelOutcome } from '../../models/model.ts';
import { type Agent, mustSubmit } from '../../records/agent/agent.ts';
import type { Call } from '../../records/agent/state.ts';
import type { AssistantContent, CallPart } from '../../records/conversation/message.ts';
import { isServerTool } from '../../records/server-tools.ts';
import { storable } from '../../records/text/text.ts';
import type { ToolCatalog } from '../tool-catalog.ts';

/** The event of an answer. Each call carries the scheduling flags of its tool; a call of an unknown tool gets an error as its result. */
export function answered(
  at: number,
  agent: Agent,
  { content, finish, reason }: Extract<ModelOutcome, { type: 'answer' }>,
  catalog: ToolCatalog,
): EventOf<'response'> {
  const setup = catalog.setupFor(agent.config);
  const within = withinCalls(content.parts);
  const parts = distinctCalls(within.parts).map((part) =>
    part.type === 'call' ? { ...part, input: storable(part.input) } : { ...part, text: storable(part.text) },
  );
  const calls = parts
    .filter((part): part is CallPart => part.type === 'call')
    .map(({ id, name, input }): Call => {
      const tool = setup.tools.get(name) ?? setup.findTool(name);
      // Without a tool: a call of a toolset, or of a name that nobody knows, unless its server is not known now and may be when the call is run.
      const harmless = !isServerTool(name);
      if (tool === undefined) return { id, name, input, side_by_side: harmless, idempotent: harmless };
      return { id, name, input, side_by_side: tool.side_by_side, idempotent: tool.idempotent };
    });
  return {
    type: 'response',
    at,
    seq: agent.last_seq + 1,
    content: { ...content, parts, ...endingOf(finish, reason) },
    calls,
    ...(within.refusal === undefined
      ? submissionOf(agent, calls, catalog)
      : { submission: null, refusal: within.refusal }),
  };
}

function endingOf(
  finish: Extract<ModelOutcome, { type: 'answer' }>['finish'],
  reason: string | undefined,
): Pick<AssistantContent, 'finish' | 'reason'> {
  if (finish !== 'length' && finish !== 'refused') return {};
  return reason === undefined ? { finish } : { finish, reason: storable(reason) };
}

const NOT_ALONE =
  'submit_result and submit_error end your conversation, so each must be the only call of its message: nothing of this message was run.';

/** The result or error with which a child ends itself; invalid arguments are reported by the tool, as for any call. */
function submissionOf(
  agent: Agent,
  calls: readonly Call[],
  catalog: ToolCatalog,
): Pick<EventOf<'response'>, 'submission' | 'refusal'> {
  if (!mustSubmit(agent.config, agent.origin)) return { submission: null };
  const submitting = calls.flatMap((call) => {
    const submission = catalog.toolsetTool(agent.config, call.name)?.submission;
    return submission === undefined ? [] : [{ call, submission }];
  });
  const [only] = submitting;
  if (only === undefined) return { submission: null };
  if (calls.length > 1) return { submission: null, refusal: NOT_ALONE };
  const parsed = catalog.argumentsOf(only.call);
  return { submission: parsed.ok ? only.submission(parsed.input, agent.config) : null };
}

/** Gives a repeated call id a suffix, so that results can be told apart. */
function distinctCalls(parts: AssistantContent['parts']): AssistantContent['parts'] {
  const seen = new Set<string>();
  return parts.map((part) => {
    if (part.type !== 'call') return part;
    let { id } = part;
    for (let copy = 2; seen.has(id); copy += 1) id = `${part.id}_${copy}`;
    seen.add(id);
    return id === part.id ? part : { ...part, id };
  });
}

/** Maximum calls of one message, and characters of their arguments: bounds what one step decides and the ledger stores. */
const CALLS_MAX = 1_000;
const CALL_CHARACTERS_MAX = 2_000_000;

/** Drops calls beyond the maximum; if any are dropped, `refusal` says that none was run. */
function withinCalls(parts: AssistantContent['parts']): {
  readonly parts: AssistantContent['parts'];
  readonly refusal?: string;
} {
  let [calls, characters] = [0, 0];
  const kept = parts.filter((part) => {
    if (part.type !== 'call') return true;
    calls += 1;
    characters += part.input.length;
    return calls === 1 || (calls <= CALLS_MAX && characters <= CALL_CHARACTERS_MAX);
  });
  if (kept.length === parts.length) return { parts };
  const refusal = `the message had ${calls} calls with ${characters} characters; the maximum is ${CALLS_MAX} calls with ${CALL_CHARACTERS_MAX}: none of them was run, make fewer at once`;
  return { parts: kept, refusal };
}
