import type { Run } from '../records/run/run.ts';
import { outcomeOfRun } from '../records/run/run-end.ts';
import type { Store } from '../store/store.ts';
import { isoTime } from './iso-time.ts';
import type { RunDocument } from './shapes/document-parts.ts';

/** One run in `coppice/subagent-runs/v1`. */
export function runJson(run: Run): RunDocument {
  const { timeout_ms, created_at, started_at, finished_at } = run;
  return {
    id: run.id,
    source: run.source,
    status: run.status,
    label: run.label,
    task: run.task,
    agent_id: run.agent_id,
    root_id: run.root_id,
    session_key: run.session_key,
    requester_key: run.requester_key,
    model: run.model,
    thinking: run.thinking as RunDocument['thinking'],
    timeout_seconds: timeout_ms === null ? null : timeout_ms / 1000,
    cleanup: run.cleanup,
    deliver: [...run.deliver],
    job_id: run.job_id,
    result: run.result,
    error: run.error,
    ...outcomeOfRun(run),
    created_at: isoTime(created_at),
    started_at: isoTime(started_at),
    finished_at: isoTime(finished_at),
    duration_ms: run.duration_ms,
  };
}

/** Content of `coppice/subagent-run/v1`. */
export async function runDocument(
  store: Store,
  run: Run,
): Promise<RunDocument & { has_conversation: boolean }> {
  return { ...runJson(run), has_conversation: (await store.agent(run.agent_id)) !== null };
}
