import { type AgentState, isFanIn, waitsOf } from '../../records/agent/state.ts';
import { outstanding } from '../transition/fan-in.ts';

/** Wait-for edges (law 10): the agents that an agent in this state waits for. */
export function waitEdges(state: AgentState): readonly string[] {
  const [waits, open] = [waitsOf(state), endless(state)];
  // Most states wait for nobody, and this is asked at each step.
  if (waits.length === 0 && open.length === 0) return open;
  return [...new Set([...waits.flatMap(({ from }) => from ?? []), ...open])];
}

/** Deadlines of the waits by awaited agent, milliseconds since the epoch. Agents awaited by a fan-in or a delegated call have none. */
export function waitsUntil(state: AgentState): Readonly<Record<string, number>> {
  const until: Record<string, number> = {};
  for (const { from, deadline } of waitsOf(state))
    for (const id of from ?? []) until[id] = Math.max(deadline, until[id] ?? 0);
  for (const id of endless(state)) delete until[id];
  return until;
}

/** Whether the states have the same wait-for edges and deadlines. */
export function sameWaits(a: AgentState, b: AgentState): boolean {
  if (a === b) return true;
  const [before, after] = [waitEdges(a), waitEdges(b)];
  if (before.length !== after.length || before.some((id, place) => id !== after[place])) return false;
  const [until_before, until_after] = [waitsUntil(a), waitsUntil(b)];
  return before.every((id) => until_before[id] === until_after[id]);
}

function endless(state: AgentState): readonly string[] {
  // A child that has reported is no longer awaited.
  if (state.type === 'executing')
    return [...state.running.flatMap(({ child }) => child ?? []), ...outstanding(state)];
  return isFanIn(state) ? state.pending : [];
}
