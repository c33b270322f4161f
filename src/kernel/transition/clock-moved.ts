import type { AgentState } from '../../records/agent/state.ts';
import { step, type Transition } from './transition-result.ts';

/** Names of instants from which durations are measured, or at which they end. */
const INSTANTS: ReadonlySet<string> = new Set(['started_at', 'at', 'deadline', 'until']);

/** The same data with these instants moved, so that what is left of each duration stays. */
export function movedInstants<Data>(data: Data, by_ms: number): Data {
  return JSON.parse(JSON.stringify(data), (name, value) =>
    INSTANTS.has(name) && typeof value === 'number' ? value + by_ms : value,
  );
}

/** Timers need no effect: they measure the time in which the process works, and compare with the state when they ring. */
export function clockMoved(before: AgentState, by_ms: number): Transition {
  const state = movedInstants(before, by_ms);
  if (!('turn' in state && 'turn' in before)) return step(state.type === 'waiting' ? state : before, []);
  const { started_at, began_at = started_at } = before.turn;
  return step({ ...state, turn: { ...state.turn, began_at: Math.min(began_at, started_at + by_ms) } }, []);
}
