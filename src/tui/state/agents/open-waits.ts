import type { Agent } from '../../../records/agent/agent.ts';
import type { RunningCall, WaitSpec } from '../../../records/agent/state.ts';
import type { PlacedMessage, ResultContent, UserContent } from '../../../records/conversation/message.ts';
import { isPerson, WAIT_STATUSES, type WaitRow } from '../../../records/conversation/wait.ts';
import { isJsonObject, parsedObject } from '../../../records/text/json-text.ts';

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
  const { from, deadline } = found.wait;
  return { from, deadline, started_at: deadline - timeoutOf(found.call.input), call_id: found.call.id };
}

/** Timeout of a `wait` call in milliseconds; 0 if its input has another form, as in other vocabularies. */
function timeoutOf(input: string): number {
  const timeout = parsedObject(input)?.timeout;
  return typeof timeout === 'number' ? Math.round(timeout * 1000) : 0;
}

export interface WaitResult {
  readonly rows: readonly WaitRow[];
  readonly cut: 'timeout' | 'interrupted' | null;
}

/** The person's text that a message brings into the conversation, directly or as the result of a wait; null if there is none. */
export function personText({ kind, content }: Pick<PlacedMessage, 'kind' | 'content'>): string | null {
  if (kind === 'user') {
    const { origin, text } = content as UserContent;
    return origin === 'human' ? text : null;
  }
  if (kind !== 'result') return null;
  const { name, output } = content as ResultContent;
  const rows = name === 'wait' ? readWait(output)?.rows : undefined;
  return rows?.find(isPerson)?.message ?? null;
}

/** The output of `wait` as rows; null when it is something else. */
export function readWait(output: string): WaitResult | null {
  const value = output.startsWith('{') ? parsedObject(output) : null;
  if (value === null) return null;
  if (Array.isArray(value.results)) {
    const cut = value.timed_out === true ? 'timeout' : value.interrupted === true ? 'interrupted' : null;
    const rows = value.results.map(rowOf);
    return rows.every((row) => row !== null) ? { rows, cut } : null;
  }
  const cut = value.status === 'timeout' || value.status === 'interrupted' ? value.status : null;
  if (Array.isArray(value.agents)) return { rows: value.agents.flatMap((one) => rowOf(one) ?? []), cut };
  // As older versions wrote it.
  if (cut !== null) return { rows: [], cut };
  const row = rowOf(value);
  return row === null ? null : { rows: [row], cut: null };
}

function rowOf(value: unknown): WaitRow | null {
  if (!isJsonObject(value)) return null;
  const { agent_id, name, status, message, last_reply, error, limit, did } = value;
  if (typeof agent_id !== 'string' || typeof name !== 'string') return null;
  const known = WAIT_STATUSES.find((one) => one === status);
  if (known === undefined) return null;
  return {
    agent_id,
    name,
    status: known,
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof last_reply === 'string' ? { last_reply } : {}),
    ...(typeof error === 'string' ? { error } : {}),
    ...(typeof limit === 'string' ? { limit } : {}),
    ...(typeof did === 'string' ? { did } : {}),
  };
}
