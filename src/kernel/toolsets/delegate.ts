import { type AgentConfig, isSubAgent } from '../../records/agent/agent.ts';
import { taskTerms } from '../../records/agent/task-terms.ts';
import { refuse } from './acts/agent-reference.ts';
import { childBudget } from './acts/child-budget.ts';
import { childConfig } from './acts/child-config.ts';
import { exceededCreationLimit, noNesting } from './acts/creation-limits.ts';
import { delegateInput, programOf, spawnInput } from './acts/delegate-input.ts';
import { isolatedChild } from './acts/new-child.ts';
import { checkTask, modelOf, needsOf } from './acts/task-options.ts';
import { checkedTool } from './arguments.ts';
import type { Decision, Need, Toolset, ToolsetView } from './toolset.ts';
import type { ToolsetTerms } from './toolset-terms.ts';

/**
 * The toolset `delegate`: `subagent_spawn` runs a task in a new conversation with the caller's tools, `subagent_delegate` sends one request to an ACP
 * agent. The call is parked in the ledger until the sub-agent ends, and its outcome is the result; several calls can be parked at once.
 */

function delegationOf(config: AgentConfig): number {
  return config.task?.delegation ?? 0;
}

function mayDelegate(config: AgentConfig, { delegation }: ToolsetTerms): boolean {
  return delegationOf(config) < delegation.max_depth;
}

/** Agents created by spawn_agents and sessions_spawn cannot create agents (docs/vocabularies.md). */
function maySpawn(config: AgentConfig, terms: ToolsetTerms): boolean {
  return mayDelegate(config, terms) && (!isSubAgent(config) || config.task?.kind === 'delegate');
}

function atLimit(view: ToolsetView): Decision | null {
  if (mayDelegate(view.self.config, view.terms)) return null;
  return refuse(
    'LIMIT_REACHED',
    `delegation depth limit reached: ${delegationOf(view.self.config)} of ${view.terms.delegation.max_depth}. Do the work yourself.`,
  );
}

export const subagentSpawn = checkedTool({
  name: 'subagent_spawn',
  description:
    'Spawn a subagent to handle a complex, multi-step task autonomously. The subagent runs in its own conversation context, sees nothing of this one, with access to all tools and returns its final result.',
  schema: spawnInput,
  audience: maySpawn,
  creates: true,
  // A call that will be refused creates no worktree and reads no file.
  needs: (options, call, self, terms) =>
    maySpawn(self.config, terms) ? needsOf(options, call.id, self, modelOf(options, terms.profiles)) : [],
  decode(options, call, view) {
    const nested = view.self.config.task?.kind === 'delegate' ? null : noNesting(view);
    const limit = nested ?? atLimit(view);
    if (limit !== null) return limit;
    const model = modelOf(options, view.terms.profiles);
    const ground = checkTask(options.task, options, call.id, model, view);
    if (ground.type === 'refuse') return ground;
    const { delegation } = view.terms;
    return delegated(view, {
      task: options.task,
      text: ground.text,
      description: options.description,
      config: (task, id) =>
        childConfig(view.self.config, {
          profile: ground.profile,
          model,
          system: options.systemPrompt ?? ground.profile?.system ?? delegation.system,
          cwd: ground.cwd,
          budget: ground.budget,
          id,
          turns: options.maxTurns ?? ground.profile?.turns ?? delegation.default_turns,
          task: { ...task, output_schema: options.output_schema ?? null, worktree: ground.worktree },
        }),
      agent_id: ground.profile?.name ?? 'main',
    });
  },
});

export const subagentDelegate = checkedTool({
  name: 'subagent_delegate',
  description:
    'Delegate a simple task to an ACP agent for a single-shot response. Use for tasks that do not require multi-step tool use.',
  schema: delegateInput,
  audience: (config, terms) => mayDelegate(config, terms) && programOf({}, terms).ok,
  creates: true,
  needs(options, _call, self, terms): readonly Need[] {
    const program = mayDelegate(self.config, terms) ? programOf(options, terms) : null;
    return program?.ok === true ? [{ type: 'model', name: program.model }] : [];
  },
  decode(options, _call, view) {
    const limit = atLimit(view);
    if (limit !== null) return limit;
    const program = programOf(options, view.terms);
    if (!program.ok) return refuse('NOT_AVAILABLE', program.error);
    const { model } = program;
    const answer = view.answer({ type: 'model', name: model });
    if (!answer.ok) return refuse('NOT_AVAILABLE', answer.error);
    const given = childBudget(view, options.budget, null);
    if (!given.ok) return refuse('LIMIT_REACHED', given.error);
    const { budget } = given;
    const { task, description } = options;
    return delegated(view, {
      task,
      text: task,
      description,
      // One answer of another program, with its own system prompt, under the permissions of the caller's tools.
      config: (terms, id) => ({
        ...childConfig(view.self.config, {
          profile: null,
          model,
          system: '',
          budget,
          id,
          turns: 1,
          task: terms,
        }),
        toolsets: [],
      }),
      agent_id: 'main',
    });
  },
});

interface Delegation {
  readonly task: string;
  readonly text: string;
  readonly description: string;
  readonly config: (task: NonNullable<AgentConfig['task']>, id: string) => AgentConfig;
  readonly agent_id: string;
}

function delegated(view: ToolsetView, plan: Delegation): Decision {
  const reached = exceededCreationLimit(view);
  if (reached !== null) return refuse('LIMIT_REACHED', reached);
  const { self } = view;
  const [id, run_id] = [view.newId('agent'), view.newId()];
  const delegation = delegationOf(self.config) + 1;
  const config = plan.config(
    taskTerms({ kind: 'delegate', label: plan.description, run_id, delegation }),
    id,
  );
  return {
    type: 'delegate',
    child: id,
    consequences: isolatedChild(view, {
      ...{ id, session_key: `agent:${plan.agent_id}:delegate:${id}`, config },
      ...{ task: plan.task, text: plan.text, timeout_ms: config.run_ms ?? null },
    }).consequences,
  };
}

export const delegateToolset: Toolset = {
  name: 'delegate',
  tools: [subagentDelegate, subagentSpawn],
  guidance: '',
};
