import type { AgentState } from '../agent/state.ts';
import type { RunStatus } from './run.ts';

export interface RunOutcome {
  readonly status: RunStatus;
  readonly result: string | null;
  /** Why it failed; of a completed one, the limit that cut it short. */
  readonly error: string | null;
}

/** How a run stands whose agent ended in this state; null while it has not ended. What was done before a failure counts as its result. */
export function runOutcome(state: AgentState): RunOutcome | null {
  switch (state.type) {
    case 'completed':
      return { status: 'completed', result: state.result, error: state.limit ?? null };
    case 'failed': {
      const { kind, error } = state.failure;
      const status = kind === 'timed_out' ? 'timeout' : kind === 'cancelled' ? 'cancelled' : 'failed';
      return { status, result: state.partial ?? null, error };
    }
    case 'killed':
      return { status: 'cancelled', result: null, error: `Killed by ${state.by}` };
    default:
      return null;
  }
}
