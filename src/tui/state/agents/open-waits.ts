import type { Agent } from '../../../records/agent/agent.ts';
import type { RunningCall, WaitSpec } from '../../../records/agent/state.ts';

/** A pending wait, of a tool or of a person. */
export interface OpenWait {
  /** The agents waited for; null: the next message from anyone. */
  readonly from: readonly string[] | null;
  readonly started_at: number;
  readonly deadline: number;
  /** The call that waits; null: a person waits. */
  readonly call_id: string | null;
}

/** The pending wait of the agent; a wait for certain agents takes precedence. */
export function openWait({ state }: Agent): OpenWait | null {
  if (state.type === 'waiting') {
    const { from, deadline } = state.wait;
    return { from, deadline, started_at: state.since, call_id: null };
  }
  if (state.type !== 'executing') return null;
  const parked = state.running.filter(
    (one): one is RunningCall & { wait: WaitSpec } => one.wait !== undefined,
  );
  const found = parked.find((one) => one.wait.from !== null) ?? parked[0];
  if (found === undefined) return null;
  const { from, deadline, started_at = deadline } = found.wait;
  return { from, deadline, started_at, call_id: found.call.id };
}
