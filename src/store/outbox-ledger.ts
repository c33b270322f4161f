import type { Delivery, DeliveryStatus, NewDelivery } from '../records/run/delivery.ts';

export type DeliveryEnd =
  | { readonly status: 'delivered'; readonly at: number }
  | { readonly status: 'failed'; readonly error: string; readonly at: number }
  /** To be retried, not before `next_at`. */
  | { readonly status: 'pending'; readonly error: string; readonly next_at: number };

/** The outbox of the ledger: deliveries to people outside, and the seats and notes of channels. */
export interface OutboxLedger {
  /** Adds a delivery that no step of an agent caused. Idempotent by its id: resolves to false if it exists. */
  enterDelivery(delivery: NewDelivery): Promise<boolean>;
  /**
   * Claims pending deliveries of these channels that are due at `at` and not under way in a living process; oldest first. Increments their `attempts`, which
   * fences out earlier tries. `held`: the ids that this worker is delivering; what else is claimed in its name is a claim whose acknowledgement was lost, and
   * is returned again.
   */
  claimDeliveries(
    worker_id: string,
    at: number,
    limit: number,
    channels: readonly string[],
    held?: readonly string[],
  ): Promise<Delivery[]>;
  /** The channels that have pending deliveries. */
  pendingChannels(): Promise<readonly string[]>;
  /** Saves how much of a message was sent. Resolves to false if a newer try has begun. */
  noteDelivery(id: string, worker_id: string, attempt: number, progress: string): Promise<boolean>;
  /** Ends a try, once. Resolves to false if it has ended, or a newer try has begun. */
  endDelivery(id: string, worker_id: string, attempt: number, end: DeliveryEnd): Promise<boolean>;
  /** Newest first. */
  deliveries(filter: {
    readonly status?: DeliveryStatus | undefined;
    readonly kind?: Delivery['kind'] | undefined;
    readonly about?: string;
    readonly before?: string | undefined;
    readonly limit?: number;
  }): Promise<Delivery[]>;
  /** Finds deliveries by id, unique prefix of an id (at least 4 characters), or `about`; newest first, at most 20. */
  findDeliveries(text: string): Promise<Delivery[]>;
  /** Makes failed deliveries, and those waiting for a retry, due at once; resolves to how many. Without ids: all failed ones. */
  retryDeliveries(ids: readonly string[] | null, at: number): Promise<number>;

  /** Deletes the conversations of ended runs with `cleanup: delete` once all their deliveries have arrived; resolves to the agents of the runs. */
  cleanRuns(at: number, limit: number): Promise<string[]>;

  /** Makes this worker the only one that listens on an inbound channel. Resolves to false while another living worker does. */
  takeSeat(channel: string, worker_id: string): Promise<boolean>;
  leaveSeat(channel: string, worker_id: string): Promise<void>;
  /** Returns a note that a channel stored for itself with `remember`; null if there is none. */
  recall(channel: string, key: string): Promise<string | null>;
  remember(channel: string, key: string, value: string | null): Promise<void>;
}
