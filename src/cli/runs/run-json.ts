import type { Run } from '../../records/run/run.ts';

/** One run in `coppice/subagent-runs/v1`; times as texts. */
export function runJson(run: Run): Record<string, unknown> {
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());
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
    thinking: run.thinking,
    timeout_seconds: run.timeout_ms === null ? null : run.timeout_ms / 1000,
    cleanup: run.cleanup,
    deliver: run.deliver,
    job_id: run.job_id,
    result: run.result,
    error: run.error,
    created_at: time(run.created_at),
    started_at: time(run.started_at),
    finished_at: time(run.finished_at),
    duration_ms: run.duration_ms,
  };
}
