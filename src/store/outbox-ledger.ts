import type { Delivery, DeliveryStatus } from '../records/run/delivery.ts';

export type DeliveryEnd =
  | { readonly status: 'delivered'; readonly at: number }
  | { readonly status: 'failed'; readonly error: string; readonly at: number }
  /** To be tried again, not before `next_at`. */
  | { readonly status: 'pending'; readonly error: string; readonly next_at: number };

/** The part of the ledger that keeps what is to be delivered to people outside, and what channels note. */
export interface OutboxLedger {
  /**
   * Takes deliveries of these channels that are pending, due at `at`, and not under way in a living process; oldest first. Each rises its
   * `attempts` with that: what belongs to an earlier try is refused from then on. `held` are the ids that this worker has in hand: what else is
   * claimed in its name (an answer that was lost on its way back) counts as not under way.
   */
  claimDeliveries(
    worker_id: string,
    at: number,
    limit: number,
    channels: readonly string[],
    held?: readonly string[],
  ): Promise<Delivery[]>;
  /** The channels that pending deliveries are meant for, each once. */
  pendingChannels(): Promise<readonly string[]>;
  /** False: the try is not the newest any more. */
  noteDelivery(id: string, worker_id: string, attempt: number, progress: string): Promise<boolean>;
  /** Ends a try, once. False: the try is not the newest any more. */
  endDelivery(id: string, worker_id: string, attempt: number, end: DeliveryEnd): Promise<boolean>;
  /** Newest first. */
  deliveries(filter: {
    readonly status?: DeliveryStatus;
    readonly about?: string;
    readonly limit?: number;
  }): Promise<Delivery[]>;
  /** By id or unique prefix of one (at least 4 characters), newest first, at most 20. */
  findDeliveries(text: string): Promise<Delivery[]>;
  /** Makes deliveries due at once that failed or wait for their next try; resolves to how many. Without ids: all that failed. */
  retryDeliveries(ids: readonly string[] | null, at: number): Promise<number>;

  /** Deletes conversations of ended runs with `cleanup: delete` whose deliveries have all arrived; resolves to the agents of the runs. */
  cleanRuns(at: number, limit: number): Promise<string[]>;

  /** The one place of an inbound channel: false while another living worker has it. */
  takeSeat(channel: string, worker_id: string): Promise<boolean>;
  leaveSeat(channel: string, worker_id: string): Promise<void>;
  /** What a channel keeps for itself. */
  recall(channel: string, key: string): Promise<string | null>;
  remember(channel: string, key: string, value: string | null): Promise<void>;
}
