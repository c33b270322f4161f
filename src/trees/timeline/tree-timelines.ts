import { randomBytes } from 'node:crypto';
import { ALL_TOOLSETS } from '../../kernel/toolsets/all-toolsets.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { keepNewest } from '../../records/kept-in.ts';
import type { PlacedRequest } from '../../store/load-ledger.ts';
import type { Store } from '../../store/store.ts';
import { createBuiltInTools } from '../../tools/tool-registry.ts';
import { Slices, unmetered } from '../cpu-meter.ts';
import { type AgentSpans, AgentWalk } from './agent-walk.ts';
import type { Letter } from './span.ts';

const PAGE = 200;
const TREES_KEPT = 16;

/** Spans and mail of one agent as of a read of its row. */
export interface AgentTimeline extends AgentSpans {
  readonly agent: Agent;
  readonly letters: readonly Letter[];
}

export interface TreeTimeline {
  /** Oldest first: the root is the first one. */
  readonly agents: readonly AgentTimeline[];
  /** The ledger's clock at the read. */
  readonly now: number;
  /** Random id within which `revision` counts the states of the tree; empty if only the agents were read. */
  readonly reader: string;
  readonly revision: number;
  /** Revision at which each agent last changed, by its id. */
  readonly changed: ReadonlyMap<string, number>;
}

interface Kept {
  /** Revision of the tree at which this was read. */
  readonly revision: number;
  readonly version: string;
  readonly walk: AgentWalk;
  readonly requests: readonly PlacedRequest[];
  readonly timeline: AgentTimeline;
}

interface TimelineRead {
  /** Start of the read, by `performance.now()`; infinite until it begins. */
  began: number;
  readonly timeline: Promise<TreeTimeline>;
}

interface KeptTree extends Pick<TreeTimeline, 'reader' | 'revision'> {
  /** Oldest first. */
  readonly agents: ReadonlyMap<string, Kept>;
}

/**
 * Derives what the agents of trees did when from the ledger, and caches it: an unchanged agent costs nothing, a changed one costs its new messages. Yields
 * to the event loop between agents and pages.
 */
export class TreeTimelines {
  readonly #store: Store;
  readonly #trees = new Map<string, KeptTree>();
  readonly #reads = new Map<string, TimelineRead>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Timeline as of `as_of` (`performance.now()`) or later; concurrent callers share one read. */
  async of(root_id: string, as_of = performance.now()): Promise<TreeTimeline> {
    const last = this.#reads.get(root_id);
    if (last !== undefined && last.began >= as_of) return unmetered(last.timeline);
    // Reads are sequential, because each continues from what is cached.
    const before = last === undefined ? Promise.resolve() : unmetered(last.timeline).catch(() => undefined);
    const next: TimelineRead = {
      began: Number.POSITIVE_INFINITY,
      timeline: before.then(() => {
        next.began = performance.now();
        return this.#read(root_id);
      }),
    };
    this.#reads.set(root_id, next);
    next.timeline.catch(() => {
      if (this.#reads.get(root_id) === next) this.#reads.delete(root_id);
    });
    return next.timeline;
  }

  /** Only the agents, as of now, without spans and mail, which is fast. */
  async agentsOf(root_id: string): Promise<TreeTimeline> {
    const [agents, now] = await Promise.all([this.#store.agents({ root_id }), this.#store.now()]);
    const nothing = { letters: [], spans: [], turns: [], read_at: new Map() };
    const lanes = agents.toReversed().map((agent) => ({ agent, ...nothing }));
    return { agents: lanes, now, reader: '', revision: 0, changed: new Map() };
  }

  async #read(root_id: string): Promise<TreeTimeline> {
    const [agents, asks, now] = await Promise.all([
      this.#store.agents({ root_id }),
      this.#store.asks({ root_id }),
      this.#store.now(),
    ]);
    const asked = Map.groupBy(asks, ({ agent_id }) => agent_id);
    const oldest_first = agents.toReversed();
    const before = this.#known(root_id, oldest_first);
    const next = before.revision + 1;
    const kept = new Map<string, Kept>();
    const slices = new Slices();
    for (const agent of oldest_first) {
      const own = before.agents.get(agent.id);
      kept.set(agent.id, await this.#one(agent, asked.get(agent.id) ?? [], own, next, slices));
    }
    const all = [...kept.values()];
    const revision = all.some((one) => one.revision === next) ? next : before.revision;
    const next_tree = { reader: before.reader, revision, agents: kept };
    const dropped = keepNewest(this.#trees, root_id, next_tree, TREES_KEPT);
    if (dropped !== undefined) this.#reads.delete(dropped);
    return {
      agents: all.map(({ timeline }) => timeline),
      now,
      reader: before.reader,
      revision,
      changed: new Map([...kept].map(([id, one]) => [id, one.revision])),
    };
  }

  /** Cached part of a tree. Documents refer to agents by index, so `reader` and `revision` begin anew if known agents have moved. */
  #known(root_id: string, agents: readonly Agent[]): KeptTree {
    const kept = this.#trees.get(root_id);
    const known = [...(kept?.agents.keys() ?? [])];
    if (kept !== undefined && known.every((id, index) => agents[index]?.id === id)) return kept;
    return { reader: randomBytes(4).toString('hex'), revision: 0, agents: kept?.agents ?? new Map() };
  }

  async #one(
    agent: Agent,
    asks: readonly Ask[],
    before: Kept | undefined,
    revision: number,
    slices: Slices,
  ): Promise<Kept> {
    const answers = asks.filter(({ verdict }) => verdict !== null).length;
    const version = [
      agent.last_seq,
      agent.mail_count,
      agent.epoch,
      agent.updated_at,
      asks.length,
      answers,
    ].join();
    if (before?.version === version) return before;
    await slices.next();
    const known = before?.timeline.letters ?? [];
    const is_known =
      known.length === agent.mail_count && known.every(({ consumed_seq }) => consumed_seq !== null);
    const known_requests = before?.requests ?? [];
    const [new_requests, mail] = await Promise.all([
      this.#store.requests(agent.id, known_requests.at(-1)?.place),
      is_known ? known : this.#store.mail(agent.id, true),
    ]);
    const requests = [...known_requests, ...new_requests];
    const records = { requests, asks, mail };
    const walk = before?.walk ?? new AgentWalk(agent, runsBeside);
    for (;;) {
      const after = Math.max(walk.seq, agent.forked_from?.seq ?? 0);
      if (after >= agent.last_seq) break;
      const page = await this.#store.history(agent.id, after, Math.min(PAGE, agent.last_seq - after));
      if (page.length === 0) break;
      walk.take(page, records);
      await slices.next();
    }
    const letters = mail.map(withoutBody);
    return { revision, version, walk, requests, timeline: { agent, letters, ...walk.spans(agent, records) } };
  }
}

function withoutBody({ body: _, ...letter }: Letter & { readonly body?: string }): Letter {
  return letter;
}

const BESIDE: ReadonlySet<string> = new Set([
  ...createBuiltInTools().flatMap(({ spec, side_by_side }) => (side_by_side ? [spec.name] : [])),
  ...ALL_TOOLSETS.flatMap(({ tools }) => tools.map(({ spec }) => spec.name)),
]);

/** Whether calls of a tool run side by side. Tools of programs are assumed to run alone, which is their default. */
function runsBeside(name: string): boolean {
  return BESIDE.has(name);
}
