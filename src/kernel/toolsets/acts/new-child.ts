import type { Agent, AgentConfig, Origin } from '../../../records/agent/agent.ts';
import { nameOfTask } from '../../../records/agent/agent-name.ts';
import { newTurn } from '../../../records/agent/state.ts';
import type { TaskTerms } from '../../../records/agent/task-terms.ts';
import type { Message, UserContent } from '../../../records/conversation/message.ts';
import { type IsolatedRun, runIsolated } from '../../../records/run/isolated-run.ts';
import type { NewAgent } from '../../../records/run/new-agent.ts';
import type { NewRun } from '../../../records/run/run.ts';
import { storable } from '../../../records/text/text.ts';
import type { Consequence } from '../../transition/event.ts';
import type { ToolsetView } from '../toolset.ts';

export interface ChildPlan {
  readonly id: string;
  readonly origin: Exclude<Origin, 'root'>;
  readonly name: string;
  readonly session_key: string;
  readonly config: AgentConfig;
  /** Whether it inherits the conversation up to the message with the call, or another one up to a message of it. */
  readonly inherits: boolean | NonNullable<Agent['forked_from']>;
  /** Its first message; null: it rests until mail arrives. */
  readonly first: UserContent | null;
  /** What it said and did in an earlier run, which it continues. */
  readonly earlier?: readonly Message[] | undefined;
  /** Whether it rests although it has a first message. */
  readonly rests?: boolean;
  readonly run?: NewRun;
}

/** A new child of the caller. All tools of all toolsets create agents with this function. */
export function newChild(view: ToolsetView, plan: ChildPlan): NewAgent {
  const { self } = view;
  const { first, run } = plan;
  return {
    agent: {
      id: plan.id,
      root_id: self.root_id,
      parent_id: self.id,
      name: storable(plan.name),
      session_key: plan.session_key,
      origin: plan.origin,
      depth: self.depth + 1,
      config: plan.config,
      state:
        first === null || plan.rests === true
          ? { type: 'idle' }
          : { type: 'requesting', attempt: 1, turn: newTurn(view.now) },
      forked_from:
        plan.inherits === true ? { agent_id: self.id, seq: view.message_seq } : plan.inherits || null,
      worker: view.worker,
      created_at: view.now,
    },
    messages: [
      ...(plan.earlier ?? []),
      ...(first === null
        ? []
        : [{ kind: 'user' as const, content: { ...first, text: storable(first.text) } }]),
    ],
    ...(run === undefined ? {} : { run }),
  };
}

type RunTerms = Pick<IsolatedRun, 'config' | 'session_key' | 'task' | 'text' | 'timeout_ms'> &
  Partial<Pick<IsolatedRun, 'deliver'>>;

/** Creates a child of the caller for one run, whose terms are in its configuration: it rests until it takes the task from its mailbox. */
export function isolatedChild(
  view: ToolsetView,
  plan: RunTerms & Pick<ChildPlan, 'id' | 'earlier'> & Partial<Pick<ChildPlan, 'inherits'>>,
): { readonly child: NewAgent; readonly consequences: Consequence[] } {
  const { id, earlier, inherits = false, ...terms } = plan;
  const { kind, label, cleanup, run_id } = plan.config.task as TaskTerms;
  const origin = kind === 'delegate' ? kind : 'session';
  const { self } = view;
  const { run, mail } = runIsolated({
    ...{ deliver: [], ...terms, label, cleanup, id: run_id as string, agent_id: id },
    source: kind === 'delegate' ? kind : 'subagent',
    root_id: self.root_id,
    requester: { id: self.id, key: self.session_key, name: self.name },
    job_id: null,
    mail_id: view.newId(),
    at: view.now,
  });
  const { session_key, config, task } = terms;
  const name = nameOfTask(task, label);
  const begun = { inherits, first: null, earlier, run };
  const child = newChild(view, { id, origin, name, session_key, config, ...begun });
  return {
    child,
    consequences: [
      { type: 'create-agents', agents: [child] },
      { type: 'deliver-mail', mail },
    ],
  };
}
