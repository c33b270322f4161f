import type { Agent } from '../../records/agent/agent.ts';
import type { RunningCall, WaitSpec } from '../../records/agent/state.ts';

/** A wait that goes on: a tool's, or a person's. */
export interface OpenWait {
  /** Null: the next message from anyone. */
  readonly from: readonly string[] | null;
  readonly started_at: number;
  readonly deadline: number;
  /** Null: a person waits. */
  readonly call_id: string | null;
}

/** What the agent waits for at this moment; a fan-in before any other. */
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
  const { from, deadline } = found.wait;
  return { from, deadline, started_at: deadline - timeoutOf(found.call.input), call_id: found.call.id };
}

/** Another vocabulary may write its input in another way. */
function timeoutOf(input: string): number {
  try {
    const { timeout } = JSON.parse(input) as { timeout?: unknown };
    return typeof timeout === 'number' ? Math.round(timeout * 1000) : 0;
  } catch {
    return 0;
  }
}
