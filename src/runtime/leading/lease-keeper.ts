import { LEASE_MS } from '../../kernel/ledger/leases.ts';
import type { Store, Worker } from '../../store/store.ts';
import type { RuntimeClock, Stop } from '../runtime-clock.ts';

/** Three chances to renew before a lease ends. */
const BEAT_MS = LEASE_MS / 3;
/** So long before its end a lease that cannot be renewed counts as lost. */
const MARGIN_MS = 1_000;
/** Looked at even if no wake-up came: hints may be lost. */
export const NET_MS = 1_000;

export interface LeaseKeeperOptions {
  readonly store: Store;
  readonly worker: Worker;
  readonly clock: RuntimeClock;
  /** Something was written for this worker. */
  readonly onSignals: () => Promise<void>;
  /** The lease had run out in between (the process was stopped), or may have (it was cut off): others may lead its agents now. */
  readonly onLost: () => void;
  /** It could not be renewed, and will soon have run out. */
  readonly onEnding: () => void;
}

/** Renews this process's lease, and listens for what others write for it. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #beat: Stop | null = null;
  #net: Stop | null = null;
  #ending: Stop | null = null;
  #unlisten: (() => Promise<void>) | null = null;
  #renewing: Promise<void> | null = null;
  #looking = false;
  #again = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { store, worker, clock } = this.#options;
    await this.#beatOnce();
    this.#unlisten = await store.listen(worker.id, () => void this.#look());
    // It may take long when the ledger is away; it goes on trying by itself.
    const renew = () => {
      this.#renewing ??= this.#renew().finally(() => {
        this.#renewing = null;
      });
    };
    this.#beat = clock.every(BEAT_MS, renew, true);
    this.#net = clock.every(NET_MS, () => void this.#look(), true);
  }

  async #renew(): Promise<void> {
    try {
      if (await this.#beatOnce()) return;
    } catch {
      // The ledger cannot be reached: commits say so, and the next beat tries again.
    }
    this.#options.onLost();
    void this.#look();
  }

  /** Counts the new lease from before it was asked for, by timers, which no change of a clock can reach. */
  async #beatOnce(): Promise<boolean> {
    const { store, worker, clock, onEnding } = this.#options;
    const ending = clock.every(LEASE_MS - MARGIN_MS, onEnding, true);
    try {
      const was_alive = await store.heartbeat(worker);
      this.#ending?.();
      this.#ending = ending;
      return was_alive;
    } catch (error) {
      ending();
      throw error;
    }
  }

  /** One look at a time; a wake-up during it leads to one more. */
  async #look(): Promise<void> {
    this.#again = true;
    if (this.#looking) return;
    this.#looking = true;
    while (this.#again) {
      this.#again = false;
      await this.#options.onSignals().catch(() => undefined);
    }
    this.#looking = false;
  }

  async stop(): Promise<void> {
    this.#beat?.();
    this.#net?.();
    // A beat that came after the release would make the worker live again.
    await this.#renewing;
    this.#ending?.();
    await this.#unlisten?.().catch(() => undefined);
    await this.#options.store.release(this.#options.worker.id).catch(() => undefined);
  }
}
