import type { Agent } from '../../records/agent/agent.ts';
import { failureOf } from '../../records/agent/state.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import type { Store } from '../../store/store.ts';
import { EMPTY_UI } from '../state/ui-state.ts';
import { reduce } from '../state/ui-store.ts';
import type { Peek } from './overview-state.ts';

/** Messages read for what was said last. */
const NEWEST = 30;

interface ReadPeek {
  readonly said: string;
  readonly asks: readonly Ask[];
  /** Those that live, oldest first, if any of them asks. */
  readonly agents: readonly Agent[];
}

export async function readPeek(store: Store, root_id: string): Promise<ReadPeek> {
  const asks = await store.asks({ root_id, open: true });
  const root = await store.agent(root_id);
  const agents = asks.length === 0 ? [] : (await store.agents({ root_id, living: true })).toReversed();
  return { asks, agents, said: root === null ? 'this tree was deleted' : await lastWords(store, root) };
}

/** The peek after a reading; a question that was visible in the one `before` stays so, with what the person types. */
export function peekOf(
  root_id: string,
  { said, asks, agents }: ReadPeek,
  before: Peek | null,
  now: number,
): Peek {
  const { asks: known, question, put_off, typed_at } = before?.window ?? EMPTY_UI;
  const opened = reduce({ ...EMPTY_UI, now }, { type: 'opened', root_id, agents });
  const window = { ...opened, asks: known, question, put_off, typed_at };
  return { root_id, said, window: reduce(window, { type: 'asks', asks }) };
}

/** The newest text of the agent; why it failed, if that came later. */
async function lastWords(store: Store, { id, last_seq, reply, state }: Agent): Promise<string> {
  const failure = failureOf(state);
  if (failure !== null) return failure.error;
  const messages = await store.history(id, Math.max(0, last_seq - NEWEST));
  for (const message of messages.toReversed()) {
    if (message.kind !== 'assistant') continue;
    const texts = message.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const text = texts.join('\n\n').trim();
    if (text !== '') return text;
  }
  return reply ?? '';
}
