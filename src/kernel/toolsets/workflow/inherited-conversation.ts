import type { Agent, AgentConfig } from '../../../records/agent/agent.ts';
import { isTerminal } from '../../../records/agent/state.ts';
import type { TaskTerms } from '../../../records/agent/task-terms.ts';
import { type Refused, refuse } from '../acts/agent-reference.ts';
import type { CheckedTask } from '../acts/task-options.ts';
import type { ToolsetView } from '../toolset.ts';

/** A conversation that an agent of a script goes on with, and the configuration with which it was led. */
export interface Inherited {
  readonly type: 'inherited';
  readonly from: NonNullable<Agent['forked_from']>;
  readonly config: AgentConfig;
}

interface Asked {
  readonly context?: unknown;
  readonly continue?: unknown;
  readonly agentType?: string | undefined;
  readonly isolation?: string | undefined;
}

/** The conversation that `context: 'fork'` or `continue: label` asks for; null for neither. */
export function inheritedConversation(asked: Asked, view: ToolsetView): Inherited | Refused | null {
  const { context, continue: label } = asked;
  if (context === undefined && label === undefined) return null;
  const option = label === undefined ? 'context' : 'continue';
  const others = option === 'context' ? (['agentType'] as const) : (['agentType', 'isolation'] as const);
  const clash =
    option === 'continue' && context !== undefined
      ? 'context'
      : others.find((name) => asked[name] !== undefined);
  if (clash !== undefined)
    return refuse(
      'INVALID_ARG',
      `"${option}" and "${clash}" exclude each other: what it is stays as it was.`,
    );
  return option === 'context' ? ofStarter(view) : ofFinished(String(label), view);
}

function ofStarter({ self, lineage }: ToolsetView): Inherited | Refused {
  const from = self.config.workflow?.from;
  const starter = lineage(self).find(({ id }) => id === from?.agent_id);
  if (from === undefined || starter === undefined)
    return refuse(
      'NOT_AVAILABLE',
      'context "fork" needs the conversation of an agent that started the workflow, and no agent did.',
    );
  return { type: 'inherited', from, config: starter.config };
}

/** Of several agents with the label the newest: it has the work of those before it, if it went on with them. */
function ofFinished(label: string, view: ToolsetView): Inherited | Refused {
  const mine = view
    .children(view.self)
    .filter(({ config: { task } }) => task?.label === label)
    .toSorted((a, b) => a.created_at - b.created_at);
  const agent = mine.findLast(({ state }) => state.type === 'completed');
  const refused = (why: string) => refuse('NOT_AVAILABLE', `continue "${label}": ${why}.`);
  if (agent?.config.task?.worktree)
    return refused('its worktree was closed when it ended; what it changed is on its branch');
  if (agent !== undefined)
    return { type: 'inherited', from: { agent_id: agent.id, seq: agent.last_seq }, config: agent.config };
  const last = mine.at(-1);
  if (last === undefined) return refused('no agent of the run has this label');
  const has_ended = isTerminal(last.state.type);
  return refused(has_ended ? 'it did not finish its work' : 'it is still at work: await it first');
}

/** Its requests begin as those of the conversation, so model, system text and tools stay; what it may spend is the run's. */
export function inheritedConfig(
  { config }: Inherited,
  run: AgentConfig,
  { id, model, thinking, task, checked }: InheritedTerms,
): AgentConfig {
  const { budgets: _, client: __, workflow: ___, worktree, ...kept } = config;
  const own = checked.budget === null ? [] : [{ agent_id: id, ...checked.budget }];
  const budgets = [...own, ...(run.budgets ?? [])];
  const submits = task.output_schema !== null && !kept.toolsets.includes('fanout');
  const stays = worktree !== undefined && task.worktree === null;
  return {
    ...kept,
    ...{
      model: model ?? kept.model,
      thinking: thinking ?? kept.thinking,
      cwd: checked.cwd ?? kept.cwd,
      task,
    },
    toolsets: submits ? ['fanout', ...kept.toolsets] : kept.toolsets,
    ...(budgets.length > 0 ? { budgets } : {}),
    ...(stays ? { worktree } : {}),
  };
}

interface InheritedTerms {
  readonly id: string;
  readonly model: string | null;
  readonly thinking: AgentConfig['thinking'] | null;
  readonly task: TaskTerms;
  readonly checked: CheckedTask;
}
