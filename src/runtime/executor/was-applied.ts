import { isDeepStrictEqual } from 'node:util';
import type { Step } from '../../kernel/step.ts';
import type { Agent } from '../../records/agent/agent.ts';

/**
 * Whether a step whose acknowledgement was lost is in the ledger. A step without messages does not change `last_seq`, so its changed state tells;
 * without that, it counts as not applied.
 */
export function wasApplied(step: Step, before: Agent, now: Agent): boolean {
  if (now.last_seq !== step.base_seq + step.messages.length) return false;
  if (step.messages.length > 0) return true;
  return !sameData(step.state, before.state) && sameData(step.state, now.state);
}

/** Compared as JSON, as the ledger stores states. */
function sameData(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
}
