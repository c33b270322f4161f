import { randomUUID } from 'node:crypto';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import type { Store } from '../../store/store.ts';
import type { UnledContext } from '../../trees/leaders/unled-reason.ts';
import { LedgerMarks } from '../../trees/ledger-marks.ts';
import { ChangedRows, type Tell } from './changed-rows.ts';
import { EventClient, isBrief, type Watch } from './event-client.ts';
import { EventRing } from './event-ring.ts';
import { PacedWork } from './paced-work.ts';
import { WatchedTree } from './watched-tree.ts';

const CLIENTS_MAX = 512;
const HEARTBEAT_MS = 15_000;
/** Time for which agents and live text of this process are batched. */
const COLLECT_MS = 25;
/** Time for which trees are batched; a row of a tree costs several reads. */
const TREES_MS = 500;
/** Minimum interval of `changed` events. Brief clients reload when they get one, all at the same time, so that they share the reads. */
const CHANGED_MS = 1_000;
/** Poll intervals of the ledger: `least` after a hint that another process has written, `most` without one. */
const LOOK_MS = { least: 100, most: 1_000 } as const;
/** Time within which a client can reconnect without having missed anything. */
const LINGER_MS = 60_000;

export interface FeedSources {
  readonly store: Store;
  readonly runtime: RuntimeFace;
  readonly unled: UnledContext;
}

/**
 * Laws:
 * V1. The feed follows the ledger only while a client is connected, and for a minute after.
 * V2. After its first event, a client gets every event that matches its filter, in order, or `resync`.
 *     Documents of rows are made only while a client wants them, and for a minute after.
 * V3. A client that reads slowly costs a fixed amount of memory and delays nobody.
 */
export class EventFeed {
  readonly #sources: FeedSources;
  readonly #ring = new EventRing();
  readonly #clients = new Set<EventClient>();
  readonly #watched = new Map<string, WatchedTree>();
  readonly #marks: LedgerMarks;
  readonly #rows: ChangedRows;
  readonly #live = new LiveText();
  readonly #work = new PacedWork(LOOK_MS.most);
  /** Resolves to a function that stops following the ledger; null while the ledger is not followed. */
  #following: Promise<() => Promise<void>> | null = null;
  #empty_since = 0;
  /** Changed trees of which brief clients have not been told yet, and the time of the last `changed` event. */
  readonly #changed = new Set<string>();
  #changed_told = 0;
  /** Time of the last event for brief clients, by `performance.now()`. */
  told_at = Number.NEGATIVE_INFINITY;
  /** Time until which rows are emitted as documents, and the number of the first event in that period. */
  #rows_until = 0;
  #rows_since = 0;
  #rows_begun: Promise<void> | null = null;
  #stopped: Promise<void> = Promise.resolve();
  #closed = false;

  get clients(): number {
    return this.#clients.size;
  }

  constructor(sources: FeedSources) {
    this.#sources = sources;
    this.#marks = new LedgerMarks(sources.store, sources.runtime.worker_id);
    this.#rows = new ChangedRows(sources, this.#tell);
  }

  /** Opens a stream. `after` is the id of the last event that the client got. Rejects with `E_TOO_MANY_REQUESTS` or `E_CLOSED`. */
  async open(watch: Watch, after: string | null): Promise<EventClient['body']> {
    if (this.#closed) throw new CoppiceError('E_CLOSED', 'the server stops', { retryable: true });
    if (this.#clients.size >= CLIENTS_MAX)
      throw new CoppiceError(
        'E_TOO_MANY_REQUESTS',
        `${CLIENTS_MAX} clients are already following the events`,
        {
          hint: 'Close some of them, or ask another server of this ledger',
          retryable: true,
        },
      );
    const client: EventClient = new EventClient({
      watch,
      resync: () => this.#ring.resync(),
      onGone: () => this.#left(client),
    });
    // Counts toward the maximum before the awaits below.
    this.#clients.add(client);
    try {
      await this.#followed();
      if (!watch.brief) await this.#rowsAreTold();
      const tree = watch.follows === null ? null : await this.#watch(watch.follows);
      if (client.ended) return client.body;
      client.begun = true;
      if (tree !== null) tree.clients += 1;
      const seen = after === null ? null : this.#ring.numberOf(after);
      const since = Math.max(tree?.since ?? 0, watch.brief ? 0 : this.#rows_since);
      const missed = seen === null || seen < since ? null : this.#ring.after(seen);
      if (missed === null) client.send(this.#ring.resync());
      else for (const frame of missed) client.offer(frame);
      return client.body;
    } catch (error) {
      client.end();
      throw error;
    }
  }

  /** Schedules a look at the ledger, after a hint or a write through this server. */
  wake(): void {
    this.#soon('look', LOOK_MS.least, this.#look);
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const client of this.#clients) client.end();
    await this.#stop();
  }

  readonly #tell: Tell = (event, scope) => {
    const frame = this.#ring.add(event, scope);
    if (isBrief(event.type)) this.told_at = performance.now();
    for (const client of this.#clients) client.offer(frame);
  };

  async #watch(root_id: string): Promise<WatchedTree> {
    const known = this.#watched.get(root_id);
    if (known !== undefined) return known;
    const since = this.#ring.skip();
    const marks = await this.#sources.store.marks({ root_id });
    const tree =
      this.#watched.get(root_id) ??
      new WatchedTree(since, marks, {
        message: (agent_id, message) =>
          this.#tell({ type: 'message', agent_id, message }, { root_id, agent_id }),
        mail: (mail) => this.#tell({ type: 'mail', mail }, { root_id, agent_id: mail.to_id }),
      });
    this.#watched.set(root_id, tree);
    return tree;
  }

  #left(client: EventClient): void {
    this.#clients.delete(client);
    const tree = client.begun ? this.#watched.get(client.watch.follows ?? '') : undefined;
    if (tree !== undefined) {
      tree.clients -= 1;
      tree.left_at = performance.now();
    }
    this.#empty_since = performance.now();
    if (!client.watch.brief && ![...this.#clients].some(({ watch }) => !watch.brief))
      this.#rows_until = performance.now() + LINGER_MS;
  }

  #followed(): Promise<unknown> {
    this.#following ??= this.#follow().catch((error: unknown) => {
      this.#following = null;
      throw error;
    });
    return this.#following;
  }

  async #follow(): Promise<() => Promise<void>> {
    const { store, runtime } = this.#sources;
    await this.#stopped;
    await this.#work.now('look', this.#look);
    const unlisten = await store.listen(randomUUID(), () => this.wake());
    const unsubscribe = runtime.subscribe((event) => this.#see(event));
    const beat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
    // Finds what happened between the look and the subscription.
    this.wake();
    return async () => {
      unsubscribe();
      clearInterval(beat);
      await unlisten();
    };
  }

  #beat(): void {
    const now = performance.now();
    for (const client of this.#clients) client.beat();
    for (const [root_id, tree] of this.#watched)
      if (tree.clients === 0 && now - tree.left_at > LINGER_MS) this.#watched.delete(root_id);
    if (this.#clients.size === 0 && now - this.#empty_since > LINGER_MS) void this.#stop();
  }

  #stop(): Promise<void> {
    const following = this.#following;
    if (following === null) return this.#stopped;
    this.#following = null;
    this.#watched.clear();
    this.#changed.clear();
    this.#rows_until = 0;
    this.#ring.forget();
    this.#stopped = (async () => {
      await (await following.catch(() => undefined))?.();
      await this.#work.stop();
      this.#marks.forget();
      this.#rows.forget();
    })();
    return this.#stopped;
  }

  /** Handles events of this process. */
  #see(event: RuntimeEvent): void {
    switch (event.type) {
      case 'agent':
        this.#watched.get(event.agent.root_id)?.learn(event.agent);
        this.#change(event.agent.root_id);
        if (!this.#wantsRows) return;
        this.#rows.agent(event.agent);
        return this.#soon('agents', COLLECT_MS, this.#tellAgents);
      case 'message':
        this.#tellLive();
        for (const tree of this.#watched.values())
          if (tree.has(event.agent_id) && !tree.message(event.agent_id, event.message)) this.wake();
        return;
      case 'mail':
        this.#change(event.mail.root_id);
        if (this.#watched.get(event.mail.root_id)?.mail(event.mail) === false) this.wake();
        return;
      case 'removed':
        this.#rows.removed(event.ids);
        return this.#tell({ type: 'removed', ids: [...event.ids] }, { root_id: null, agent_id: null });
      case 'delta':
      case 'output':
        if (![...this.#clients].some(({ watch }) => watch.agent_id === event.agent_id)) return;
        this.#live.add(event);
        return this.#soon('live', COLLECT_MS, async () => this.#tellLive());
    }
  }

  #tellLive(): void {
    for (const event of this.#live.take()) this.#tell(event, { root_id: null, agent_id: event.agent_id });
  }

  readonly #tellAgents = async (): Promise<void> => {
    await this.#rows.tellAgents();
    this.#soon('trees', TREES_MS, () => this.#rows.tellTrees());
  };

  /** Emits what other processes did, and what this one did to trees that it does not lead. */
  readonly #look = async (): Promise<void> => {
    const { changed, vanished, watched } = await this.#marks.look([...this.#watched.keys()]);
    for (const { id, root_id } of [...changed, ...vanished]) {
      this.#change(root_id);
      if (this.#wantsRows) this.#rows.unread(id);
    }
    for (const [root_id, marks] of watched)
      await this.#watched.get(root_id)?.catchUp(this.#sources.store, marks);
    await this.#rows.tellWorkers();
    if (this.#wantsRows) await this.#tellAgents();
    this.#soon('look', LOOK_MS.most, this.#look);
  };

  /** Begins to emit rows as documents for a client; if none wanted them before, earlier ones are missing. Resolves when all later changes are noticed. */
  #rowsAreTold(): Promise<void> {
    if (!this.#wantsRows || this.#rows_begun === null) {
      this.#rows_since = this.#ring.skip();
      this.#rows_begun = this.#work.now('agents', this.#tellAgents).catch((error: unknown) => {
        this.#rows_begun = null;
        throw error;
      });
    }
    this.#rows_until = Number.POSITIVE_INFINITY;
    return this.#rows_begun;
  }

  get #wantsRows(): boolean {
    return performance.now() < this.#rows_until;
  }

  #change(root_id: string): void {
    this.#changed.add(root_id);
    const ms = this.#changed_told + CHANGED_MS - performance.now();
    this.#soon('changed', Math.max(COLLECT_MS, ms), async () => {
      this.#changed_told = performance.now();
      this.#tell({ type: 'changed', trees: [...this.#changed] }, { root_id: null, agent_id: null });
      this.#changed.clear();
    });
  }

  #soon(name: string, ms: number, work: () => Promise<void>): void {
    if (this.#following !== null) this.#work.soon(name, ms, work);
  }
}

type LiveEvent = Extract<RuntimeEvent, { readonly type: 'delta' | 'output' }>;

/** Buffer for text of models and output of calls, which arrive word by word; consecutive pieces are joined. */
export class LiveText {
  readonly #pending: LiveEvent[] = [];

  add(event: LiveEvent): void {
    const joined = joinedWith(this.#pending.at(-1), event);
    if (joined !== null) this.#pending.pop();
    this.#pending.push(joined ?? event);
  }

  take(): readonly LiveEvent[] {
    return this.#pending.splice(0);
  }
}

/** Returns null if the events cannot be joined. */
function joinedWith(one: LiveEvent | undefined, next: LiveEvent): LiveEvent | null {
  if (one?.agent_id !== next.agent_id) return null;
  if (one.type === 'output' && next.type === 'output')
    return next.call_id === one.call_id ? { ...one, text: one.text + next.text } : null;
  if (one.type !== 'delta' || next.type !== 'delta' || one.delta.type !== next.delta.type) return null;
  if (!('text' in one.delta) || !('text' in next.delta)) return null;
  return { ...one, delta: { ...one.delta, text: one.delta.text + next.delta.text } };
}
