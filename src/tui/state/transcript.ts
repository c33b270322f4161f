import type { PlacedMessage } from '../../records/conversation/message.ts';
import { FORK_PLACEHOLDER } from '../../records/conversation/prompt.ts';
import type { CallEntry, Entry } from './entry.ts';

/** The entries of an agent's history; those of its ancestors are marked as inherited. */
export function transcript(messages: readonly PlacedMessage[], agent_id: string): readonly Entry[] {
  const entries: Entry[] = [];
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
  if (message.kind === 'result') return settle(entries, message, inherited);
  if (message.kind === 'capture' && message.content.mark !== undefined) return;
  if (message.kind === 'event' && message.content.event === 'answered' && answer(entries, message)) return;
  if (message.kind !== 'assistant') {
    entries.push({ type: 'message', seq, message, inherited, opened: false });
    return;
  }
  const { parts } = message.content;
  if (parts.some((part) => part.type !== 'call' && part.text.trim() !== ''))
    entries.push({ type: 'message', seq, message, inherited, opened: false });
  for (const part of parts) {
    if (part.type !== 'call') continue;
    const { id: call_id, name, input } = part;
    entries.push({ type: 'call', seq, call_id, name, input, result: null, inherited, opened: false });
  }
}

/** A result goes to the first open call of its id: a model may give several calls one id, and they are answered in order. */
function settle(entries: Entry[], message: PlacedMessage & { kind: 'result' }, inherited: boolean): void {
  const { call_id, name, status, output } = message.content;
  let found: number | null = null;
  let seq: number | null = null;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index] as Entry;
    // Only calls of the newest message with calls are open.
    if (entry.type !== 'call') continue;
    seq ??= entry.seq;
    if (entry.seq !== seq) break;
    if (entry.call_id === call_id && entry.result === null) found = index;
  }
  const result = { status, output };
  if (found === null) {
    const stray: CallEntry = {
      type: 'call',
      seq: message.seq,
      call_id,
      name,
      input: '',
      result,
      inherited,
      opened: false,
    };
    entries.push(stray);
  } else entries[found] = { ...(entries[found] as CallEntry), result };
}

/** Who allowed or denied a call stands at the call; the question is over. False: there is no such call. */
function answer(entries: Entry[], { content }: PlacedMessage & { kind: 'event' }): boolean {
  const call_id = content.data?.call_id;
  const asked = entries.findLastIndex(
    (entry) =>
      entry.type === 'message' &&
      entry.message.kind === 'event' &&
      entry.message.content.event === 'asked' &&
      entry.message.content.data?.call_id === call_id,
  );
  const call = entries.findIndex(
    (entry) => entry.type === 'call' && entry.call_id === call_id && entry.result === null,
  );
  if (asked < call || call === -1) return false;
  const entry = entries[call] as CallEntry;
  entries[call] = { ...entry, answered: content.text.slice(0, -`: ${entry.name}`.length) };
  entries.splice(asked, 1);
  return true;
}

function answerOpen(entries: Entry[]): void {
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index] as Entry;
    if (entry.type === 'message' && entry.message.kind !== 'event') return;
    if (entry.type === 'call' && entry.result === null)
      entries[index] = { ...entry, result: { status: 'ok', output: FORK_PLACEHOLDER } };
  }
}
