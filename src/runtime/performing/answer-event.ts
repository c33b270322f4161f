import { announcesCalls, endsOpen } from '../../kernel/reading/announcement.ts';
import { readAnswer } from '../../kernel/reading/read-answer.ts';
import { writtenCalls } from '../../kernel/reading/written-calls.ts';
import { writtenSlash } from '../../kernel/toolsets/slash/written-slash.ts';
import type { EventOf } from '../../kernel/transition/event.ts';
import type { ModelOutcome } from '../../models/model.ts';
import { type Agent, mustSubmit } from '../../records/agent/agent.ts';
import type { Call } from '../../records/agent/state.ts';
import { assistantText } from '../../records/conversation/child-text.ts';
import { isLetter, type Mail } from '../../records/conversation/mail.ts';
import type { AssistantContent, CallPart } from '../../records/conversation/message.ts';
import { isServerTool } from '../../records/server-tools.ts';
import { storable } from '../../records/text/text.ts';
import type { Cell } from '../executor/cell.ts';
import type { ToolCatalog } from '../tool-catalog.ts';

/** Maximum calls of one message, and characters of their arguments: bounds what one step decides and the ledger stores. */
const CALLS_MAX = 1_000;
const CALL_CHARACTERS_MAX = 2_000_000;

/** Drops calls beyond the maximum; if any are dropped, `refusal` says that none was run. */
function withinCalls(parts: AssistantContent['parts']) {
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

/** The event of an answer. Each call carries the scheduling flags of its tool; a call of an unknown tool gets an error as its result. */
export function answered(
  at: number,
  agent: Agent,
  {
    content,
    finish,
    reason,
  }: Pick<Extract<ModelOutcome, { type: 'answer' }>, 'content' | 'finish' | 'reason'>,
  catalog: ToolCatalog,
): EventOf<'response'> {
  const setup = catalog.setupFor(agent.config);
  const within = withinCalls(content.parts);
  const seq = agent.last_seq + 1;
  // A script writes no calls; its result may hold texts of agents that look like some.
  const whole = agent.config.workflow === undefined && finish !== 'length' && finish !== 'refused';
  const said = within.parts.map((part) =>
    part.type === 'call' ? { ...part, input: storable(part.input) } : { ...part, text: storable(part.text) },
  );
  const has_slash = catalog.toolsetTool(agent.config, 'slash') !== undefined;
  const written = (text: string) =>
    (has_slash && runsCalls(agent) ? writtenSlash(text) : null) ?? writtenCalls(text);
  const read = whole ? readAnswer(said, setup.read, seq, written) : { parts: said, unread: false };
  const parts = distinctCalls(read.parts);
  const calls = parts
    .filter((part): part is CallPart => part.type === 'call')
    .map(({ id, read, ...part }): Call => {
      const { name, input, note } = { note: undefined, ...(read ?? part) };
      // Without a tool: a call of a toolset, or of a name that nobody knows, unless its server is not known now and may be when the call is run.
      const harmless = { side_by_side: !isServerTool(name), idempotent: !isServerTool(name) };
      const { side_by_side, idempotent } = setup.tools.get(name) ?? setup.findTool(name) ?? harmless;
      return { id, name, input, ...(note !== undefined && { note }), side_by_side, idempotent };
    });
  const text = assistantText({ parts });
  const announced = whole && calls.length === 0 && (announcesCalls(text) || endsOpen(text));
  return {
    ...(announced && { announced }),
    ...(read.unread && { unread: true as const }),
    type: 'response',
    at,
    seq,
    content: { ...content, parts, ...endingOf(finish, reason) },
    calls,
    ...(within.refusal === undefined
      ? submissionOf(agent, calls, catalog)
      : { submission: null, refusal: within.refusal }),
  };
}

/** Whether no limit has turned its tools off. */
function runsCalls({ state }: Agent): boolean {
  return 'turn' in state && !state.turn.grace;
}

function endingOf(
  finish: Extract<ModelOutcome, { type: 'answer' }>['finish'],
  reason: string | undefined,
): Pick<AssistantContent, 'finish' | 'reason'> {
  if (finish !== 'length' && finish !== 'refused') return {};
  return reason === undefined ? { finish } : { finish, reason: storable(reason) };
}

const TWICE =
  'submit_result and submit_error end your conversation: call one of them, once. Nothing of this message was run.';

/** The result or error with which a child ends itself; invalid arguments are reported by the tool, as for any call. */
function submissionOf(
  agent: Agent,
  calls: readonly Call[],
  catalog: ToolCatalog,
): Pick<EventOf<'response'>, 'submission' | 'refusal'> & { readonly calls?: readonly Call[] } {
  if (!mustSubmit(agent)) return { submission: null };
  const submitting = calls.flatMap((call) => {
    const submission = catalog.toolsetTool(agent.config, call.name)?.submission;
    return submission === undefined ? [] : [{ call, submission }];
  });
  const [only] = submitting;
  if (only === undefined) return { submission: null };
  if (submitting.length > 1) return { submission: null, refusal: TWICE };
  if (calls.length > 1) {
    // After the others, whose results it may rest on.
    const last = { ...only.call, side_by_side: false };
    return { submission: null, calls: [...calls.filter((call) => call !== only.call), last] };
  }
  const parsed = catalog.argumentsOf(only.call);
  return { submission: parsed.ok ? only.submission(parsed.input, agent.config) : null };
}

/**
 * An answer without the model: the one that a person has given in its place, the reading of mail of which a notice has just told it, which it would only ask
 * for, or the submission that was made beside other calls which have all succeeded since. Null if there is none.
 */
export function answerAtHand(
  { agent, prompt, inbox }: Cell,
  at: number,
  catalog: ToolCatalog,
): EventOf<'response'> | null {
  if (agent.state.type === 'requesting' && agent.state.given !== undefined) {
    const parts = [{ type: 'text', text: agent.state.given }] as const;
    return answered(at, agent, { content: { model: agent.config.model, parts }, finish: 'stop' }, catalog);
  }
  const [answer, results] = prompt.messages().slice(-2);
  const isNoticed = (one: Mail) => isLetter(one) && one.from_id !== null && one.number <= agent.noticed;
  if (runsCalls(agent) && results?.role === 'user' && inbox.all().some(isNoticed)) {
    if (catalog.toolsetTool(agent.config, 'slash') === undefined) return null;
    const id = `mail_${agent.last_seq + 1}`;
    const parts = [{ type: 'call', id, name: 'slash', input: '{"command":"check-mail"}' }] as const;
    return answered(at, agent, { content: { model: agent.config.model, parts }, finish: 'stop' }, catalog);
  }
  if (!mustSubmit(agent)) return null;
  if (answer?.role !== 'assistant' || results?.role !== 'results') return null;
  const made = answer.parts.filter((part) => part.type === 'call');
  const submits = ({ name }: Pick<Call, 'name'>) =>
    catalog.toolsetTool(agent.config, name)?.submission !== undefined;
  const call = made.find(({ read, ...part }) => submits(read ?? part));
  const is_held = results.results.some((one) => submits(one) && one.status === 'ok');
  if (call === undefined || !is_held) return null;
  const content = { model: answer.model, parts: [{ ...call, id: `${call.id}_again` }] };
  return answered(at, agent, { content, finish: 'stop' }, catalog);
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
