import type { Agent } from '../agent/agent.ts';
import type { Pause } from '../agent/failure.ts';
import { runDeadline } from '../agent/limits.ts';
import { type AgentState, isFanIn, type RunningCall, type Turn } from '../agent/state.ts';

/** Whether the call needs an approval that has not been given. */
export function isAsked(
  one: RunningCall,
): one is RunningCall & { readonly ask: NonNullable<RunningCall['ask']> } {
  return one.ask !== undefined && one.approved !== true;
}

/** Whether the call is parked in the ledger; all other calls in flight run in a process. */
export function isParked(one: RunningCall): boolean {
  return one.wait !== undefined || one.child !== undefined || isAsked(one);
}

/** Ids of the pending approvals and questions. */
export function openAsks(state: AgentState): readonly string[] {
  if (state.type === 'requesting') return (state.asked ?? []).map(({ id }) => id);
  if (state.type !== 'executing') return [];
  return state.running.flatMap((one) => [
    ...(isAsked(one) ? [one.ask.id] : []),
    ...(one.questions ?? []).map(({ id }) => id),
  ]);
}

/** Whether an approval or a question is pending, of this agent or of one on whose answer it depends, or the provider takes no requests, so that the clock of the turn is stopped. */
export function standsStill(state: AgentState): boolean {
  const held = state.type === 'requesting' ? state.held : null;
  return openAsks(state).length > 0 || pauseOf(state) !== null || held?.asked_at !== undefined;
}

/**
 * Returns until when a working agent needs no process, because it waits only for mail or a deadline. `Infinity`: until mail arrives. Null: it needs a
 * process, or it is not working.
 */
export function parkedUntil(state: AgentState, run_ms: number): number | null {
  if (state.type === 'waiting') return state.wait.deadline;
  const pause = pauseOf(state);
  if (pause !== null) return pause.opens_at ?? Number.POSITIVE_INFINITY;
  const end = runDeadline(state, run_ms)?.at ?? null;
  if (isFanIn(state)) return end;
  if (state.type !== 'executing' || state.running.length === 0 || !state.running.every(isParked)) return null;
  const deadlines = state.running.flatMap(({ wait }) => wait?.deadline ?? []);
  return Math.min(...deadlines, standsStill(state) || end === null ? Number.POSITIVE_INFINITY : end);
}

/** The pause of an agent; null if its request does not wait for a provider. */
export function pauseOf(state: AgentState): Pause | null {
  return state.type === 'requesting' ? (state.paused ?? null) : null;
}

/** Whether nobody knows when a pause ends, so that its provider is tried at intervals, by whoever begins something, and after a start of the process. */
export function namesNoTime({ spent, tries }: Pick<Pause, 'spent' | 'tries'>): boolean {
  return tries > 0 || spent === 'key' || spent === 'model';
}

type Requesting = Extract<AgentState, { type: 'requesting' }>;

/** The request once the provider takes it. */
export function unpaused({ paused, ...state }: Requesting, now: number): Requesting {
  return paused === undefined ? state : { ...state, turn: laterTurn(state.turn, now - paused.at) };
}

/** The turn after its clock stood still for a while. */
export function laterTurn<T extends Pick<Turn, 'started_at' | 'began_at'>>(turn: T, by_ms: number): T {
  const { started_at, began_at = started_at } = turn;
  return { ...turn, started_at: started_at + Math.max(0, by_ms), began_at };
}

/** Ids of the agents above a paused one: their clocks stand still, too. */
export function abovePaused(
  agents: readonly Pick<Agent, 'id' | 'parent_id' | 'state'>[],
): ReadonlySet<string> {
  const paused = agents.filter(({ state }) => pauseOf(state) !== null);
  const parents =
    paused.length === 0 ? new Map() : new Map(agents.map(({ id, parent_id }) => [id, parent_id]));
  const above = new Set<string>();
  for (const { parent_id } of paused)
    for (let id = parent_id; id != null && !above.has(id); id = parents.get(id) ?? null) above.add(id);
  return above;
}
