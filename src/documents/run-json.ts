import type { Run } from '../records/run/run.ts';
import { outcomeOfRun } from '../records/run/run-end.ts';
import type { Store } from '../store/store.ts';
import { isoTime } from './iso-time.ts';
import type { RunDocument } from './shapes/document-parts.ts';

/** One run in `coppice/subagent-runs/v1`. */
export function runJson(run: Run): RunDocument {
  const { requester_id: _, thinking, timeout_ms, created_at, started_at, finished_at, ...rest } = run;
  return {
    ...rest,
    thinking: thinking as RunDocument['thinking'],
    timeout_seconds: timeout_ms === null ? null : timeout_ms / 1000,
    ...outcomeOfRun(run),
    created_at: isoTime(created_at),
    started_at: isoTime(started_at),
    finished_at: isoTime(finished_at),
  };
}

/** Content of `coppice/subagent-run/v1`. */
export async function runDocument(
  store: Store,
  run: Run,
): Promise<RunDocument & { has_conversation: boolean }> {
  return { ...runJson(run), has_conversation: (await store.agent(run.agent_id)) !== null };
}
