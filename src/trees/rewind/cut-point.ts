import type { CutPoint } from '../../kernel/cut/places.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { typedText } from '../../records/conversation/facts/message-facts.ts';
import { isPerson } from '../../records/conversation/facts/wait-row.ts';
import type { Message, PlacedMessage } from '../../records/conversation/message.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { readDuration } from '../../records/text/parse-duration.ts';
import type { Store } from '../../store/store.ts';
import { oneAgent } from '../find-agent.ts';

/** The tree to cut, and where. */
export interface FoundPoint {
  readonly root: Agent;
  readonly point: CutPoint;
  /** The message that was named, if it is to be edited: the cut ends before it. */
  readonly edited?: PlacedMessage;
}

/** Whether the moment is that of a message, before it, or before it so that another one takes its place. */
type Aim = 'at' | 'before' | 'edit';

const FORMS =
  'A message of the root as 12, of another agent as NAME#12; before 12, or before the id of a call; a time as "10 minutes", 1h30m or 2026-01-31T12:00:00Z';
/** Messages before and after a named one that may belong to its step. */
const NEAR = 200;
/** Tools that write to agents or create them. */
const ACTS = /^(?:fork|send|slash|spawn_agents|sessions_spawn)$/;

/**
 * Which moment of a tree a text means: `12` or `NAME#12` (with this message as the last one of its agent), `before` a message or the id of a call, or a time. A
 * moment before the tree was cut from another one is a moment of that one. Rejects with a `CoppiceError`.
 */
export async function cutPoint(store: Store, root: Agent, text: string, edits = false): Promise<FoundPoint> {
  const [, before, named = ''] = /^(before\s+)?(.*)$/is.exec(text.trim()) ?? [];
  const [, , agent_name, number] = /^((?:step|message)\s+)?(?:(.+)#)?#?(\d+)$/i.exec(named) ?? [];
  const aim = edits ? 'edit' : before === undefined ? 'at' : 'before';
  const is_message = number !== undefined && (before !== undefined || !/^\d{4}-/.test(named));
  if (edits && before !== undefined) throw unclear(text, 'name the message that is edited, or its call');
  if (!is_message && aim === 'at') return timePoint(store, root, named);
  if (is_message) {
    const agent =
      agent_name === undefined
        ? root
        : await oneAgent(store, agent_name, { root_id: root.root_id, where: ' in this tree', list: FORMS });
    return messagePoint(store, root, agent, Number(number), aim);
  }
  const call = await store.findCall(root.root_id, named);
  const agent = call && (await store.agent(call.agent_id));
  if (!agent) throw unclear(text, `no call "${named}" of this tree has a result`);
  if (edits) return messagePoint(store, root, agent, call.seq, 'edit');
  const near = await store.history(agent.id, Math.max(0, call.seq - NEAR), NEAR);
  const answer = near.findLast(({ kind, seq }) => kind === 'assistant' && seq < call.seq);
  return messagePoint(store, root, agent, answer?.seq ?? call.seq, 'before');
}

/** Whether a message is named that a person wrote. */
export async function isOfPerson(store: Store, tree: Agent, text: string): Promise<boolean> {
  const found = await cutPoint(store, tree, text, true).catch(() => null);
  return found?.edited?.kind === 'user' && found.edited.content.origin === 'human';
}

/** What a person, or another agent, said in a message that one can go back to, or what its agent answered; null for all others. */
export function saidAt({ kind, content }: Message): { readonly who: string; readonly text: string } | null {
  if (kind === 'user') {
    const { origin, text, facts } = content;
    return { who: origin === 'human' ? 'you' : origin, text: typedText(text, facts?.attached) };
  }
  if (kind === 'result') {
    const text = content.facts?.waited?.rows.find(isPerson)?.message;
    return text === undefined ? null : { who: 'you', text };
  }
  if (kind !== 'assistant') return null;
  const parts = content.parts.flatMap((part) =>
    part.type === 'call' ? [`[${part.name}]`] : part.type === 'text' ? [part.text] : [],
  );
  return { who: 'answer', text: parts.join(' ') };
}

async function messagePoint(
  store: Store,
  root: Agent,
  agent: Agent,
  seq: number,
  aim: Aim,
): Promise<FoundPoint> {
  const near = seq < 1 ? [] : await store.history(agent.id, Math.max(0, seq - NEAR), 2 * NEAR);
  const message = near.find((one) => one.seq === seq);
  if (message === undefined) {
    const [was] = agent.was ?? [];
    const other = was === undefined ? '' : `; it went on with ${was.slice(0, 8)}, which may have more`;
    const have = `the conversation of ${agent.name} has ${agent.last_seq} messages${other}`;
    throw unclear(`${agent.name}#${seq}`, have);
  }
  const [begin, end] = stepOf(near, message);
  const last = aim === 'at' ? end : aim === 'before' ? begin - 1 : seq - 1;
  const first = agent.forked_from?.seq ?? 0;
  const [was] = agent.was ?? [];
  if (was !== undefined && (aim === 'edit' ? seq : last) <= first) {
    const earlier = await store.agent(was);
    const earlier_root = earlier && (await store.agent(earlier.root_id));
    if (earlier && earlier_root) return messagePoint(store, earlier_root, earlier, seq, aim);
  }
  if (aim === 'edit') return editPoint(root, agent, message, near, first);
  // What is in the cut has come before it ends, also in one millisecond with what has not.
  const kept_at = near.find((one) => one.seq === last)?.at ?? 0;
  const at = aim === 'before' ? Math.max(kept_at, message.at - 1) : message.at;
  if (last > first) return { root, point: { at, agent_id: agent.id, seq: last } };
  if (agent.parent_id === null)
    throw new CoppiceError('E_REFUSED', `nothing comes before message ${seq} of ${agent.name}`);
  // Before its birth, or among what it inherited: a moment of the others.
  return { root, point: { at: Math.min(at, agent.created_at - 1) } };
}

/** The tree before a message that another one takes the place of: also of the first one of an agent, which exists without it. */
function editPoint(
  root: Agent,
  { id, name }: Agent,
  edited: PlacedMessage,
  near: readonly PlacedMessage[],
  first: number,
): FoundPoint {
  const { seq, at, kind } = edited;
  const [begin] = stepOf(near, edited);
  const torn = near.some(
    (one) => one.seq >= begin && one.seq < seq && one.kind === 'result' && ACTS.test(one.content.name),
  );
  if (seq <= first || kind === 'event' || kind === 'capture' || torn)
    throw unclear(
      `${name}#${seq}`,
      seq <= first
        ? `${name} inherited it: edit it where it was written; what it was told itself is ${name}#${first + 1}`
        : torn
          ? 'it was written together with letters or new agents: edit the answer before it'
          : 'it is only shown to people, and changes nothing',
    );
  const kept_at = near.find((one) => one.seq === seq - 1)?.at ?? 0;
  const until = seq === first + 1 ? at : Math.max(kept_at, at - 1);
  const point = { at: until, agent_id: id, seq: seq - 1 };
  return { root, point, edited };
}

/** First and last message that were written in one transaction with this one: a tree can only be as the ledger had it. An answer is the first of its step. */
function stepOf(
  near: readonly PlacedMessage[],
  { seq, at }: PlacedMessage,
): readonly [begin: number, end: number] {
  const bySeq = new Map(near.map((one) => [one.seq, one]));
  let [begin, end] = [seq, seq];
  while (bySeq.get(begin)?.kind !== 'assistant' && bySeq.get(begin - 1)?.at === at) begin -= 1;
  for (let next = bySeq.get(end + 1); next?.at === at && next.kind !== 'assistant'; next = bySeq.get(end + 1))
    end += 1;
  return [begin, end];
}

async function timePoint(store: Store, root: Agent, text: string): Promise<FoundPoint> {
  const now = await store.now();
  const ago = readDuration(text.replace(/\s*ago$/i, ''));
  const at = ago === null ? (/^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN) : now - ago;
  if (Number.isNaN(at)) throw unclear(text, 'it names no message, call or time');
  if (at > now) throw unclear(text, 'it has not come yet');
  return atTime(store, root, at);
}

async function atTime(store: Store, root: Agent, at: number): Promise<FoundPoint> {
  if (at >= root.created_at) return { root, point: { at } };
  const cut = (await store.tree(root.root_id))?.cut;
  const earlier = cut && (await store.agent(cut.of));
  if (earlier) return atTime(store, earlier, Math.min(at, cut.at));
  const began = new Date(root.created_at).toISOString();
  throw new CoppiceError('E_REFUSED', `the tree began at ${began}: there is nothing before that`);
}

function unclear(text: string, why: string): CoppiceError {
  return new CoppiceError('E_INVALID_ARGUMENT', `the moment "${text}": ${why}`, { hint: FORMS });
}
