import { type Agent, WHAT_IF } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { RunSource } from '../../records/run/run.ts';

export interface RunLimits {
  /** Maximum background runs of one tree at once. */
  readonly per_tree: number;
  /** Maximum runs of this process at once: in total, and by source. */
  readonly total: number;
  readonly per_source: Readonly<Record<RunSource, number>>;
}

/** Runs that share a limit and begin in arrival order: the background runs of one tree, or all runs of another source. */
interface Lane {
  readonly source: RunSource;
  readonly max: number;
  /** Ids of runs at work; for the lane of a tree, also those in other processes. */
  readonly working: Set<string>;
  /** Arrival numbers of waiting runs, by id. */
  readonly waiting: Map<string, number>;
}

/** The lane of a run, by key, and its limit. */
interface Place extends Pick<Lane, 'source' | 'max'> {
  readonly key: string;
}

const SOURCES: Partial<Record<Agent['origin'], RunSource>> = {
  session: 'subagent',
  delegate: 'delegate',
  cron: 'cron',
};

/**
 * Limits the isolated runs of this process: counts those at work, and lets the others wait for their turn, oldest first. A delegated run
 * that is requested inside a run shares the place of that run: otherwise it would wait for a place that its requester holds.
 */
export class RunQueue {
  readonly #limits: RunLimits;
  readonly #worker_id: string;
  readonly #lineage: (agent: Agent) => readonly Agent[];
  readonly #lanes = new Map<string, Lane>();
  readonly #waiting_lanes = new Set<Lane>();
  /** Ids of runs at work that this process leads, by source. */
  readonly #working: Record<RunSource, Set<string>> = {
    cron: new Set(),
    subagent: new Set(),
    delegate: new Set(),
  };
  #arrivals = 0;

  /** `lineage`: from an agent up to its root, itself first. */
  constructor(limits: RunLimits, worker_id: string, lineage: (agent: Agent) => readonly Agent[]) {
    this.#limits = limits;
    this.#worker_id = worker_id;
    this.#lineage = lineage;
  }

  /** Whether the run may begin, in order of arrival; one that does not wait yet counts as the newest. */
  mayBegin(agent: Agent): boolean {
    const place = this.#placeOf(agent);
    if (place === null) return true;
    const lane = this.#lanes.get(place.key) ?? emptyLane(place);
    if (lane.working.has(agent.id)) return true;
    return this.#next(lane.waiting.has(agent.id) ? undefined : { id: agent.id, lane }).includes(agent.id);
  }

  /** Counts the run as working, from before the commit of its first step until it ends. */
  begin(agent: Agent): void {
    const lane = this.#lane(agent);
    if (lane === null) return;
    this.#unwait(lane, agent.id);
    this.#begin(lane, agent.id);
  }

  /** Queues the run; false if it is queued already or needs no place of its own. */
  queue(agent: Agent): boolean {
    const lane = this.#lane(agent);
    if (lane === null || lane.waiting.has(agent.id)) return false;
    this.#arrivals += 1;
    lane.waiting.set(agent.id, this.#arrivals);
    this.#waiting_lanes.add(lane);
    return true;
  }

  /** Ids of runs that wait for their turn. */
  waiting(): readonly string[] {
    return [...this.#waiting_lanes].flatMap((lane) => [...lane.waiting.keys()]);
  }

  /** Updates the queue from the agent's state; returns the runs that may begin because of it. */
  see(agent: Agent): readonly string[] {
    const lane = this.#lane(agent);
    // Idle before its first turn: queued, or about to begin in this very step.
    if (lane === null || agent.state.type === 'idle') return [];
    const is_working = isWorking(agent.state.type);
    if (is_working && agent.worker === this.#worker_id) {
      this.#begin(lane, agent.id);
      return [];
    }
    this.#end(lane, agent.id);
    this.#unwait(lane, agent.id);
    // No signal reports the end of a run led elsewhere; `LedgerSync` polls while another run of its tree is queued here.
    if (is_working && lane.source === 'subagent') lane.working.add(agent.id);
    this.#drop(agent, lane);
    return this.#next();
  }

  /** Returns null for an agent that needs no place of its own. */
  #placeOf(agent: Agent): Place | null {
    const source = SOURCES[agent.origin];
    // It only waits, and what it waits for may need a place.
    if (agent.config.model === WHAT_IF) return null;
    if (source === undefined || (source === 'delegate' && this.#sharesPlace(agent))) return null;
    const { per_tree, per_source } = this.#limits;
    const is_background = source === 'subagent' && agent.config.task?.workflow === undefined;
    const max = is_background ? per_tree : per_source[source];
    return { source, max, key: laneKey(agent, source) };
  }

  #lane(agent: Agent): Lane | null {
    const place = this.#placeOf(agent);
    if (place === null) return null;
    return keptIn(this.#lanes, place.key, () => emptyLane(place));
  }

  #sharesPlace(agent: Agent): boolean {
    return this.#lineage(agent).some(({ id, config }) => id !== agent.id && config.task?.run_id != null);
  }

  /** Returns the oldest waiting runs, as many as there are places. A `newcomer` counts as the newest. */
  #next(newcomer?: { readonly id: string; readonly lane: Lane }): readonly string[] {
    if (this.#waiting_lanes.size === 0 && newcomer === undefined) return [];
    const heads: { id: string; source: RunSource; arrival: number }[] = [];
    for (const { source, max, working, waiting } of this.#waiting_lanes)
      for (const [id, arrival] of waiting.entries().take(Math.max(0, max - working.size)))
        heads.push({ id, source, arrival });
    if (newcomer !== undefined) {
      const { source, max, working, waiting } = newcomer.lane;
      if (waiting.size + working.size < max)
        heads.push({ id: newcomer.id, source, arrival: Number.POSITIVE_INFINITY });
    }
    heads.sort((a, b) => a.arrival - b.arrival);
    const { total, per_source } = this.#limits;
    const { cron, subagent, delegate } = this.#working;
    const taken = { cron: cron.size, subagent: subagent.size, delegate: delegate.size };
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
    lane.working.add(id);
    this.#working[lane.source].add(id);
  }

  #end(lane: Lane, id: string): void {
    lane.working.delete(id);
    this.#working[lane.source].delete(id);
  }

  #unwait(lane: Lane, id: string): void {
    lane.waiting.delete(id);
    if (lane.waiting.size === 0) this.#waiting_lanes.delete(lane);
  }

  /** Undoes `begin`: the ledger refused the step in which the run was to begin. */
  undoBegin(agent: Agent): void {
    const lane = agent.state.type === 'idle' ? this.#lane(agent) : null;
    if (lane !== null) this.#end(lane, agent.id);
  }

  /** Removes a run that this process no longer leads. Returns the runs that may begin because of it. */
  leave(agent: Agent): readonly string[] {
    const lane = this.#lane(agent);
    if (lane === null) return [];
    this.#unwait(lane, agent.id);
    this.#end(lane, agent.id);
    this.#drop(agent, lane);
    return this.#next();
  }

  /** Forgets an empty lane. */
  #drop(agent: Agent, lane: Lane): void {
    if (lane.working.size + lane.waiting.size === 0) this.#lanes.delete(laneKey(agent, lane.source));
  }
}

function emptyLane({ source, max }: Place): Lane {
  return { source, max, working: new Set(), waiting: new Map() };
}

function laneKey(agent: Agent, source: RunSource): string {
  if (agent.config.task?.workflow !== undefined) return `workflow ${agent.parent_id}`;
  return source === 'subagent' ? agent.root_id : source;
}
