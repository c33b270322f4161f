import type { ChannelLog, ChatSessions, InboundChannel } from '../../channels/channel.ts';
import { sleep } from '../../processes/waiting.ts';
import type { Store } from '../../store/store.ts';

/** Interval at which the seat is requested or renewed. */
const RENEW_MS = 2_000;

export interface ChannelListenerOptions {
  readonly store: Store;
  readonly worker_id: string;
  readonly channel: InboundChannel;
  readonly sessions: ChatSessions;
  readonly log: ChannelLog;
}

/** Listens on an inbound channel while this process holds the channel's one seat in the ledger; otherwise stands by until the seat is free. */
export class ChannelListener {
  readonly #options: ChannelListenerOptions;
  readonly #closing = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(options: ChannelListenerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = this.#run();
  }

  async #run(): Promise<void> {
    const { channel, log } = this.#options;
    const { signal } = this.#closing;
    let standing_by = false;
    while (!signal.aborted) {
      if (await this.#holdsSeat()) {
        log('info', `listening on ${channel.name}`);
        standing_by = false;
        await this.#listen();
      } else if (!standing_by) {
        standing_by = true;
        log('info', `another server listens on ${channel.name}; standing by`);
      }
      await sleep(RENEW_MS, signal);
    }
  }

  /** Listens until the seat is lost or the server stops. */
  async #listen(): Promise<void> {
    const { channel, sessions, log } = this.#options;
    const lost = new AbortController();
    const stop = AbortSignal.any([this.#closing.signal, lost.signal]);
    const listening = channel.listen(sessions, stop);
    while (!stop.aborted) {
      await sleep(RENEW_MS, stop);
      if (!stop.aborted && !(await this.#holdsSeat())) {
        log('warn', `stopped listening on ${channel.name}: its seat was lost`);
        lost.abort();
      }
    }
    await listening;
  }

  /** Requests or renews the seat. False also while the ledger cannot be reached, because another server may have the seat by then. */
  async #holdsSeat(): Promise<boolean> {
    const { store, channel, worker_id, log } = this.#options;
    try {
      return await store.takeSeat(channel.name, worker_id);
    } catch (error) {
      log('warn', `the seat of ${channel.name} cannot be requested: ${(error as Error).message}`);
      return false;
    }
  }

  async stop(): Promise<void> {
    const { store, channel, worker_id } = this.#options;
    this.#closing.abort();
    await this.#done;
    await store.leaveSeat(channel.name, worker_id).catch(() => undefined);
  }
}
