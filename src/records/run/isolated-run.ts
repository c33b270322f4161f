import type { AgentConfig } from '../agent/agent.ts';
import type { NewMail } from '../conversation/mail.ts';
import { storable } from '../text/text.ts';
import type { NewRun } from './run.ts';

/** A request for one run in a session of its own; `task`: the original request, for the history. */
export interface IsolatedRun extends Omit<NewRun, 'requester_id' | 'requester_key' | 'model' | 'thinking'> {
  /** The agent that will do it; it rests until its turn in the queue. */
  readonly agent_id: string;
  readonly root_id: string;
  /** The requester, who is told of the end; null `id`: not an agent. */
  readonly requester: { readonly id: string | null; readonly key: string; readonly name: string };
  readonly config: AgentConfig;
  /** The text given to the agent: the task, plus files that were read for it. */
  readonly text: string;
  readonly mail_id: string;
  readonly at: number;
}

/**
 * Returns the rows that begin an isolated run: an entry in the run history and the task in its agent's mailbox, both written in the transaction that creates
 * the agent. The ledger is the queue, so it survives a crash.
 */
export function runIsolated(run: IsolatedRun): { readonly run: NewRun; readonly mail: NewMail } {
  const { agent_id, root_id, requester, config, text, mail_id, at, ...entry } = run;
  return {
    run: {
      ...entry,
      requester_id: requester.id,
      requester_key: requester.key,
      task: storable(run.task),
      label: run.label === null ? null : storable(run.label),
      model: config.model,
      thinking: config.thinking,
    },
    mail: {
      id: mail_id,
      root_id,
      to_id: agent_id,
      from_id: requester.id,
      from_name: requester.name,
      kind: 'task',
      body: storable(text),
      sent_at: at,
    },
  };
}
