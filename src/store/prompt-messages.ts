import type { Agent } from '../records/agent/agent.ts';
import type { Checkpoint } from '../records/conversation/checkpoint.ts';
import type { PlacedMessage } from '../records/conversation/message.ts';
import type { Store } from './store.ts';

const PAGE = 250;

/**
 * The part of an agent's history from which its prompt is made: what follows the part that its newest checkpoint replaces, or all of it. Read backwards in
 * growing pages, so that the cost does not grow with what checkpoints replace.
 */
export async function promptHistory(
  store: Pick<Store, 'history'>,
  { id, last_seq }: Pick<Agent, 'id' | 'last_seq'>,
): Promise<readonly PlacedMessage[]> {
  let rows: readonly PlacedMessage[] = [];
  let begin = last_seq;
  let after = Math.max(0, last_seq - PAGE);
  while (begin > after) {
    const page = await store.history(id, after, begin - after);
    rows = [...page, ...rows];
    begin = after;
    const through = checkpointIn(rows)?.through;
    // Once a checkpoint is found, the rest that is needed is read in one page.
    after = through ?? Math.max(0, begin - 2 * rows.length);
  }
  const through = checkpointIn(rows)?.through ?? 0;
  return rows.filter(({ seq }) => seq > through);
}

export async function newestCheckpoint(...of: Parameters<typeof promptHistory>): Promise<Checkpoint | null> {
  return checkpointIn(await promptHistory(...of));
}

function checkpointIn(rows: readonly PlacedMessage[]): Checkpoint | null {
  const row = rows.findLast(({ kind, content }) => kind === 'event' && content.event === 'checkpoint');
  return row?.kind === 'event' ? (row.content.data as unknown as Checkpoint) : null;
}
