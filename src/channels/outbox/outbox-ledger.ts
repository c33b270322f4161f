import type { Delivery } from '../../core/delivery.ts';
import type { Store } from '../../store/store.ts';

/** How a try ended. `pending`: it is tried again from `next_at` on. Milliseconds since the epoch. */
export type DeliveryEnd =
  | { readonly status: 'delivered'; readonly at: number }
  | { readonly status: 'failed'; readonly error: string; readonly at: number }
  | { readonly status: 'pending'; readonly error: string; readonly next_at: number };

/** What the outbox needs of the ledger. Each write is guarded by the claim it was made under: worker and number of the try. */
export interface OutboxLedger extends Pick<Store, 'findRuns' | 'findAsks'> {
  /**
   * Pending deliveries of these channels with `next_at <= at` that no living worker has claimed, the oldest (`created_at`) first.
   * `attempts` rises by one with the claim. `held` are the ids that this worker has in hand: what else is claimed in its name
   * (an answer that was lost on its way back) counts as not claimed.
   */
  claimDeliveries(
    worker_id: string,
    at: number,
    limit: number,
    channels: readonly string[],
    held: readonly string[],
  ): Promise<Delivery[]>;
  /** Keeps what the channel noted. False: the claim was lost. */
  noteDelivery(id: string, worker_id: string, attempt: number, progress: string): Promise<boolean>;
  /** Ends the claim. False: it was lost, and nothing was changed. */
  endDelivery(id: string, worker_id: string, attempt: number, end: DeliveryEnd): Promise<boolean>;
  /** The channels that pending deliveries are meant for, each once. */
  pendingChannels(): Promise<readonly string[]>;
}
