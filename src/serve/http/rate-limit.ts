/** Capacity of a bucket in requests, and how many it regains per second. */
const BURST = 400;
const PER_SECOND = 200;
const CLIENTS_MAX = 10_000;

/** A token bucket for each client. */
export class RateLimit {
  readonly #now: () => number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes one request from the client's bucket. Returns 0 if it is allowed, otherwise the seconds until the next one is. */
  take(client: string): number {
    const now = this.#now();
    const { left, at } = this.#buckets.get(client) ?? { left: BURST, at: now };
    const there = Math.min(BURST, left + ((now - at) / 1_000) * PER_SECOND);
    // Evicts the client that has been silent for longest.
    this.#buckets.delete(client);
    if (this.#buckets.size >= CLIENTS_MAX) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    this.#buckets.set(client, { left: Math.max(0, there - 1), at: now });
    return there >= 1 ? 0 : Math.ceil((1 - there) / PER_SECOND);
  }
}
