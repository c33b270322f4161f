import type { WaitRow, WaitStatus } from '../../records/conversation/wait.ts';
import { parseJson } from '../../records/text/json-text.ts';

export interface WaitResult {
  readonly rows: readonly WaitRow[];
  readonly cut: 'timeout' | 'interrupted' | null;
}

const STATUSES: ReadonlySet<string> = new Set<WaitStatus>(['received', 'running', 'idle', 'dead']);

/** The output of `wait` as rows; null when it is something else. */
export function readWait(output: string): WaitResult | null {
  const parsed = output.startsWith('{') ? parseJson(output) : null;
  if (parsed === null || !parsed.ok) return null;
  const value = parsed.value as Readonly<Record<string, unknown>>;
  if (Array.isArray(value.results)) {
    const cut = value.timed_out === true ? 'timeout' : value.interrupted === true ? 'interrupted' : null;
    const rows = value.results.map(rowOf);
    return rows.every((row) => row !== null) ? { rows, cut } : null;
  }
  if (value.status === 'timeout' || value.status === 'interrupted') return { rows: [], cut: value.status };
  const row = rowOf(value);
  return row === null ? null : { rows: [row], cut: null };
}

function rowOf(value: unknown): WaitRow | null {
  if (typeof value !== 'object' || value === null) return null;
  const { agent_id, name, status, message, last_reply, error, limit } = value as Record<string, unknown>;
  if (typeof agent_id !== 'string' || typeof name !== 'string') return null;
  if (typeof status !== 'string' || !STATUSES.has(status)) return null;
  return {
    agent_id,
    name,
    status: status as WaitStatus,
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof last_reply === 'string' ? { last_reply } : {}),
    ...(typeof error === 'string' ? { error } : {}),
    ...(typeof limit === 'string' ? { limit } : {}),
  };
}
