import type { Origin } from '../../core/agent.ts';
import type { NewAgent } from '../../core/new-agent.ts';
import type { NewRun } from '../../core/run.ts';
import { runOutcome } from '../../core/run-outcome.ts';
import { type AgentState, isWorking } from '../../core/state.ts';
import type { Statements } from './statements.ts';

/** Only agents with a task of their own can have a row in the history; all others skip the look. */
export function isTask(origin: Origin): boolean {
  return origin === 'session' || origin === 'delegate' || origin === 'cron';
}

export function enterRun(sql: Statements, agent: NewAgent['agent'], run: NewRun): void {
  const begun = isWorking(agent.state.type);
  sql.insertRun.run(
    run.id,
    agent.root_id,
    agent.id,
    run.source,
    run.session_key,
    run.requester_id,
    run.requester_key,
    run.task,
    run.label,
    run.model,
    run.thinking,
    run.timeout_ms,
    run.cleanup,
    begun ? 'running' : 'queued',
    agent.created_at,
    begun ? agent.created_at : null,
    JSON.stringify(run.deliver),
    run.job_id,
  );
}

export function finishRun(sql: Statements, agent_id: string, state: AgentState, at: number): void {
  const outcome = runOutcome(state);
  if (outcome === null) return;
  const { changes } = sql.finishRun.run(outcome.status, outcome.result, outcome.error, at, at, at, agent_id);
  // Its end enters the outbox with it, whoever ended it.
  if (changes > 0) sql.deliverRun.run(at, at, agent_id);
}
