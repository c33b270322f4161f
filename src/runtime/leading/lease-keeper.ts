import { LEASE_MS } from '../../kernel/ledger/leases.ts';
import type { Worker } from '../../store/store.ts';
import type { Stop } from '../runtime-clock.ts';
import type { OpenOptions } from '../runtime-options.ts';

/** Heartbeat interval: leaves three tries to renew a lease before it ends. */
const BEAT_MS = LEASE_MS / 3;
/** A lease that cannot be renewed counts as lost this long before its end. */
const MARGIN_MS = 1_000;
/** After so long without an acknowledged heartbeat, other workers may have missed theirs as well: shorter than what a lease lasts beyond a beat. */
const SILENCE_MS = LEASE_MS - BEAT_MS - MARGIN_MS / 2;
/** How long others have to renew their leases after a silence. */
const RETURN_MS = LEASE_MS / 2;
/** Poll interval for signals, because wake-ups may be lost. */
export const POLL_MS = 1_000;

export interface LeaseKeeperOptions extends Pick<OpenOptions, 'store' | 'clock'> {
  readonly worker: Worker;
  /** Called when there may be signals for this worker. */
  readonly onSignals: () => Promise<void>;
  /** Called when the lease ran out, or may have, because the process was suspended or cut off from the ledger: others may lead its agents now. */
  readonly onLost: () => void;
  /** Called when the lease could not be renewed and runs out soon. */
  readonly onEnding: () => void;
}

/** Renews the worker's lease and listens for its signals. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #beat: Stop | null = null;
  #poll: Stop | null = null;
  #ending: Stop | null = null;
  #unlisten: (() => Promise<void>) | null = null;
  #renewing: Promise<void> | null = null;
  #following = false;
  #again = false;
  /** Times of the clock's laps. */
  #held_until = Number.POSITIVE_INFINITY;
  #held_from = 0;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { store, worker, clock } = this.#options;
    await this.#beatOnce();
    this.#unlisten = await store.listen(worker.id, () => void this.#followSignals());
    const renew = () => {
      this.#renewing ??= this.#renew().finally(() => {
        this.#renewing = null;
      });
    };
    this.#beat = clock.every(BEAT_MS, renew, true);
    this.#poll = clock.every(POLL_MS, () => void this.#followSignals(), true);
  }

  /** `RuntimeFace.holdsLease`. By monotonic time, so that it is false at once in a process that was suspended. */
  holds(): boolean {
    const now = this.#options.clock.lap();
    return now >= this.#held_from && now < this.#held_until;
  }

  async #renew(): Promise<void> {
    try {
      if (await this.#beatOnce()) return;
    } catch {
      // The ledger cannot be reached: commits report that, and the next beat tries again.
    }
    this.#options.onLost();
    void this.#followSignals();
  }

  /**
   * Sends a heartbeat; false if the lease had run out. Measures the lease from before the
   * request, with a timer, so that changes of the system clock do not matter.
   */
  async #beatOnce(): Promise<boolean> {
    const { store, worker, clock, onEnding } = this.#options;
    const ending = clock.every(LEASE_MS - MARGIN_MS, onEnding, true);
    const sent = clock.lap();
    try {
      const was_alive = await store.heartbeat(worker);
      const now = clock.lap();
      if (!was_alive || now >= this.#held_until) this.#held_from = now + RETURN_MS;
      this.#held_until = Math.min(sent + LEASE_MS - MARGIN_MS, now + SILENCE_MS);
      this.#ending?.();
      this.#ending = ending;
      return was_alive;
    } catch (error) {
      ending();
      throw error;
    }
  }

  /** Follows signals one at a time; a wake-up meanwhile leads to one more pass. */
  async #followSignals(): Promise<void> {
    this.#again = true;
    if (this.#following) return;
    this.#following = true;
    while (this.#again) {
      this.#again = false;
      await this.#options.onSignals().catch(() => undefined);
    }
    this.#following = false;
  }

  async stop(): Promise<void> {
    this.#beat?.();
    this.#poll?.();
    // A heartbeat after the release would register the worker again.
    await this.#renewing;
    this.#ending?.();
    await this.#unlisten?.().catch(() => undefined);
    await this.#options.store.release(this.#options.worker.id).catch(() => undefined);
  }
}
