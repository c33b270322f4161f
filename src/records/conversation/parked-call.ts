import type { RunningCall } from '../agent/state.ts';

/** A person was asked before the call may run, and has not allowed it. */
export function isAsked(
  one: RunningCall,
): one is RunningCall & { readonly ask: NonNullable<RunningCall['ask']> } {
  return one.ask !== undefined && one.approved !== true;
}

/** The call waits in the ledger; all others in flight run in a process. */
export function isParked(one: RunningCall): boolean {
  return one.wait !== undefined || one.child !== undefined || isAsked(one);
}
