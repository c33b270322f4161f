import type { Call, DeadlyCalls, FailingCall, Turn } from '../../records/agent/state.ts';
import type { ResultContent } from '../../records/conversation/message.ts';

/** Consecutive requests in which a call may fail identically before the turn ends. */
export const MAX_IDENTICAL_FAILURES = 3;

/** Maximum submissions without the required evidence; the last one ends the child. */
export const UNPROVED_MAX = 3;

/** Counts a result. Other calls of the same request neither reset nor hide a failing one. */
export function countFailure(turn: Turn, call: Call, result: ResultContent): readonly FailingCall[] {
  if (result.status !== 'error' && result.status !== 'denied') return turn.failing;
  // What a tool that does not exist was given changes nothing.
  const input = result.output.startsWith(`there is no tool "${call.name}"`) ? '' : call.input;
  const signature = fingerprint([call.name, input, result.output]);
  const request = turn.requests;
  // Failures before the previous request are not consecutive.
  const recent = turn.failing.filter((one) => one.request >= request - 1);
  const known = recent.find((one) => one.signature === signature);
  if (known === undefined) return [...recent, { signature, times: 1, request }];
  if (known.request === request) return recent;
  return recent.map((one) => (one === known ? { signature, times: one.times + 1, request } : one));
}

/** Told with the last failure before the one that ends the turn; null for any other. */
export function repetitionNote(before: Turn, after: Turn): string | null {
  const last = (turn: Turn) => turn.failing.filter(({ times }) => times === MAX_IDENTICAL_FAILURES - 1);
  const is_new = last(after).some(({ signature }) =>
    last(before).every((one) => one.signature !== signature),
  );
  return is_new
    ? 'The same call failed in the same way before. Once more, and your turn ends: change it, or do without it.'
    : null;
}

export function isRepeatedFailure(turn: Turn): boolean {
  return turn.failing.some((one) => one.times >= MAX_IDENTICAL_FAILURES);
}

/** Deaths of processes running the same call after which it is quarantined. */
export const DEATHS_MAX = 3;

/** Consecutive deaths of processes running any calls of the agent, without a settled call in between, after which it is quarantined. */
export const DEATHS_IN_A_ROW_MAX = 8;

const NONE: DeadlyCalls = { deaths: 0, in_a_row: 0, calls: [] };

/**
 * Counts a death after a takeover; `running` are the calls that ran in the dead process. `deaths` is the ledger's count for the agent: unchanged if the
 * previous process died before starting anything, or released the agent properly.
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

/** A person resumed the agent: earlier deaths no longer count. */
export function forgiveDeaths(turn: Turn, deaths: number): Turn {
  return deaths === 0 ? turn : { ...turn, deadly: { deaths, in_a_row: 0, calls: [] } };
}

/** A call settled in a living process: its earlier deaths no longer count. */
export function clearDeaths(turn: Turn, call: Call): Turn {
  if (turn.deadly === undefined) return turn;
  const signature = signatureOf(call);
  const calls = turn.deadly.calls.filter((one) => one.signature !== signature);
  return { ...turn, deadly: { deaths: turn.deadly.deaths, in_a_row: 0, calls } };
}

/** Why the turn is quarantined; null if it is not. */
export function deadlyReason({ deadly }: Turn): string | null {
  if (deadly === undefined) return null;
  if (deadly.calls.some((one) => one.times >= DEATHS_MAX))
    return `its process died ${DEATHS_MAX} times while running the same call`;
  if (deadly.in_a_row >= DEATHS_IN_A_ROW_MAX)
    return `its process died ${DEATHS_IN_A_ROW_MAX} times while running its calls, none of which finished`;
  return null;
}

function signatureOf(call: Call): string {
  return fingerprint([call.name, call.input]);
}

/**
 * A 64-bit hash of texts (two 32-bit hashes as in FNV-1a, over UTF-16 units and lengths). Not cryptographic: callers must not
 * rely on collision resistance.
 */
export function fingerprint(texts: readonly string[]): string {
  let [one, two] = [0x811c9dc5, 0xc9dc5118];
  for (const text of texts) {
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      one = Math.imul(one ^ unit, 0x01000193);
      two = Math.imul(two ^ unit, 0x85ebca6b);
    }
    one = Math.imul(one ^ text.length, 0x01000193);
    two = Math.imul(two ^ text.length, 0x85ebca6b);
  }
  return [one, two].map((hash) => (hash >>> 0).toString(16).padStart(8, '0')).join('');
}
