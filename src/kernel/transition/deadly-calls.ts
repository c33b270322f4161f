import type { Call, DeadlyCalls, Turn } from '../../records/agent/state.ts';
import { fingerprint } from './fingerprint.ts';

/** A call that ran in so many processes when they died is not let near another one by itself. */
export const MOST_DEATHS = 3;

/** The same for an agent, whatever calls they were, if none of its calls came to an end in between. */
export const MOST_DEATHS_IN_A_ROW = 8;

const NONE: DeadlyCalls = { deaths: 0, in_a_row: 0, calls: [] };

/**
 * What is known of the calls of a turn after somebody took the agent over, in whose dead process `running` ran. `deaths` is the ledger's count
 * for the agent: it is as it was if the process before died too early to begin anything, or let go of the agent in order.
 */
export function countDeath(turn: Turn, running: readonly Call[], deaths: number): Turn {
  const before = turn.deadly ?? NONE;
  if (deaths <= before.deaths || running.length === 0) return turn;
  const calls = new Map(before.calls.map((one) => [one.signature, one.times]));
  for (const signature of new Set(running.map(signatureOf)))
    calls.set(signature, (calls.get(signature) ?? 0) + 1);
  const counted = [...calls].map(([signature, times]) => ({ signature, times }));
  return { ...turn, deadly: { deaths, in_a_row: before.in_a_row + 1, calls: counted } };
}

/** A person says to go on: what happened until now is held against no call. */
export function forgiveDeaths(turn: Turn, deaths: number): Turn {
  return deaths === 0 ? turn : { ...turn, deadly: { deaths, in_a_row: 0, calls: [] } };
}

/** A call came to an end with its process alive: nothing is held against it any more. */
export function clearDeaths(turn: Turn, call: Call): Turn {
  if (turn.deadly === undefined) return turn;
  const signature = signatureOf(call);
  const calls = turn.deadly.calls.filter((one) => one.signature !== signature);
  return { ...turn, deadly: { deaths: turn.deadly.deaths, in_a_row: 0, calls } };
}

/** Why no call of this turn may run any more; null while they may. */
export function deadlyReason({ deadly }: Turn): string | null {
  if (deadly === undefined) return null;
  if (deadly.calls.some((one) => one.times >= MOST_DEATHS))
    return `its process died ${MOST_DEATHS} times while the same call of it ran`;
  if (deadly.in_a_row >= MOST_DEATHS_IN_A_ROW)
    return `its process died ${MOST_DEATHS_IN_A_ROW} times while calls of it ran, and none came to an end`;
  return null;
}

function signatureOf(call: Call): string {
  return fingerprint([call.name, call.input]);
}
