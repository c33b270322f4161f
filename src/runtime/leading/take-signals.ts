import type { Store } from '../../store/store.ts';
import type { Executor } from '../executor/executor.ts';

/** Follows what was written in the ledger for this worker. */
export async function takeSignals({ news, worker }: Executor, store: Store): Promise<void> {
  try {
    await news.lookAtAll();
    for (const signal of await store.signals(worker.id)) {
      if (signal.kind === 'mail') await news.checkMail(signal.agent_id);
      else if (signal.kind === 'killed') await news.checkAgent(signal.agent_id);
      else if (signal.about !== null) await news.checkAgent(signal.about);
    }
  } catch (error) {
    // Signals that were taken and not followed do not come again.
    news.doubt();
    throw error;
  }
}
