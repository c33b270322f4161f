import type { Call, FailingCall, Turn } from '../../records/agent/state.ts';
import type { ResultContent } from '../../records/conversation/message.ts';
import { fingerprint } from './fingerprint.ts';

/** In this many requests in a row the same call may fail in the same way before the turn ends. */
export const MAX_IDENTICAL_FAILURES = 3;

/** The failing calls of the turn after this result. Calls beside a failing one neither clear nor hide it. */
export function countFailure(turn: Turn, call: Call, result: ResultContent): readonly FailingCall[] {
  if (result.status !== 'error' && result.status !== 'denied') return turn.failing;
  const signature = fingerprint([call.name, call.input, result.output]);
  const request = turn.requests;
  // Only what failed in the request before this one can be "in a row".
  const recent = turn.failing.filter((one) => one.request >= request - 1);
  const known = recent.find((one) => one.signature === signature);
  if (known === undefined) return [...recent, { signature, times: 1, request }];
  if (known.request === request) return recent;
  return recent.map((one) => (one === known ? { signature, times: one.times + 1, request } : one));
}

export function isRepeatedFailure(turn: Turn): boolean {
  return turn.failing.some((one) => one.times >= MAX_IDENTICAL_FAILURES);
}
