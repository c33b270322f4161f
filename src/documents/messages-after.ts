import type { PlacedMessage } from '../records/conversation/message.ts';
import type { Store } from '../store/store.ts';

const PAGE = 200;

/** An agent's conversation after the seq `after`, oldest first, read page by page. */
export async function* messagesAfter(
  store: Pick<Store, 'history'>,
  agent_id: string,
  after: number,
): AsyncGenerator<PlacedMessage> {
  for (let seq = after; ; ) {
    const page = await store.history(agent_id, seq, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    seq = last.seq;
  }
}
