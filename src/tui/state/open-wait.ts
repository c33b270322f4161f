import type { Agent } from '../../records/agent/agent.ts';
import type { RunningCall, WaitSpec } from '../../records/agent/state.ts';
import { parseJson } from '../../records/text/json-text.ts';

/** A pending wait, of a tool or of a person. */
export interface OpenWait {
  /** Null: the next message from anyone. */
  readonly from: readonly string[] | null;
  readonly started_at: number;
  readonly deadline: number;
  /** Null: a person waits. */
  readonly call_id: string | null;
}

/** The pending wait of the agent; one for several agents before any other. */
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

/** 0 where another vocabulary has another input. */
function timeoutOf(input: string): number {
  const parsed = parseJson(input);
  const timeout = parsed.ok ? (parsed.value as { readonly timeout?: unknown } | null)?.timeout : null;
  return typeof timeout === 'number' ? Math.round(timeout * 1000) : 0;
}
