import type { ChannelLog } from '../../channels/channel.ts';
import { Poll } from '../../processes/poll.ts';
import type { Store } from '../../store/store.ts';
import { Slices } from '../../trees/cpu-meter.ts';
import { type FeedPosition, RequestFeed } from '../../trees/request-feed.ts';
import type { TreeTimelines } from '../../trees/timeline/tree-timelines.ts';
import { withMessages } from './contents.ts';
import { ATTRIBUTE } from './conventions.ts';
import { exportRequest, type OtelSpan, send } from './otlp.ts';
import { type ExportedTurn, TurnSpans } from './turn-spans.ts';

const LOOK_MS = 3_000;
/** Interval at which led trees without new requests are checked, because a turn that somebody stops ends without a request. */
const QUIET_LOOK_MS = 30_000;
const LED_LOOK_MS = 10_000;
const NEWEST = 20;
const BATCH_SPANS = 500;
const BACK_OFF_MS = 1_000;
const BACK_OFF_MAX_MS = 60_000;
/** Maximum wait for the answer to the last batch at shutdown; without the answer, the batch would be sent again. */
const LAST_ANSWER_MS = 2_000;

export interface TraceExporterOptions {
  readonly store: Store;
  readonly worker_id: string;
  readonly timelines: TreeTimelines;
  readonly endpoint: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether contents of messages and calls are exported, too. */
  readonly contents: boolean;
  readonly version: string;
  readonly log: ChannelLog;
  /** Milliseconds between polls of the ledger; default 3000. */
  readonly look_ms?: number;
}

/**
 * Makes spans of ended turns from the ledger and sends them to a collector. One exporter works on a ledger at a time (`takeSeat`). Acknowledged batches are
 * recorded in the ledger; a batch whose record was lost is sent again, with the same ids.
 */
export class TraceExporter {
  readonly #options: TraceExporterOptions;
  readonly #poll = new Poll(() => this.#look());
  readonly #closing = new AbortController();
  readonly #cut = new AbortController();
  readonly #looked_at = new Map<string, number>();
  #work: { readonly progress: TraceProgress; readonly feed: RequestFeed } | null = null;
  #failures = 0;
  /** Trees with turns that are open or have only just ended. */
  readonly #unsettled = new Set<string>();
  #led: { readonly at: number; readonly trees: ReadonlySet<string> } = { at: 0, trees: new Set() };

  constructor(options: TraceExporterOptions) {
    this.#options = options;
  }

  start(): void {
    this.#poll.wake();
  }

  /** Stops sending, waits up to 2 s for the pending answer, and leaves the seat to the next exporter. */
  async stop(): Promise<void> {
    const { store, worker_id } = this.#options;
    this.#closing.abort();
    const cut = setTimeout(() => this.#cut.abort(), LAST_ANSWER_MS);
    await this.#poll.stop();
    clearTimeout(cut);
    await store.leaveSeat(SEAT, worker_id).catch(() => undefined);
  }

  async #look(): Promise<number> {
    try {
      return await this.#export();
    } catch (error) {
      if (!this.#closing.signal.aborted)
        this.#options.log('warn', `traces wait for the ledger: ${(error as Error).message}`);
      this.#work = null;
      return BACK_OFF_MS;
    }
  }

  async #export(): Promise<number> {
    const { store, worker_id } = this.#options;
    if (!(await store.takeSeat(SEAT, worker_id))) {
      this.#work = null;
      return this.#options.look_ms ?? LOOK_MS;
    }
    if (this.#work === null) {
      const progress = await TraceProgress.read(store);
      this.#work = { progress, feed: new RequestFeed(store, progress.feed) };
    }
    const { progress, feed } = this.#work;
    const news = await this.#findTrees(progress, feed);
    const now = await store.now();
    const led = await this.#ledTrees(now);
    if (progress.at === null) await progress.keep(feed.place);
    const known = progress.trees.size;
    for (const root_id of led)
      if (!progress.trees.has(root_id)) progress.trees.set(root_id, progress.at ?? now);
    // A tree that failed at once has no request and may no longer have a leader.
    for (const { id, created_at } of await store.agents({ roots: true, limit: NEWEST }))
      if (created_at >= (progress.at ?? now) && !progress.trees.has(id)) progress.trees.set(id, created_at);
    // Saved before anything is sent, so that no request is lost.
    if (news.size > 0 || progress.trees.size > known) await progress.keep(feed.place);
    for (const root_id of progress.trees.keys()) {
      const looked = this.#looked_at.get(root_id) ?? Number.NEGATIVE_INFINITY;
      const is_due = news.has(root_id) || !led.has(root_id) || now - looked >= QUIET_LOOK_MS;
      if (!is_due && !this.#unsettled.has(root_id)) continue;
      this.#looked_at.set(root_id, now);
      const wait_ms = await this.#exportTree(root_id, progress);
      if (wait_ms > 0) return wait_ms;
      if (this.#closing.signal.aborted) return this.#options.look_ms ?? LOOK_MS;
      if (this.#unsettled.has(root_id) || led.has(root_id)) continue;
      this.#looked_at.delete(root_id);
      await progress.forget(root_id, feed.place);
    }
    return this.#options.look_ms ?? LOOK_MS;
  }

  async #ledTrees(now: number): Promise<ReadonlySet<string>> {
    if (now - this.#led.at < LED_LOOK_MS) return this.#led.trees;
    const { agents } = await this.#options.store.load();
    this.#led = { at: now, trees: new Set(agents.map(({ root_id }) => root_id)) };
    return this.#led.trees;
  }

  async #findTrees(progress: TraceProgress, feed: RequestFeed): Promise<ReadonlySet<string>> {
    const news = new Set<string>();
    for (const { root_id, started_at } of await feed.next()) {
      if (root_id === null) continue;
      news.add(root_id);
      const since = progress.trees.get(root_id);
      if (since === undefined || since > started_at) progress.trees.set(root_id, started_at);
    }
    return news;
  }

  /** Resolves to the back-off in milliseconds before the collector is retried; 0 if no retry is needed. */
  async #exportTree(root_id: string, progress: TraceProgress): Promise<number> {
    const { timelines } = this.#options;
    const { agents, now } = await timelines.of(root_id);
    const since = progress.trees.get(root_id) ?? now;
    const exported = await progress.exported(root_id);
    const turns = new TurnSpans(agents, now);
    const slices = new Slices();
    let [batch, size]: [ExportedTurn[], number] = [[], 0];
    let is_open = false;
    for (const lane of agents) {
      is_open ||= turns.isOpen(lane);
      for (const turn of turns.of(lane, exported.get(lane.agent.id) ?? -1)) {
        if (turn.end < since) continue;
        if (size > 0 && size + turn.spans.length > BATCH_SPANS) {
          const wait_ms = await this.#sendTurns(root_id, batch, progress);
          if (wait_ms > 0) return wait_ms;
          [batch, size] = [[], 0];
        }
        batch.push(turn);
        size += turn.spans.length;
      }
      await slices.next();
    }
    if (is_open) this.#unsettled.add(root_id);
    else this.#unsettled.delete(root_id);
    return batch.length === 0 ? 0 : this.#sendTurns(root_id, batch, progress);
  }

  async #sendTurns(
    root_id: string,
    turns: readonly ExportedTurn[],
    progress: TraceProgress,
  ): Promise<number> {
    const { store, contents } = this.#options;
    const spans: OtelSpan[] = [];
    for (const turn of turns) spans.push(...(await withMessages(store, turn, contents)));
    // A turn may be larger than a batch.
    for (let at = 0; at < spans.length; at += BATCH_SPANS) {
      const wait_ms = await this.#send(spans.slice(at, at + BATCH_SPANS));
      if (wait_ms > 0) return wait_ms;
    }
    await progress.add(root_id, turns);
    return 0;
  }

  async #send(spans: readonly OtelSpan[]): Promise<number> {
    if (this.#closing.signal.aborted) return BACK_OFF_MS;
    const { endpoint, headers, version, log } = this.#options;
    const resource = { [ATTRIBUTE.service_name]: 'coppice', [ATTRIBUTE.service_version]: version };
    const sent = await send(endpoint, headers, exportRequest(spans, resource, version), this.#cut.signal);
    if (sent.type === 'retry') {
      this.#failures += 1;
      if (this.#failures === 1 && !this.#closing.signal.aborted)
        log('warn', `the trace collector cannot be reached: ${sent.error}; retrying`);
      const back_off = Math.min(BACK_OFF_MAX_MS, BACK_OFF_MS * 2 ** (this.#failures - 1));
      return Math.min(BACK_OFF_MAX_MS, Math.max(sent.after_ms ?? 0, back_off));
    }
    if (this.#failures > 0) log('info', 'the trace collector can be reached again');
    this.#failures = 0;
    if (sent.type === 'refused')
      log('error', `the collector refuses spans: ${sent.error}`, { spans: spans.length });
    else if (sent.rejected !== null) log('warn', `the collector left out spans: ${sent.rejected}`);
    return 0;
  }
}

/** Name of the exporter's seat and notes in the ledger, which it shares with channels. */
const SEAT = 'traces';
const PLACE = 'place';

interface Kept {
  readonly feed: FeedPosition;
  /** Ledger time of this record; trees forgotten by then had ended before. */
  readonly at: number;
  /** Trees with turns still to be exported, each with the time from which its turns count, in milliseconds since the epoch. */
  readonly trees: Readonly<Record<string, number>>;
}

/** Progress of the exporter, kept in the ledger, so that the next holder of the seat continues from there. Finished trees are removed. */
class TraceProgress {
  readonly #store: Store;
  readonly trees: Map<string, number>;
  readonly feed: FeedPosition | null;
  /** Ledger time at which progress was last kept; null: never. */
  at: number | null;
  /** Newest exported turn of each agent, by tree. */
  readonly #exported = new Map<string, Map<string, number>>();

  private constructor(store: Store, kept: Kept | null) {
    this.#store = store;
    this.feed = kept?.feed ?? null;
    this.at = kept?.at ?? null;
    this.trees = new Map(Object.entries(kept?.trees ?? {}));
  }

  static async read(store: Store): Promise<TraceProgress> {
    const text = await store.recall(SEAT, PLACE);
    return new TraceProgress(store, text === null ? null : (JSON.parse(text) as Kept));
  }

  async keep(feed: FeedPosition): Promise<void> {
    this.at = await this.#store.now();
    const kept: Kept = { feed, at: this.at, trees: Object.fromEntries(this.trees) };
    await this.#store.remember(SEAT, PLACE, JSON.stringify(kept));
  }

  /** Message that began the newest exported turn, by agent. */
  async exported(root_id: string): Promise<ReadonlyMap<string, number>> {
    const known = this.#exported.get(root_id);
    if (known !== undefined) return known;
    const text = await this.#store.recall(SEAT, root_id);
    const read = new Map(Object.entries(JSON.parse(text ?? '{}') as Record<string, number>));
    this.#exported.set(root_id, read);
    return read;
  }

  /** Records that these turns were acknowledged. */
  async add(root_id: string, turns: readonly ExportedTurn[]): Promise<void> {
    const all = new Map(await this.exported(root_id));
    for (const { agent_id, seq } of turns) all.set(agent_id, seq);
    this.#exported.set(root_id, all);
    await this.#store.remember(SEAT, root_id, JSON.stringify(Object.fromEntries(all)));
  }

  /** Removes a tree with nothing left to export. Saves the list first: a note of an unlisted tree is harmless. */
  async forget(root_id: string, feed: FeedPosition): Promise<void> {
    this.trees.delete(root_id);
    this.#exported.delete(root_id);
    await this.keep(feed);
    await this.#store.remember(SEAT, root_id, null);
  }
}
