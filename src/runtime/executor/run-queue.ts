import type { Agent } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';
import type { RunSource } from '../../records/run/run.ts';

export interface RunLimits {
  /** Background runs of one tree at work at once. */
  readonly per_tree: number;
  /** Runs of this process at work at once, whoever asked for them; and of each source. */
  readonly total: number;
  readonly per_source: Readonly<Record<RunSource, number>>;
}

/** Runs that share a limit and begin in the order they came: the background runs of one tree, or all of another source. */
interface Lane {
  readonly source: RunSource;
  readonly most: number;
  readonly working: Set<string>;
  /** By id, with the place in the order of all that wait. */
  readonly waiting: Map<string, number>;
}

/** Where a run waits, and which limit it counts against. */
interface Place extends Pick<Lane, 'source' | 'most'> {
  readonly key: string;
}

const SOURCES: Partial<Record<Agent['origin'], RunSource>> = {
  session: 'subagent',
  delegate: 'delegate',
  cron: 'cron',
};

/**
 * The isolated runs of this process (seed 4, `RunIsolated`): how many are at work, and which wait for their turn, oldest first. A run that
 * somebody at work awaits, itself inside a run, rides in that one's place: it would otherwise wait for a place that its requester holds.
 */
export class RunQueue {
  readonly #limits: RunLimits;
  readonly #lineage: (agent: Agent) => readonly Agent[];
  readonly #lanes = new Map<string, Lane>();
  readonly #waiting_lanes = new Set<Lane>();
  readonly #working: Record<RunSource, number> = { cron: 0, subagent: 0, delegate: 0 };
  #came = 0;

  /** `lineage`: from an agent up to its root, itself first. */
  constructor(limits: RunLimits, lineage: (agent: Agent) => readonly Agent[]) {
    this.#limits = limits;
    this.#lineage = lineage;
  }

  /** Whether the run's turn has come, as if it waited last where it does not wait yet. First come, first begun. */
  mayBegin(agent: Agent): boolean {
    const place = this.#placeOf(agent);
    if (place === null) return true;
    const lane = this.#lanes.get(place.key) ?? emptyLane(place);
    if (lane.working.has(agent.id)) return true;
    return this.#next(lane.waiting.has(agent.id) ? undefined : { id: agent.id, lane }).includes(agent.id);
  }

  /** Counts the run as one at work, from before its first step is written until it ends. */
  begin(agent: Agent): void {
    const lane = this.#lane(agent);
    if (lane === null) return;
    this.#unwait(lane, agent.id);
    this.#begin(lane, agent.id);
  }

  /** It waits for its turn; a second time changes nothing. */
  queue(agent: Agent): void {
    const lane = this.#lane(agent);
    if (lane === null || lane.waiting.has(agent.id)) return;
    this.#came += 1;
    lane.waiting.set(agent.id, this.#came);
    this.#waiting_lanes.add(lane);
  }

  /** Runs that wait for their turn. */
  waiting(): readonly string[] {
    return [...this.#waiting_lanes].flatMap((lane) => [...lane.waiting.keys()]);
  }

  /** Takes over what is true of an agent now; returns the runs whose turn has come by it. */
  see(agent: Agent): readonly string[] {
    const lane = this.#lane(agent);
    if (lane === null) return [];
    if (isWorking(agent.state.type)) {
      this.#begin(lane, agent.id);
      return [];
    }
    // At rest before its first turn: queued, and maybe about to begin in this very step.
    if (agent.state.type === 'idle') return [];
    this.#end(lane, agent.id);
    this.#unwait(lane, agent.id);
    this.#drop(agent, lane);
    return this.#next();
  }

  /** Null for what needs no place of its own. */
  #placeOf(agent: Agent): Place | null {
    const source = SOURCES[agent.origin];
    if (source === undefined || (source === 'delegate' && this.#rides(agent))) return null;
    const { per_tree, per_source } = this.#limits;
    const most = source === 'subagent' ? per_tree : per_source[source];
    return { source, most, key: laneKey(agent, source) };
  }

  #lane(agent: Agent): Lane | null {
    const place = this.#placeOf(agent);
    if (place === null) return null;
    let lane = this.#lanes.get(place.key);
    if (lane === undefined) {
      lane = emptyLane(place);
      this.#lanes.set(place.key, lane);
    }
    return lane;
  }

  #rides(agent: Agent): boolean {
    return this.#lineage(agent).some(({ id, config }) => id !== agent.id && config.task?.run_id != null);
  }

  /** As many of those who wait, oldest first, as there are places. The `newcomer` comes last. */
  #next(newcomer?: { readonly id: string; readonly lane: Lane }): readonly string[] {
    if (this.#waiting_lanes.size === 0 && newcomer === undefined) return [];
    const heads: { id: string; source: RunSource; came: number }[] = [];
    for (const { source, most, working, waiting } of this.#waiting_lanes)
      for (const [id, came] of waiting.entries().take(Math.max(0, most - working.size)))
        heads.push({ id, source, came });
    if (newcomer !== undefined) {
      const { source, most, working, waiting } = newcomer.lane;
      if (waiting.size + working.size < most)
        heads.push({ id: newcomer.id, source, came: Number.POSITIVE_INFINITY });
    }
    heads.sort((a, b) => a.came - b.came);
    const { total, per_source } = this.#limits;
    const taken = { ...this.#working };
    const next: string[] = [];
    for (const { id, source } of heads) {
      if (taken.cron + taken.subagent + taken.delegate >= total) break;
      if (taken[source] >= per_source[source]) continue;
      taken[source] += 1;
      next.push(id);
    }
    return next;
  }

  #begin(lane: Lane, id: string): void {
    if (lane.working.has(id)) return;
    lane.working.add(id);
    this.#working[lane.source] += 1;
  }

  #end(lane: Lane, id: string): void {
    if (lane.working.delete(id)) this.#working[lane.source] -= 1;
  }

  #unwait(lane: Lane, id: string): void {
    lane.waiting.delete(id);
    if (lane.waiting.size === 0) this.#waiting_lanes.delete(lane);
  }

  /** The step in which it was to begin was not taken. */
  notBegun(agent: Agent): void {
    const lane = agent.state.type === 'idle' ? this.#lane(agent) : null;
    if (lane !== null) this.#end(lane, agent.id);
  }

  /** It is not led here any more: whoever leads it lets it begin. Returns the runs whose turn has come by it. */
  leave(agent: Agent): readonly string[] {
    const lane = this.#lane(agent);
    if (lane === null) return [];
    this.#unwait(lane, agent.id);
    this.#end(lane, agent.id);
    this.#drop(agent, lane);
    return this.#next();
  }

  /** Nothing is kept of trees whose runs have ended. */
  #drop(agent: Agent, lane: Lane): void {
    if (lane.working.size + lane.waiting.size === 0) this.#lanes.delete(laneKey(agent, lane.source));
  }
}

function emptyLane({ source, most }: Place): Lane {
  return { source, most, working: new Set(), waiting: new Map() };
}

function laneKey(agent: Agent, source: RunSource): string {
  return source === 'subagent' ? agent.root_id : source;
}
