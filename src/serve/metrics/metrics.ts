import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isWorking } from '../../records/agent/state.ts';
import type { Usage } from '../../records/agent/usage.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import type { Load } from '../../store/load-ledger.ts';
import type { KnownWorker, Store } from '../../store/store.ts';
import { pause } from '../../trees/cpu-meter.ts';
import { PAGE, RequestFeed } from '../../trees/request-feed.ts';
import { Counts, exposed, type MetricTerms, type Sample } from './exposition.ts';

const NANOSECONDS = 1e9;
const QUANTILES = [0.5, 0.99, 1];

interface MetricsSources {
  readonly store: Store;
  readonly runtime: RuntimeFace;
  /** Returns the number of clients that follow the events. */
  readonly clients: () => number;
}

type Samples = Partial<Record<MetricName, readonly Sample[]>>;

/** Answer to `GET /metrics`. Its cost does not grow with history: open items are counted anew each time, events as they occur. */
export class Metrics {
  readonly #sources: MetricsSources;
  readonly #feed: RequestFeed;
  readonly #loop = monitorEventLoopDelay({ resolution: 20 });
  readonly #unsubscribe: () => void;
  readonly #counts = {
    coppice_model_requests_total: new Counts(),
    coppice_model_tokens_total: new Counts(),
    coppice_model_cost_usd_total: new Counts(),
    coppice_tool_calls_total: new Counts(),
    coppice_http_requests_total: new Counts(),
    coppice_ledger_unreachable_total: new Counts(),
  } satisfies Partial<Record<MetricName, Counts>>;
  #under_way: Promise<string> | null = null;

  constructor(sources: MetricsSources) {
    this.#sources = sources;
    this.#feed = new RequestFeed(sources.store);
    // Counting begins here; if this fails, it begins with the first scrape.
    void this.#feed.next().catch(() => undefined);
    this.#counts.coppice_ledger_unreachable_total.add({}, 0);
    this.#unsubscribe = sources.runtime.subscribe((event) => this.#count(event));
    this.#loop.enable();
  }

  /** `route`: the pattern, not the path. */
  countRequest(route: string, method: string, status: number): void {
    this.#counts.coppice_http_requests_total.add({ route, method, status: String(status) });
  }

  /** Concurrent callers share one read of the ledger. Rejects if the ledger cannot be read. */
  text(): Promise<string> {
    this.#under_way ??= this.#text().finally(() => {
      this.#under_way = null;
    });
    return this.#under_way;
  }

  close(): void {
    this.#unsubscribe();
    this.#loop.disable();
  }

  #count(event: RuntimeEvent): void {
    if (event.type === 'ledger' && !event.reachable) this.#counts.coppice_ledger_unreachable_total.add({});
    if (event.type !== 'message' || event.message.kind !== 'result') return;
    const { name, status } = event.message.content;
    this.#counts.coppice_tool_calls_total.add({ name, status });
  }

  async #text(): Promise<string> {
    const { store, runtime, clients } = this.#sources;
    const [load, workers, now] = await Promise.all([
      store.load(),
      store.workers(),
      store.now(),
      this.#countModelRequests(),
    ]);
    const gates = (await runtime.models()).flatMap(({ id: model, gate }) =>
      gate === undefined ? [] : [{ labels: { model }, ...gate.load }],
    );
    const counted = Object.entries(this.#counts).map(([name, counts]) => [name, counts.samples()] as const);
    const samples: Samples = {
      ...Object.fromEntries(counted),
      ...loadSamples(load, workers, now),
      coppice_model_gate_limit: gates.map(({ labels, limit }) => ({ labels, value: limit })),
      coppice_model_gate_at_work: gates.map(({ labels, at_work }) => ({ labels, value: at_work })),
      coppice_model_gate_waiting: gates.map(({ labels, waiting }) => ({ labels, value: waiting })),
      coppice_stream_clients: unlabelledSample(clients()),
      ...this.#processSamples(),
    };
    return Object.entries(METRICS)
      .map(([name, terms]) => exposed(name, terms, samples[name as MetricName] ?? []))
      .join('');
  }

  async #countModelRequests(): Promise<void> {
    for (;;) {
      const requests = await this.#feed.next();
      for (const { model, usage } of requests) this.#countModelRequest(model, usage);
      if (requests.length < PAGE) return;
      await pause();
    }
  }

  #countModelRequest(model: string, usage: Usage): void {
    const { coppice_model_requests_total, coppice_model_tokens_total, coppice_model_cost_usd_total } =
      this.#counts;
    coppice_model_requests_total.add({ model });
    coppice_model_cost_usd_total.add({ model }, usage.cost_usd ?? 0);
    for (const kind of ['input', 'output', 'cached', 'reasoning'] as const)
      coppice_model_tokens_total.add({ model, kind }, usage[kind]);
  }

  #processSamples(): Samples {
    const { user, system } = process.cpuUsage();
    const delays = QUANTILES.map((quantile) => ({
      labels: { quantile: String(quantile) },
      value: this.#loop.percentile(quantile * 100) / NANOSECONDS,
    }));
    this.#loop.reset();
    return {
      coppice_event_loop_delay_seconds: delays,
      process_resident_memory_bytes: unlabelledSample(process.memoryUsage.rss()),
      process_cpu_seconds_total: unlabelledSample((user + system) / 1e6),
      process_start_time_seconds: unlabelledSample(Math.round(Date.now() / 1_000 - process.uptime())),
    };
  }
}

function unlabelledSample(value: number): readonly Sample[] {
  return [{ labels: {}, value }];
}

function loadSamples(load: Load, workers: readonly KnownWorker[], now: number): Samples {
  const { agents, asks, runs, deliveries, schedules } = load;
  const [by_status, by_need, by_role] = [new Counts(), new Counts(), new Counts()];
  for (const { status, count } of agents) by_status.add({ status }, count);
  for (const need of needs(load, new Set(workers.map(({ id }) => id))).values()) by_need.add({ need });
  for (const { role } of workers) by_role.add({ role });
  const oldest = Math.min(now, ...asks.map(({ since }) => since));
  return {
    coppice_agents: by_status.samples(),
    coppice_trees: by_need.samples(),
    coppice_approvals_waiting: unlabelledSample(asks.reduce((sum, { count }) => sum + count, 0)),
    coppice_approvals_oldest_seconds: unlabelledSample((now - oldest) / 1_000),
    coppice_runs: runs.flatMap(({ source, queued, running }) => [
      { labels: { source, status: 'queued' }, value: queued },
      { labels: { source, status: 'running' }, value: running },
    ]),
    coppice_deliveries: [
      { labels: { status: 'pending' }, value: deliveries.pending },
      { labels: { status: 'failed' }, value: deliveries.failed },
    ],
    coppice_workers: by_role.samples(),
    coppice_schedules: unlabelledSample(schedules.enabled),
    coppice_schedules_due: unlabelledSample(schedules.due),
  };
}

/** Need of each tree by root id, in the same words as in the list of trees. `trouble`: an agent failed, or its leader is gone. */
function needs({ agents, asks }: Load, alive: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const raise = (root_id: string, need: (typeof RANKED)[number]) => {
    const before = found.get(root_id);
    if (before === undefined || RANKED.indexOf(need) < RANKED.indexOf(before as typeof need))
      found.set(root_id, need);
  };
  for (const { root_id } of asks) raise(root_id, 'approval');
  for (const { root_id, status, worker } of agents) {
    const in_trouble = status === 'errored' || (worker !== null && !alive.has(worker));
    raise(root_id, in_trouble ? 'trouble' : isWorking(status) || worker === null ? 'work' : 'done');
  }
  return found;
}

const RANKED = ['approval', 'trouble', 'work', 'done'] as const;

const gauge = (help: string): MetricTerms => ({ type: 'gauge', help });
const counter = (help: string): MetricTerms => ({ type: 'counter', help });

/** Every metric of `GET /metrics`; docs/operations.md has them as a table. Counters begin with the server. */
export const METRICS = {
  coppice_agents: gauge('Agents that a process leads or that need a leader, by status'),
  coppice_trees: gauge('Trees of these agents, and trees with an open approval, by need'),
  coppice_approvals_waiting: gauge('Calls that wait for a person'),
  coppice_approvals_oldest_seconds: gauge('Age of the oldest waiting approval; 0 if there is none'),
  coppice_runs: gauge('Isolated runs that are queued or running, by source and status'),
  coppice_deliveries: gauge('Deliveries that are pending or have failed, by status'),
  coppice_workers: gauge('Processes that lead agents of this ledger, by role'),
  coppice_schedules: gauge('Scheduled jobs that are enabled'),
  coppice_schedules_due: gauge('Enabled scheduled jobs that are due and have not fired yet'),
  coppice_model_requests_total: counter('Model requests of all processes of this ledger, by model'),
  coppice_model_tokens_total: counter(
    'Tokens of model requests, by model and kind; input includes cached, output includes reasoning',
  ),
  coppice_model_cost_usd_total: counter(
    'Cost of model requests in US dollars where a price is known, by model',
  ),
  coppice_model_gate_limit: gauge('Requests at once that this server sends to a model, as it has learnt'),
  coppice_model_gate_at_work: gauge('Requests to a model at work in this server'),
  coppice_model_gate_waiting: gauge('Requests to a model that wait in this server'),
  coppice_tool_calls_total: counter('Tool calls of agents that this server leads, by name and status'),
  coppice_http_requests_total: counter('HTTP requests to this server, by route, method and status'),
  coppice_stream_clients: gauge('Clients that follow the events of this server'),
  coppice_ledger_unreachable_total: counter('How often this server lost its ledger'),
  coppice_event_loop_delay_seconds: {
    type: 'summary',
    help: 'Delay of the event loop of this server since the last scrape, by quantile',
  },
  process_resident_memory_bytes: gauge('Memory of this server'),
  process_cpu_seconds_total: counter('Processor time of this server'),
  process_start_time_seconds: gauge('When this server started, seconds since the epoch'),
} as const satisfies Readonly<Record<string, MetricTerms>>;

type MetricName = keyof typeof METRICS;
