import { isPerson } from '../../records/conversation/facts/wait-row.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { FORK_PLACEHOLDER } from '../../records/conversation/prompt.ts';
import { outputText } from '../../records/text/untrusted-text.ts';
import { type CallEntry, callsOf, type Entry, withCall } from './entry.ts';

/** Calls that create an agent and do not wait for it. */
const FORKING: ReadonlySet<string> = new Set(['fork', 'sessions_spawn']);
/** Minimum number of forks that share one row; fewer keep their own rows, with names and slots. */
export const FORKS_MIN = 4;

/** The entries of an agent's history; those of its ancestors are marked as inherited. */
export function transcript(messages: readonly PlacedMessage[], agent_id: string): readonly Entry[] {
  const entries: Entry[] = [];
  const [first] = messages;
  if (first !== undefined && first.seq > 1) {
    const text = `${first.seq - 1} earlier messages are not shown: /export writes all of them`;
    const message = { ...first, kind: 'event' as const, content: { event: 'notice' as const, text } };
    entries.push({ type: 'message', seq: 0, message, inherited: false, opened: false });
  }
  let owner: string | null = null;
  for (const message of messages) {
    // At a fork point, open calls of the ancestor get the placeholder: their results are not inherited.
    if (owner !== null && message.agent_id !== owner) answerOpen(entries);
    owner = message.agent_id;
    join(entries, message, agent_id);
  }
  return entries;
}

/** The entries with one more message. */
export function withMessage(
  entries: readonly Entry[],
  message: PlacedMessage,
  agent_id: string,
): readonly Entry[] {
  const next = [...entries];
  const last = entries.at(-1);
  if (last !== undefined && last.type !== 'say' && last.inherited) answerOpen(next);
  join(next, message, agent_id);
  return next;
}

function join(entries: Entry[], message: PlacedMessage, agent_id: string): void {
  const { seq } = message;
  const inherited = message.agent_id !== agent_id;
  if (message.kind === 'result') {
    settle(entries, message, inherited);
    return spoken(entries, message, inherited);
  }
  if (message.kind === 'capture' && message.content.mark === 'ended') return;
  if (message.kind === 'event' && message.content.event === 'answered' && answer(entries, message)) return;
  if (message.kind !== 'assistant') {
    entries.push({ type: 'message', seq, message, inherited, opened: false });
    return;
  }
  const { parts } = message.content;
  if (parts.some((part) => part.type !== 'call' && part.text.trim() !== ''))
    entries.push({ type: 'message', seq, message, inherited, opened: false });
  const calls = parts.flatMap((part): CallEntry[] => {
    if (part.type !== 'call') return [];
    const { name, input, changes = [] } = { ...part, ...part.read };
    const read = changes.length === 0 ? {} : { changes };
    return [
      { type: 'call', seq, call_id: part.id, name, input, ...read, result: null, inherited, opened: false },
    ];
  });
  for (let first = 0, end = 0; first < calls.length; first = end) {
    const { name } = calls[first] as CallEntry;
    while (calls[end]?.name === name) end += 1;
    const group = calls.slice(first, end);
    if (FORKING.has(name) && group.length >= FORKS_MIN)
      entries.push({ type: 'forks', seq, calls: group, inherited, opened: false });
    else entries.push(...group);
  }
}

/** A result goes to the first open call of its id: a model may give several calls one id, and they are answered in order. */
function settle(entries: Entry[], message: PlacedMessage & { kind: 'result' }, inherited: boolean): void {
  const { call_id, name, status, facts = {} } = message.content;
  let found: number | null = null;
  let seq: number | null = null;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index] as Entry;
    // Only calls of the newest message with calls are open.
    if (callsOf(entry).length === 0) continue;
    seq ??= entry.seq;
    if (entry.seq !== seq) break;
    if (openCall(entry, call_id) !== -1) found = index;
  }
  const result = { status, output: outputText(message.content), facts };
  if (found === null) {
    const stray = { call_id, name, input: '', result, inherited, opened: false };
    entries.push({ type: 'call', seq: message.seq, ...stray });
  } else changeOpen(entries, found, call_id, { result });
}

/** Shows text of the person that ended a wait as a message of theirs, like any other. */
function spoken(entries: Entry[], message: PlacedMessage & { kind: 'result' }, inherited: boolean): void {
  const { agent_id, seq, at, content } = message;
  const { waited, attached } = content.facts ?? {};
  const text = waited?.rows.find(isPerson)?.message;
  if (text === undefined) return;
  const facts = attached === undefined ? {} : { attached };
  const said = { kind: 'user', content: { origin: 'human', text, facts }, agent_id, seq, at } as const;
  entries.push({ type: 'message', seq, message: said, inherited, opened: false });
}

/** Index of the first open call with that id; -1 if there is none. */
function openCall(entry: Entry, call_id: unknown): number {
  return callsOf(entry).findIndex((call) => call.call_id === call_id && call.result === null);
}

function changeOpen(entries: Entry[], index: number, call_id: unknown, change: Partial<CallEntry>): void {
  const entry = entries[index] as Entry;
  const place = openCall(entry, call_id);
  entries[index] = withCall(entry, place, { ...(callsOf(entry)[place] as CallEntry), ...change });
}

/** Records at a call who allowed or denied it, and removes the question. False if there is no such call. */
function answer(entries: Entry[], { content }: PlacedMessage & { kind: 'event' }): boolean {
  const call_id = content.data?.call_id;
  const asked = entries.findLastIndex(
    (entry) =>
      entry.type === 'message' &&
      entry.message.kind === 'event' &&
      entry.message.content.event === 'asked' &&
      entry.message.content.data?.call_id === call_id,
  );
  const call = entries.findIndex((entry) => openCall(entry, call_id) !== -1);
  if (asked < call || call === -1) return false;
  changeOpen(entries, call, call_id, { answered: String(content.data?.answer) });
  entries.splice(asked, 1);
  return true;
}

function answerOpen(entries: Entry[]): void {
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index] as Entry;
    if (entry.type === 'message' && entry.message.kind !== 'event') return;
    callsOf(entry).forEach((call, place) => {
      if (call.result !== null) return;
      const result = { status: 'ok' as const, output: FORK_PLACEHOLDER };
      entries[index] = withCall(entries[index] as Entry, place, { ...call, result });
    });
  }
}
