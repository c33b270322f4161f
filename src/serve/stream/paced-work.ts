/** Work of each name takes at most 1/SHARE of the time, unless it takes so long that the rest would exceed the maximum. */
const SHARE = 20;
const REST_MAX_MS = 5_000;

/** Runs recurring work of several names, one piece at a time. Requests of one name are coalesced; slow work runs less often. */
export class PacedWork {
  readonly #retry_ms: number;
  readonly #due = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  readonly #rested_at = new Map<string, number>();
  #last: Promise<void> = Promise.resolve();
  #stops = 0;

  /** `retry_ms` is the delay before failed work is retried. */
  constructor(retry_ms: number) {
    this.#retry_ms = retry_ms;
  }

  /** Schedules the work within `ms`, or later if it took long the last time. */
  soon(name: string, ms: number, work: () => Promise<void>): void {
    const now = performance.now();
    const at = Math.max(now + ms, this.#rested_at.get(name) ?? 0);
    const known = this.#due.get(name);
    if (known !== undefined && known.at <= at) return;
    clearTimeout(known?.timer);
    const stops = this.#stops;
    const timer = setTimeout(() => {
      this.#due.delete(name);
      void this.now(name, work).catch(() => {
        if (stops === this.#stops) this.soon(name, this.#retry_ms, work);
      });
    }, at - now).unref();
    this.#due.set(name, { at, timer });
  }

  /** Runs the work after what is under way; rejects if the work does. */
  async now(name: string, work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(async () => {
      const began = performance.now();
      // Work that fails needs no rest: it only waited for the ledger.
      await work();
      const ended = performance.now();
      this.#rested_at.set(name, ended + Math.min(REST_MAX_MS, (ended - began) * SHARE));
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Cancels scheduled work; resolves when the work under way has ended. */
  async stop(): Promise<void> {
    this.#stops += 1;
    for (const { timer } of this.#due.values()) clearTimeout(timer);
    this.#due.clear();
    await this.#last;
  }
}
