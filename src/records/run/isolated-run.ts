import type { AgentConfig } from '../agent/agent.ts';
import type { NewMail } from '../conversation/mail.ts';
import { storable } from '../text/text.ts';
import type { NewRun, RunSource } from './run.ts';

/** A request for one run in a session of its own. */
export interface IsolatedRun {
  readonly id: string;
  readonly source: RunSource;
  /** The agent that will do it; it rests until its turn in the queue. */
  readonly agent_id: string;
  readonly root_id: string;
  /** `agent:<profile>:subagent:<uuid>`, `cron:<job id>` … */
  readonly session_key: string;
  /** The requester, who is told of the end; null `id`: not an agent. */
  readonly requester: { readonly id: string | null; readonly key: string; readonly name: string };
  readonly config: AgentConfig;
  /** The original request, for the history. */
  readonly task: string;
  /** The text given to the agent: the task, plus files that were read for it. */
  readonly text: string;
  readonly label: string | null;
  readonly timeout_ms: number | null;
  readonly cleanup: 'delete' | 'keep';
  readonly deliver: readonly string[];
  readonly job_id: string | null;
  readonly mail_id: string;
  readonly at: number;
}

/**
 * Returns the rows that begin an isolated run: an entry in the run history and the task in its agent's mailbox, both written in the transaction that creates
 * the agent. The ledger is the queue, so it survives a crash.
 */
export function runIsolated(run: IsolatedRun): { readonly run: NewRun; readonly mail: NewMail } {
  const { config, requester } = run;
  return {
    run: {
      id: run.id,
      source: run.source,
      session_key: run.session_key,
      requester_id: requester.id,
      requester_key: requester.key,
      task: storable(run.task),
      label: run.label === null ? null : storable(run.label),
      model: config.model,
      thinking: config.thinking,
      timeout_ms: run.timeout_ms,
      cleanup: run.cleanup,
      deliver: run.deliver,
      job_id: run.job_id,
    },
    mail: {
      id: run.mail_id,
      root_id: run.root_id,
      to_id: run.agent_id,
      from_id: requester.id,
      from_name: requester.name,
      kind: 'task',
      body: storable(run.text),
      sent_at: run.at,
    },
  };
}
