import type { AgentConfig, Origin } from '../../../records/agent/agent.ts';
import { nameFault } from '../../../records/agent/agent-name.ts';
import type { NewAgent } from '../../../records/agent/new-agent.ts';
import { newTurn } from '../../../records/agent/state.ts';
import type { UserContent } from '../../../records/conversation/message.ts';
import type { NewRun } from '../../../records/run/run.ts';
import { storable } from '../../../records/text/text.ts';
import type { ToolsetView } from '../toolset.ts';

export interface ChildPlan {
  readonly id: string;
  readonly origin: Exclude<Origin, 'root'>;
  readonly name: string;
  readonly session_key: string;
  readonly config: AgentConfig;
  /** Inherits the conversation up to the message that holds the call. */
  readonly inherits: boolean;
  /** What it begins with; null: it rests until mail brings it work. */
  readonly first: UserContent | null;
  /** Begins at rest although it has a first message. */
  readonly rests?: boolean;
  readonly run?: NewRun;
}

/** An agent below the caller. Every tool that creates one, in every vocabulary, does it here. */
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
      forked_from: plan.inherits ? { agent_id: self.id, seq: view.message_seq } : null,
      worker: view.worker,
      created_at: view.now,
    },
    messages: first === null ? [] : [{ kind: 'user', content: { ...first, text: storable(first.text) } }],
    ...(run === undefined ? {} : { run }),
  };
}

const NAME_LENGTH = 32;

/** A short name for an agent that was given only a task: its first words. */
export function nameOfTask(task: string, label: string | null | undefined): string {
  if (label) return label;
  const words =
    task
      .slice(0, 8 * NAME_LENGTH)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  let name = '';
  for (const word of words) {
    if (name.length + word.length + 1 > NAME_LENGTH) break;
    name += name === '' ? word : `-${word}`;
  }
  if (name === '') return 'task';
  return nameFault(name) === null ? name : `task-${name}`;
}
