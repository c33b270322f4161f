import { isDeepStrictEqual } from 'node:util';
import type { Step } from '../../kernel/step.ts';
import type { Agent } from '../../records/agent/agent.ts';

/**
 * Whether the ledger holds this step of ours, whose acknowledgement was lost. One without messages leaves no trace in the seq: then only a state that
 * it changed tells; where it changed none, the ledger's word is taken as it is.
 */
export function wasApplied(step: Step, before: Agent, now: Agent): boolean {
  if (now.last_seq !== step.base_seq + step.messages.length) return false;
  if (step.messages.length > 0) return true;
  return !sameData(step.state, before.state) && sameData(step.state, now.state);
}

/** As JSON, which is how the ledger keeps states. */
function sameData(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
}
