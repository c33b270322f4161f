import type { DeliveryLedger } from '../../src/channels/outbox/outage-retry.ts';
import type { Ask } from '../../src/records/conversation/ask.ts';
import { type Delivery, type NewDelivery, splitTarget } from '../../src/records/run/delivery.ts';
import type { Run } from '../../src/records/run/run.ts';
import type { DeliveryEnd } from '../../src/store/outbox-ledger.ts';

type Method =
  | 'claimDeliveries'
  | 'noteDelivery'
  | 'endDelivery'
  | 'findRuns'
  | 'findAsks'
  | 'pendingChannels';

/** In-memory `DeliveryLedger`, with the faults of a real one. */
export class MemoryLedger implements DeliveryLedger {
  readonly deliveries = new Map<string, Delivery>();
  readonly runs: Run[] = [];
  readonly asks: Ask[] = [];
  /** The worker that has claimed each delivery, by delivery id. */
  readonly claims = new Map<string, string>();
  /** Workers whose leases have expired. */
  readonly dead = new Set<string>();
  /** Recorded ends, in order. */
  readonly ends: { readonly id: string; readonly end: DeliveryEnd }[] = [];
  readonly claimed_limits: number[] = [];
  /**
   * Called before and after each method does its work; what it throws becomes the ledger's error. `after`: the work was done, but its acknowledgement is lost.
   */
  fault: (method: Method, when: 'before' | 'after') => void = () => undefined;

  enter(delivery: NewDelivery): void {
    const rest = { status: 'pending', attempts: 0, next_at: delivery.created_at, error: null } as const;
    this.deliveries.set(delivery.id, {
      outcome: null,
      outcome_text: null,
      ...delivery,
      ...rest,
      progress: null,
      ended_at: null,
    });
  }

  of(id: string): Delivery {
    const delivery = this.deliveries.get(id);
    if (delivery === undefined) throw new Error(`no delivery ${id}`);
    return delivery;
  }

  claimDeliveries(
    worker_id: string,
    at: number,
    limit: number,
    channels: readonly string[],
    held: readonly string[],
  ): Promise<Delivery[]> {
    return this.#answer('claimDeliveries', () => {
      if (this.dead.has(worker_id)) return [];
      this.claimed_limits.push(limit);
      const isFree = (id: string) => {
        const owner = this.claims.get(id);
        return !held.includes(id) && (owner === undefined || owner === worker_id || this.dead.has(owner));
      };
      const due = [...this.deliveries.values()]
        .filter(({ status, next_at }) => status === 'pending' && next_at <= at)
        .filter(({ id, target }) => channels.includes(splitTarget(target).channel) && isFree(id))
        .sort((a, b) => a.created_at - b.created_at)
        .slice(0, limit);
      for (const { id } of due) {
        this.claims.set(id, worker_id);
        this.#change(id, { attempts: this.of(id).attempts + 1, next_at: at + 1_000 });
      }
      // A database returns the rows that it updated in no particular order.
      return due.map(({ id }) => this.of(id)).sort((a, b) => b.created_at - a.created_at);
    });
  }

  noteDelivery(id: string, worker_id: string, attempt: number, progress: string): Promise<boolean> {
    return this.#answer('noteDelivery', () => {
      if (!this.#isClaimed(id, worker_id, attempt)) return false;
      this.#change(id, { progress });
      return true;
    });
  }

  endDelivery(id: string, worker_id: string, attempt: number, end: DeliveryEnd): Promise<boolean> {
    return this.#answer('endDelivery', () => {
      if (!this.#isClaimed(id, worker_id, attempt)) return false;
      this.claims.delete(id);
      this.ends.push({ id, end });
      if (end.status === 'pending') this.#change(id, { error: end.error, next_at: end.next_at });
      else {
        const error = end.status === 'failed' ? end.error : null;
        this.#change(id, { status: end.status, error, ended_at: end.at });
      }
      return true;
    });
  }

  findRuns(text: string): Promise<Run[]> {
    return this.#answer('findRuns', () => this.runs.filter(({ id }) => id.startsWith(text)));
  }

  findAsks(text: string): Promise<Ask[]> {
    return this.#answer('findAsks', () => this.asks.filter(({ id }) => id.startsWith(text)));
  }

  pendingChannels(): Promise<string[]> {
    return this.#answer('pendingChannels', () => {
      const pending = [...this.deliveries.values()].filter(({ status }) => status === 'pending');
      return [...new Set(pending.map(({ target }) => splitTarget(target).channel))];
    });
  }

  #isClaimed(id: string, worker_id: string, attempt: number): boolean {
    const { status, attempts } = this.of(id);
    return status === 'pending' && this.claims.get(id) === worker_id && attempts === attempt;
  }

  #change(id: string, over: Partial<Delivery>): void {
    this.deliveries.set(id, { ...this.of(id), ...over });
  }

  async #answer<T>(method: Method, work: () => T): Promise<T> {
    await undefined;
    this.fault(method, 'before');
    const answer = work();
    this.fault(method, 'after');
    return answer;
  }
}
