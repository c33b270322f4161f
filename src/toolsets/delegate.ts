import { z } from 'zod';
import type { AgentConfig } from '../core/agent.ts';
import type { NewRun } from '../core/run.ts';
import { storable } from '../core/text.ts';
import { refuse, text } from './agent-reference.ts';
import { inputSchema, parseArguments } from './arguments.ts';
import { overBudget } from './budget.ts';
import { childConfig } from './child-config.ts';
import type { Need } from './need.ts';
import { nameOfTask, newChild } from './new-child.ts';
import { checkTask, modelOf, needsOf, taskOptions } from './task-options.ts';
import type { Decision, Toolset, ToolsetTool, ToolsetView } from './toolset.ts';
import type { ToolsetTerms } from './toolset-terms.ts';

/**
 * Seed 5: `subagent_spawn` runs a task in a fresh conversation with the caller's tools, `subagent_delegate` asks an ACP agent once.
 * The call waits in the ledger until the sub-agent has ended, and its outcome is the result; several calls wait side by side.
 */

const MAX_TURNS = 1_000;
const description = text('the description').max(200);

const spawnInput = z.strictObject({
  task: text('the task').describe('The task/prompt for the subagent to work on'),
  description: description.describe(
    'Short label describing what the subagent will do (e.g. "Researching API endpoints")',
  ),
  maxTurns: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(MAX_TURNS)
    .nullish()
    .describe('Maximum turns the subagent can take'),
  systemPrompt: z.string().nullish().describe('Optional system prompt override for the subagent'),
  ...taskOptions,
});

/** How deep in delegations an agent with this configuration is. */
function delegationOf(config: AgentConfig): number {
  return config.task?.delegation ?? 0;
}

function mayDelegate(config: AgentConfig, { delegation }: ToolsetTerms): boolean {
  return delegationOf(config) < delegation.max_depth;
}

function atLimit(view: ToolsetView): Decision | null {
  if (mayDelegate(view.self.config, view.terms)) return null;
  return refuse(
    'LIMIT_REACHED',
    `limit of delegation reached: ${delegationOf(view.self.config)} of ${view.terms.delegation.max_depth} deep. Do the work yourself.`,
  );
}

const spawn: ToolsetTool = {
  spec: {
    name: 'subagent_spawn',
    description:
      'Spawn a subagent to handle a complex, multi-step task autonomously. The subagent runs in its own conversation context with access to all tools and returns its final result.',
    input: inputSchema(spawnInput),
  },
  // Agents made by spawn_agents and sessions_spawn never create loops of their own (DESIGN.md, Decided).
  audience: (config, terms) =>
    mayDelegate(config, terms) && (config.task === undefined || config.task.kind === 'delegate'),
  creates: true,
  surveys: false,
  mentions: () => [],
  needs(input, call, self, terms) {
    const parsed = spawnInput.safeParse(input);
    return parsed.success ? needsOf(parsed.data, call.id, self, modelOf(parsed.data, terms.profiles)) : [];
  },
  decode(input, call, view) {
    const parsed = parseArguments(spawnInput, input);
    if (!parsed.ok) return refuse('INVALID_ARG', parsed.message);
    const kind = view.self.config.task?.kind ?? 'delegate';
    if (kind !== 'delegate')
      return refuse('NESTING_FORBIDDEN', 'a sub-agent creates no agents of its own: do the work yourself.');
    const options = parsed.value;
    const model = modelOf(options, view.terms.profiles);
    const checked = checkTask(options.task, options, call.id, model, view);
    if (!checked.ok) return refuse(checked.code, checked.message);
    const { ground } = checked;
    const { delegation } = view.terms;
    return delegated(view, {
      task: options.task,
      text: ground.text,
      description: options.description,
      config: (task) =>
        childConfig(view.self.config, {
          profile: ground.profile,
          model,
          system: options.systemPrompt ?? ground.profile?.system ?? delegation.system,
          cwd: ground.cwd,
          turns: options.maxTurns ?? ground.profile?.turns ?? delegation.default_turns,
          task: { ...task, output_schema: options.output_schema ?? null, worktree: ground.worktree },
        }),
      agent_id: ground.profile?.name ?? 'main',
    });
  },
};

const delegateInput = z.strictObject({
  task: text('the task').describe('The task/prompt to delegate'),
  description: description.describe('Short label describing the delegation (e.g. "Summarizing document")'),
  serverName: z.string().min(1).nullish().describe('Target ACP server name (optional)'),
  agentId: z.string().min(1).nullish().describe('Target agent ID (optional)'),
});

/** `acp:SERVER` or `acp:SERVER/AGENT`; null when no server is configured. */
function programOf(input: z.infer<typeof delegateInput>, { delegation }: ToolsetTerms): string | null {
  const server = input.serverName ?? delegation.default_server ?? delegation.servers[0];
  if (server === undefined) return null;
  const agent = input.agentId ?? (input.serverName ? null : delegation.default_agent);
  return agent === null ? `acp:${server}` : `acp:${server}/${agent}`;
}

const delegate: ToolsetTool = {
  spec: {
    name: 'subagent_delegate',
    description:
      'Delegate a simple task to an ACP agent for a single-shot response. Use for tasks that do not require multi-step tool use.',
    input: inputSchema(delegateInput),
  },
  audience: mayDelegate,
  creates: true,
  surveys: false,
  mentions: () => [],
  needs(input, _call, _self, terms): readonly Need[] {
    const parsed = delegateInput.safeParse(input);
    const name = parsed.success ? programOf(parsed.data, terms) : null;
    return name === null ? [] : [{ type: 'model', name }];
  },
  decode(input, _call, view) {
    const parsed = parseArguments(delegateInput, input);
    if (!parsed.ok) return refuse('INVALID_ARG', parsed.message);
    const model = programOf(parsed.value, view.terms);
    if (model === null)
      return refuse(
        'NOT_AVAILABLE',
        'no ACP server is configured: a person can name one under "acp" in the configuration.',
      );
    const answer = view.answer({ type: 'model', name: model });
    if (!answer.ok) return refuse('NOT_AVAILABLE', answer.error);
    const { task } = parsed.value;
    return delegated(view, {
      task,
      text: task,
      description: parsed.value.description,
      // One answer of another program: it brings its own system prompt, and may do what the caller's tools may.
      config: (terms) => ({
        ...childConfig(view.self.config, { profile: null, model, system: '', turns: 1, task: terms }),
        toolsets: [],
      }),
      agent_id: 'main',
    });
  },
};

interface Delegation {
  readonly task: string;
  readonly text: string;
  readonly description: string;
  readonly config: (task: NonNullable<AgentConfig['task']>) => AgentConfig;
  readonly agent_id: string;
}

function delegated(view: ToolsetView, plan: Delegation): Decision {
  const limit = atLimit(view);
  if (limit !== null) return limit;
  const reached = overBudget(view);
  if (reached !== null) return refuse('LIMIT_REACHED', reached);
  const { self } = view;
  const [id, run_id] = [view.newId(), view.newId()];
  const label = storable(plan.description.trim());
  const config = plan.config({
    kind: 'delegate',
    label,
    run_id,
    cleanup: 'keep',
    output_schema: null,
    delegation: delegationOf(self.config) + 1,
    worktree: null,
  });
  const session_key = `agent:${plan.agent_id}:delegate:${id}`;
  const run: NewRun = {
    id: run_id,
    source: 'delegate',
    session_key,
    requester_id: self.id,
    requester_key: self.session_key,
    task: storable(plan.task),
    label,
    model: config.model,
    thinking: config.thinking,
    timeout_ms: config.run_ms ?? null,
    cleanup: 'keep',
  };
  const child = newChild(view, {
    id,
    origin: 'delegate',
    name: nameOfTask(plan.task, label),
    session_key,
    config,
    inherits: false,
    first: { origin: 'task', text: plan.text },
    run,
  });
  return { type: 'delegate', child: id, consequences: [{ type: 'create-agents', agents: [child] }] };
}

export const delegateToolset: Toolset = {
  name: 'delegate',
  tools: [delegate, spawn],
  guidance: '',
};
