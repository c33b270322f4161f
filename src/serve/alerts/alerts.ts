import { hash } from 'node:crypto';
import { Poll } from '../../processes/poll.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { failureOf } from '../../records/agent/state.ts';
import { deliveryId, type NewDelivery } from '../../records/run/delivery.ts';
import { clean } from '../../render/clean.ts';
import type { Load } from '../../store/load-ledger.ts';
import type { KnownWorker, Store } from '../../store/store.ts';
import { type FeedPosition, RequestFeed } from '../../trees/request-feed.ts';

const SEAT = 'alerts';
const SINCE = 'since';
const PLACE = 'place';
const LOOK_MS = 5_000;
const MINUTE_MS = 60_000;
/** Newest roots that every poll checks: a tree that fails at once may never be seen with a leader or a request. */
const NEWEST = 20;
const TOLD_MAX = 10_000;
/** Polls in a row that must miss a worker before it counts as gone: one that lives renews its lease in between. */
const MISSED = 2;

export interface AlertsOptions {
  readonly store: Store;
  readonly worker_id: string;
  /** `RuntimeFace.holdsLease`. */
  readonly holdsLease: () => boolean;
  readonly rules: readonly AlertRule[];
  /** Called after a delivery has entered the outbox. */
  readonly onEntered: () => void;
  readonly onTrouble: (error: unknown) => void;
  /** Milliseconds between polls; default 5000. */
  readonly look_ms?: number;
}

/** Kept in the ledger after each poll, so that the next one, of this server or another, misses nothing. */
interface Kept {
  readonly feed: FeedPosition;
  /** Roots of the trees that had a leader or needed one. */
  readonly led: readonly string[];
  readonly sightings?: readonly Sighting[];
}

/** A worker as it was last listed, and for how many polls it has been missing. */
interface Sighting {
  readonly worker: KnownWorker;
  readonly missed: number;
}

/** Snapshot that each poll reads. */
interface News {
  readonly load: Load;
  readonly led: ReadonlySet<string>;
  readonly sightings: readonly Sighting[];
  readonly now: number;
  /** Roots of trees with model requests since the previous poll. */
  readonly active: ReadonlySet<string>;
}

/** Polls for the conditions of the rules and puts alerts into the outbox. Only one server per ledger does so, the one that holds the seat. */
export class Alerts {
  readonly #options: AlertsOptions;
  readonly #poll = new Poll(() => this.#look());
  /** Null if the next poll must begin from what is kept in the ledger. */
  #feed: RequestFeed | null = null;
  /** Trees that were led at the previous poll. */
  #led: ReadonlySet<string> = new Set();
  #kept: string | null = null;
  /** Ids of deliveries already entered, so that a lasting cause is not written at every poll. */
  readonly #told = new Set<string>();
  #sightings: readonly Sighting[] = [];
  /** Whether this process has polled before: workers that another one saw long ago may have stopped in order since. */
  #has_polled = false;
  #since: number | null = null;

  constructor(options: AlertsOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#options.rules.length > 0) this.#poll.wake();
  }

  async stop(): Promise<void> {
    await this.#poll.stop();
    const { worker_id } = this.#options;
    // The next server must not miss this one.
    const others = this.#sightings.filter(({ worker }) => worker.id !== worker_id);
    if (this.#feed !== null) await this.#keep(this.#feed.place, this.#led, others).catch(() => undefined);
    await this.#options.store.leaveSeat(SEAT, worker_id).catch(() => undefined);
  }

  async #look(): Promise<number> {
    const { store, worker_id, holdsLease, rules, onTrouble, look_ms = LOOK_MS } = this.#options;
    try {
      if (!holdsLease()) this.#feed = null;
      else if (await store.takeSeat(SEAT, worker_id)) {
        this.#feed ??= await this.#resumed();
        const news = await this.#read(this.#feed);
        // The answers may have taken long enough for the leases of all workers to run out, this one's among them.
        if (!holdsLease()) throw new Error('the ledger was silent for too long');
        const told = await Promise.allSettled(rules.map((rule) => this.#tell(rule, news)));
        const failed = told.find(({ status }) => status === 'rejected');
        if (failed?.status === 'rejected') throw failed.reason;
        await this.#keep(this.#feed.place, news.led, news.sightings);
      } else this.#feed = null;
      this.#has_polled = true;
    } catch (error) {
      // What the feed has returned was not told of.
      this.#feed = null;
      onTrouble(error);
    }
    return look_ms;
  }

  /** Continues from the last poll that succeeded, on whichever server; without one, from now on. */
  async #resumed(): Promise<RequestFeed> {
    const { store } = this.#options;
    this.#kept = await store.recall(SEAT, PLACE);
    const kept = this.#kept === null ? null : (JSON.parse(this.#kept) as Kept);
    this.#led = new Set(kept?.led);
    this.#sightings = (this.#has_polled && kept?.sightings) || [];
    const feed = new RequestFeed(store, kept?.feed ?? null);
    if (kept === null) {
      await feed.next();
      await this.#keep(feed.place, this.#led, []);
    }
    return feed;
  }

  async #keep(feed: FeedPosition, led: ReadonlySet<string>, sightings: readonly Sighting[]): Promise<void> {
    const kept: Kept = { feed, led: [...led], sightings };
    const text = JSON.stringify(kept);
    if (text !== this.#kept) await this.#options.store.remember(SEAT, PLACE, text);
    [this.#kept, this.#led, this.#sightings] = [text, led, sightings];
  }

  async #read(feed: RequestFeed): Promise<News> {
    const { store } = this.#options;
    this.#since ??= Number((await store.recall(SEAT, SINCE)) ?? Number.NaN);
    if (Number.isNaN(this.#since)) {
      this.#since = await store.now();
      await store.remember(SEAT, SINCE, String(this.#since));
    }
    const requests = await feed.next();
    const active = new Set(requests.flatMap(({ root_id }) => root_id ?? []));
    const [load, workers] = [await store.load(), await store.workers()];
    const led = new Set(load.agents.map(({ root_id }) => root_id));
    // Read last: a worker that is not listed because its lease ran out has expired by this time.
    const now = await store.now();
    return { load, led, sightings: await this.#sighted(workers, now), now, active };
  }

  /** A process that stops in an orderly way leaves no note of its death (`NOTE_DEATH`), and vanishes before its lease runs out. */
  async #sighted(workers: readonly KnownWorker[], now: number): Promise<readonly Sighting[]> {
    const there = new Set(workers.map(({ id }) => id));
    const seen: Sighting[] = workers.map((worker) => ({ worker, missed: 0 }));
    for (const { worker, missed } of this.#sightings) {
      if (worker.draining || missed >= MISSED || there.has(worker.id)) continue;
      const note = await this.#options.store.recall(SEAT, `died ${worker.id}`);
      if (missed > 0 || worker.expires_at <= now || note !== null) seen.push({ worker, missed: missed + 1 });
      if (missed > 0 && note !== null) await this.#options.store.remember(SEAT, `died ${worker.id}`, null);
    }
    return seen;
  }

  async #causes(rule: AlertRule, news: News): Promise<Cause[]> {
    switch (rule.when) {
      case 'tree-failed':
        return this.#failedTrees(news);
      case 'waits-for-person':
        return this.#waits(news, (rule.after_minutes ?? 0) * MINUTE_MS);
      case 'cost':
        return this.#costs(news, rule.usd ?? Number.POSITIVE_INFINITY);
      case 'worker-gone':
        return this.#goneWorkers(news);
    }
  }

  async #tell(rule: AlertRule, news: News): Promise<void> {
    const { store, onEntered } = this.#options;
    const causes = await this.#causes(rule, news);
    if (this.#told.size > TOLD_MAX) this.#told.clear();
    for (const delivery of causes.flatMap((cause) => alertsOf(rule, cause, news.now))) {
      if (this.#told.has(delivery.id)) continue;
      if (await store.enterDelivery(delivery)) onEntered();
      this.#told.add(delivery.id);
    }
  }

  /** Checks trees that had requests, have a failed agent, have lost their leader, or are new. */
  async #failedTrees({ load, led, active }: News): Promise<Cause[]> {
    const { store } = this.#options;
    const left = [...this.#led].filter((root_id) => !led.has(root_id));
    const errored = load.agents.filter(({ status }) => status === 'errored').map(({ root_id }) => root_id);
    const roots = new Map<string, Agent>();
    for (const root of await store.agents({ roots: true, limit: NEWEST })) roots.set(root.id, root);
    for (const id of [...active, ...left, ...errored]) {
      const root = roots.has(id) ? null : await store.agent(id);
      if (root !== null) roots.set(id, root);
    }
    return [...roots.values()].flatMap((root) => {
      const failure = failureOf(root.state);
      const is_new = root.updated_at >= (this.#since ?? 0);
      const on_purpose = root.state.type === 'killed' || failure?.kind === 'cancelled';
      if (failure === null || on_purpose || !is_new) return [];
      const text = `**A tree failed**: ${clean(root.name)} (\`${root.id}\`)\n\n${clean(failure.error)}\n\n\`coppice logs ${root.id}\``;
      return [{ key: `${root.id} ${root.last_seq}`, root_id: root.id, text }];
    });
  }

  async #waits({ load, now }: News, after_ms: number): Promise<Cause[]> {
    if (!load.asks.some(({ since }) => now - since >= after_ms)) return [];
    const asks = await this.#options.store.asks({ open: true });
    return asks
      .filter(({ asked_at }) => now - asked_at >= after_ms)
      .map(({ id, root_id, agent_name, tool, asked_at }) => {
        const minutes = Math.floor((now - asked_at) / MINUTE_MS);
        const text = `**${clean(agent_name)}** has waited ${minutes} min for approval to use **${clean(tool)}**.\n\n\`coppice approvals allow ${id}\` or \`coppice approvals deny ${id}\``;
        return { key: id, root_id, text };
      });
  }

  async #costs({ active }: News, usd: number): Promise<Cause[]> {
    const causes: Cause[] = [];
    for (const root_id of active) {
      const cost = (await this.#options.store.tree(root_id))?.cost_usd ?? 0;
      if (cost < usd) continue;
      const text = `**A tree has cost ${cost.toFixed(2)} US dollars**, more than ${usd}: \`${root_id}\`\n\n\`coppice tree ${root_id}\``;
      causes.push({ key: `${root_id} ${usd}`, root_id, text });
    }
    return causes;
  }

  #goneWorkers({ sightings }: News): Cause[] {
    return sightings.flatMap(({ worker: { id, role, host, pid }, missed }) => {
      if (role === 'run' || missed < MISSED) return [];
      const text = `**A process is gone**: ${role} ${pid} on ${clean(host)} (\`${id}\`). Other processes take over its trees.`;
      return [{ key: id, root_id: '', text }];
    });
  }
}

/** A configured alert: the condition to watch for, and the targets that are told. */
export interface AlertRule {
  readonly when: 'tree-failed' | 'waits-for-person' | 'cost' | 'worker-gone';
  /** For `waits-for-person`: minutes of waiting before the alert. Default 0. */
  readonly after_minutes?: number | undefined;
  /** For `cost`: threshold in US dollars per tree. */
  readonly usd?: number | undefined;
  /** Targets, such as `telegram:42` or `webhook:ops`. */
  readonly to: readonly string[];
}

/** One occurrence of a rule's condition. */
interface Cause {
  /** Deduplication key, the same at every poll: each target is told once. */
  readonly key: string;
  /** Empty if the cause concerns no tree. */
  readonly root_id: string;
  /** Markdown. */
  readonly text: string;
}

/** One delivery for each target of the rule. */
function alertsOf({ when, to }: AlertRule, { key, root_id, text }: Cause, now: number): NewDelivery[] {
  return to.map((target) => ({
    id: deliveryId('alert', hash('sha256', [when, key, target].join('\n')).slice(0, 32)),
    kind: 'alert',
    target,
    root_id,
    agent_id: root_id,
    about: null,
    body: text,
    created_at: now,
  }));
}
