import type { Ask } from '../records/conversation/ask.ts';
import type { Run } from '../records/run/run.ts';
import { outcomeOfRun } from '../records/run/run-end.ts';
import type { Parcel } from './channel.ts';

/**
 * Formats a parcel in the schema `coppice/delivery/v1` (docs/webhooks.md): keys may be added, but none is changed or removed. Times are ISO 8601 in
 * UTC. Throws a `RangeError` for an invalid time.
 */
export function deliveryJson(parcel: Parcel): string {
  const { outcome = null, outcome_text = null } = parcel.run === null ? parcel : outcomeOfRun(parcel.run);
  return JSON.stringify({
    schema: 'coppice/delivery/v1',
    id: parcel.id,
    kind: parcel.kind,
    text: parcel.text,
    created_at: new Date(parcel.created_at).toISOString(),
    agent_id: parcel.agent_id,
    root_id: parcel.root_id,
    ...{ outcome, outcome_text },
    run: parcel.run === null ? null : runJson(parcel.run),
    ask: parcel.ask === null ? null : askJson(parcel.ask),
  });
}

function runJson(run: Run): Record<string, unknown> {
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  return {
    id: run.id,
    job: run.source === 'cron' ? (/^cron:(.+)$/.exec(run.session_key)?.[1] ?? null) : null,
    status: run.status,
    ...outcomeOfRun(run),
    label: run.label,
    source: run.source,
    session_key: run.session_key,
    task: run.task,
    result: run.result,
    error: run.error,
    created_at: time(run.created_at),
    started_at: time(run.started_at),
    finished_at: time(run.finished_at),
  };
}

function askJson(ask: Ask): Record<string, unknown> {
  return {
    id: ask.id,
    agent_name: ask.agent_name,
    tool: ask.tool,
    subject: ask.subject,
    input: ask.input,
    cwd: ask.cwd,
    rule: ask.rule,
  };
}
