import { LEASE_MS, type Store, type Worker } from '../store/store.ts';
import type { Stop, Surroundings } from './surroundings.ts';

/** Three chances to renew before a lease ends. */
const BEAT_MS = LEASE_MS / 3;
/** Looked at even if no wake-up came: hints may be lost. */
const NET_MS = 1_000;

export interface LeaseKeeperOptions {
  readonly store: Store;
  readonly worker: Worker;
  readonly surroundings: Surroundings;
  /** Something was written for this worker. */
  readonly onSignals: () => Promise<void>;
  /** The lease had run out in between (the process was stopped), or may have (it was cut off): others may lead its agents now. */
  readonly onLost: () => void;
}

/** Renews this process's lease, and listens for what others write for it. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #beat: Stop | null = null;
  #net: Stop | null = null;
  #unlisten: (() => Promise<void>) | null = null;
  #looking = false;
  #again = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { store, worker, surroundings } = this.#options;
    await store.heartbeat(worker);
    this.#unlisten = await store.listen(worker.id, () => void this.#look());
    this.#beat = surroundings.every(BEAT_MS, () => void this.#renew(), true);
    this.#net = surroundings.every(NET_MS, () => void this.#look(), true);
  }

  async #renew(): Promise<void> {
    try {
      if (await this.#options.store.heartbeat(this.#options.worker)) return;
    } catch {
      // The ledger cannot be reached: commits say so, and the next beat tries again.
    }
    this.#options.onLost();
    void this.#look();
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
    await this.#unlisten?.().catch(() => undefined);
    await this.#options.store.release(this.#options.worker.id).catch(() => undefined);
  }
}
