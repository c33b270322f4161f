import { isoTime } from '../../documents/iso-time.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { cutText } from '../../records/text/cut-text.ts';
import type { Store } from '../../store/store.ts';
import { oneAgent } from '../find-agent.ts';
import { type Cause, callText, causesOf, messageText } from './causes.ts';
import { callsOf, Past } from './past.ts';

type WhyDocument = DocumentOf<'coppice/why/v1'>;
type Step = WhyDocument['steps'][number];

export interface WhyQuery {
  /** Seq of the message that is asked about; default: the agent's newest answer. */
  readonly message?: number | undefined;
  /** Instead: a call of any agent of the tree, by its id or the beginning of it, or by the id of its open approval. */
  readonly call?: string | undefined;
  readonly all?: boolean | undefined;
}

/** Maximum steps, causes of one step, and messages of a turn that are read: by default, and with `all`. */
const SHORT = { steps: 20, causes: 6, messages: 400 };
const ALL = { steps: 1_000, causes: 1_000, messages: 10_000 };
const TEXT_MAX = 400;

interface Place {
  readonly agent: Agent;
  readonly seq: number;
  /** Only messages before this one led to it. */
  readonly before: number;
  readonly call_id?: string;
}

/** What led to an answer, as far as it was looked up. */
interface Known {
  readonly causes: Cause[];
  left_out: number;
}

/** A backward slice: what led to an answer or call of an agent, through letters, results and files, to the prompts of people. */
export async function whyDocument(store: Store, text: string, query: WhyQuery): Promise<WhyDocument> {
  const past = new Past(store);
  const place = await placeOf(store, past, await oneAgent(store, text), query);
  const { agent, seq, call_id = null } = place;
  const known = await slice(past, place, query.all === true);
  const steps: Step[] = [];
  const told = new Set<string>();
  const tell = (step: Omit<Step, 'again' | 'left_out'>, key: string | null): void => {
    const again = key !== null && told.has(key);
    if (key !== null) told.add(key);
    const { causes = [], left_out = 0 } = (again || key === null ? undefined : known.get(key)) ?? {};
    const led_to = steps.push({ ...step, again, left_out }) - 1;
    for (const cause of causes.toSorted((one, other) => other.into - one.into)) {
      const { how, into, agent: by, seq: by_seq, at } = cause;
      const of = { agent_id: by?.id ?? null, agent: by?.name ?? null, seq: by_seq, at: isoTime(at) };
      tell({ led_to, into, how, ...of, text: wordsOf(cause.text) }, keyOf(cause));
    }
  };
  const message = await past.message(agent.id, seq);
  const call = message?.kind === 'assistant' ? callsOf(message).find(({ id }) => id === call_id) : undefined;
  const words = call !== undefined ? callText(call) : message === undefined ? '' : messageText(message);
  const of = { agent_id: agent.id, agent: agent.name, seq, at: isoTime(message?.at ?? agent.created_at) };
  tell({ led_to: null, into: null, how: 'asked', ...of, text: wordsOf(words) }, `${agent.id} ${seq}`);
  const whole = steps.every(({ left_out }) => left_out === 0);
  return { schema: 'coppice/why/v1', root_id: agent.root_id, call_id, whole, steps };
}

/** What led to the answer and to what led to it, breadth first. What an agent's last answer had before it, too, comes when nothing else is left. */
async function slice(past: Past, { agent, seq, before }: Place, all: boolean): Promise<Map<string, Known>> {
  const limits = all ? ALL : SHORT;
  const asked = `${agent.id} ${seq}`;
  const known = new Map<string, Known>([[asked, { causes: [], left_out: 0 }]]);
  /** What agents know, at whichever of their answers. */
  const shown = new Set<string>();
  const open = [{ key: asked, agent_id: agent.id, before }];
  const later: { readonly key: string; readonly agent_id: string; readonly causes: readonly Cause[] }[] = [];
  let count = 1;
  const add = (key: string, agent_id: string, causes: readonly Cause[]): void => {
    const of = known.get(key) as Known;
    const room = Math.max(0, Math.min(limits.causes - of.causes.length, limits.steps - count));
    // Prompts and parents first: everything leads to them.
    const taken = causes
      .toSorted((one, other) => Number(isBegin(other)) - Number(isBegin(one)))
      .slice(0, room);
    of.left_out += causes.length - taken.length;
    of.causes.push(...taken);
    count += taken.length;
    for (const cause of taken) {
      const next = keyOf(cause);
      shown.add(`${agent_id} ${next}`);
      if (next === null || cause.agent === null || cause.seq === null || known.has(next)) continue;
      known.set(next, { causes: [], left_out: 0 });
      open.push({ key: next, agent_id: cause.agent.id, before: cause.seq });
    }
  };
  for (;;) {
    const next = open.shift();
    if (next !== undefined) {
      const of = await past.agent(next.agent_id);
      const how = { own: all || next.key === asked, most: limits.messages, most_causes: limits.causes };
      const causes = of === null ? [] : await causesOf(past, of, next.before, how);
      const isLater = (cause: Cause) => cause.is_old === true && !isBegin(cause);
      add(
        next.key,
        next.agent_id,
        causes.filter((cause) => !isLater(cause)),
      );
      later.push({ ...next, causes: causes.filter(isLater) });
      continue;
    }
    const rest = later.shift();
    if (rest === undefined) return known;
    const { key, agent_id, causes } = rest;
    add(
      key,
      agent_id,
      causes.filter((cause) => keyOf(cause) === null || !shown.has(`${agent_id} ${keyOf(cause)}`)),
    );
  }
}

function isBegin({ how }: Cause): boolean {
  return how === 'prompt' || how === 'schedule' || how === 'created';
}

/** Identifies the answer that did it; null if nothing is looked for behind it. */
function keyOf({ how, agent, seq }: Cause): string | null {
  return agent === null || seq === null || how === 'call' ? null : `${agent.id} ${seq}`;
}

function wordsOf(text: string): string {
  return cutText(text.trim(), TEXT_MAX, '…');
}

async function placeOf(store: Store, past: Past, agent: Agent, { message, call }: WhyQuery): Promise<Place> {
  if (call !== undefined) {
    const found = (await store.findCall(agent.root_id, call)) ?? (await openCall(store, past, agent, call));
    const by = found && (await past.agent(found.agent_id));
    const answer = found === null ? undefined : await past.answerBefore(found.agent_id, found.seq);
    if (found === null || by == null || answer === undefined)
      throw new CoppiceError(
        'E_CALL_NOT_FOUND',
        `no call "${call}" in the tree ${agent.root_id.slice(0, 8)}`,
      );
    return { agent: by, seq: answer.seq, before: answer.seq, call_id: found.call_id };
  }
  const newest = message === undefined ? await past.answerBefore(agent.id, agent.last_seq + 1) : undefined;
  // Until it has answered, a fork has only answers of its parent.
  const seq = message ?? (newest?.agent_id === agent.id ? newest.seq : agent.last_seq);
  const named = await past.message(agent.id, seq);
  if (named === undefined)
    throw new CoppiceError('E_INVALID_ARGUMENT', `${agent.name} has no message ${message ?? 'yet'}`, {
      hint: `Its messages are 1 to ${agent.last_seq}`,
    });
  if (named.kind !== 'result')
    // What a message tells that is no answer is itself what led to it.
    return { agent, seq, before: named.kind === 'assistant' ? seq : seq + 1 };
  const answer = (await past.answerBefore(agent.id, seq))?.seq ?? seq;
  return { agent, seq: answer, before: answer, call_id: named.content.call_id };
}

/** A call that waits for a person. */
async function openCall(store: Store, past: Past, { root_id }: Agent, text: string) {
  const asks = await store.asks({ root_id, open: true });
  const ask = asks.find(({ id, call_id }) => id.startsWith(text) || call_id.startsWith(text));
  const agent = ask && (await past.agent(ask.agent_id));
  return ask && agent ? { agent_id: agent.id, seq: agent.last_seq + 1, call_id: ask.call_id } : null;
}
