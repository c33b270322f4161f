import type { ChannelLog } from '../../channels/channel.ts';
import { ChatTrees } from '../../channels/chat-trees.ts';
import { Outbox } from '../../channels/outbox/outbox.ts';
import { Scheduler } from '../../cron/scheduler.ts';
import { Poll } from '../../processes/poll.ts';
import { errorText } from '../../records/coppice-error.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import type { Store } from '../../store/store.ts';
import { TreeKeeper } from '../../trees/leaders/tree-keeper.ts';
import type { Root } from '../../trees/open-tree.ts';
import { canAsk } from '../setup/channels-config.ts';
import type { OpenChannels } from '../setup/open-channels.ts';
import { ChannelListener } from './channel-listener.ts';
import { logEvents, logTreeTrouble, withoutRepeats } from './long-running.ts';

export interface ServerOptions {
  readonly store: Store;
  readonly runtime: RuntimeFace;
  readonly channels: OpenChannels;
  /** Returns the configuration and limits of a new session of a chat. */
  readonly session: (channel: string) => Root;
  readonly log: ChannelLog;
  readonly labels: readonly string[];
  /** Time that turns in progress have to end when the server stops, milliseconds. */
  readonly drain_ms: number;
}

/** The work of `coppice serve`: fires schedules, leads served trees, delivers, and listens on channels. */
export class Server {
  readonly #options: ServerOptions;
  readonly #keeper: TreeKeeper;
  readonly #scheduler: Scheduler;
  readonly #outbox: Outbox;
  readonly #cleaner: RunCleaner;
  readonly #listeners: readonly ChannelListener[];

  constructor(options: ServerOptions) {
    const { store, runtime, channels, log } = options;
    const trouble = withoutRepeats(log);
    this.#options = options;
    this.#keeper = new TreeKeeper({
      store,
      runtime,
      labels: options.labels,
      onTaken: (root_id, agents) => log('debug', 'leads a tree', { root_id, agents }),
      onTrouble: (error, root_id) => logTreeTrouble(trouble, error, root_id),
      onEnded: (root_id) => {
        this.#scheduler.wake();
        this.#outbox.wake();
        void this.#logEnd(root_id);
      },
    });
    this.#scheduler = new Scheduler({
      store,
      canAsk,
      onFired: () => this.#keeper.wake(),
      onOutcome: (job, outcome, instant) =>
        log(outcome === 'skipped' ? 'warn' : 'info', `${outcome} ${job.name}`, {
          job: job.id,
          instant: new Date(instant).toISOString(),
        }),
      onTrouble: (error) => trouble('error', `schedules cannot be processed: ${errorText(error)}`),
    });
    const { worker_id } = runtime;
    const holdsLease = () => runtime.holdsLease();
    this.#outbox = new Outbox({ ledger: store, channels: channels.all, worker_id, holdsLease, log });
    this.#cleaner = new RunCleaner(store, (error) =>
      trouble('warn', `conversations cannot be deleted: ${errorText(error)}`),
    );
    this.#listeners = channels.inbound.map((channel) => {
      const sessions = new ChatTrees({
        channel: channel.name,
        store,
        runtime,
        session: () => options.session(channel.name),
        onWritten: () => this.#keeper.wake(),
      });
      return new ChannelListener({ store, worker_id: runtime.worker_id, channel, sessions, log });
    });
    logEvents(runtime, log, trouble);
    runtime.subscribe((event) => {
      // The step may have put a reply or a question into the outbox.
      if (event.type === 'agent' && event.agent.config.channel !== undefined) this.#outbox.wake();
    });
  }

  async #logEnd(root_id: string): Promise<void> {
    const [run] = await this.#options.store.runs({ root_id, source: 'cron', limit: 1 }).catch(() => []);
    if (run === undefined) return;
    const { status, label, id, duration_ms, error } = run;
    const level = status === 'completed' ? 'info' : 'warn';
    this.#options.log(level, `${status} ${label ?? id}`, {
      run: id,
      duration_ms,
      ...(error === null ? {} : { error }),
    });
  }

  /** Looks for work now, because something was entered that must be led or delivered. */
  wake(): void {
    this.#keeper.wake();
    this.#scheduler.wake();
    this.#outbox.wake();
  }

  start(): void {
    this.#keeper.wake();
    this.#scheduler.wake();
    this.#outbox.wake();
    this.#cleaner.start();
    for (const listener of this.#listeners) listener.start();
  }

  /** Takes nothing new, gives turns in progress `drain_ms` to end, and leaves the rest to the next server. */
  async stop(): Promise<void> {
    const { log, drain_ms, channels } = this.#options;
    await Promise.all([this.#scheduler.stop(), ...this.#listeners.map((listener) => listener.stop())]);
    if (!(await this.#keeper.drain(drain_ms)))
      log('warn', 'running turns stay in the ledger; the next server or worker continues them');
    await this.#outbox.stop();
    await this.#cleaner.stop();
    await this.#keeper.stop();
    await Promise.all(channels.all.map((channel) => channel.close().catch(() => undefined)));
  }
}

const INTERVAL_MS = 5_000;
const BATCH = 100;

/** Deletes conversations of runs with `cleanup: delete` once all deliveries about them have arrived. */
class RunCleaner {
  readonly #store: Store;
  readonly #onTrouble: (error: unknown) => void;
  readonly #poll = new Poll(() => this.#clean());

  constructor(store: Store, onTrouble: (error: unknown) => void) {
    this.#store = store;
    this.#onTrouble = onTrouble;
  }

  start(): void {
    this.#poll.wake();
  }

  async #clean(): Promise<number> {
    try {
      while ((await this.#store.cleanRuns(await this.#store.now(), BATCH)).length === BATCH);
    } catch (error) {
      this.#onTrouble(error);
    }
    return INTERVAL_MS;
  }

  async stop(): Promise<void> {
    await this.#poll.stop();
    await this.#clean();
  }
}
