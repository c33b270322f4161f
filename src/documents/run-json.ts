import type { Agent } from '../records/agent/agent.ts';
import { outcomeOf } from '../records/run/outcome.ts';
import type { Run } from '../records/run/run.ts';
import { outcomeOfRun } from '../records/run/run-end.ts';
import type { Store } from '../store/store.ts';
import { isoTime } from './iso-time.ts';
import type { RunDocument } from './shapes/document-parts.ts';

/** One run in `coppice/subagent-runs/v1`; `agent`: its agent, if there is one, for how a run stands that has not ended. */
export function runJson(run: Run, agent: Agent | null): RunDocument {
  const { requester_id: _, thinking, timeout_ms, created_at, started_at, finished_at, ...rest } = run;
  return {
    ...rest,
    thinking: thinking as RunDocument['thinking'],
    timeout_seconds: timeout_ms === null ? null : timeout_ms / 1000,
    ...(run.finished_at === null && agent !== null ? outcomeOf(agent) : outcomeOfRun(run)),
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
  const agent = await store.agent(run.agent_id);
  return { ...runJson(run, agent), has_conversation: agent !== null };
}
