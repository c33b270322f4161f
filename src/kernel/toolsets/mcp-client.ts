import * as z from 'zod';
import type { Agent } from '../../records/agent/agent.ts';
import { framedName } from '../../records/agent/agent-name.ts';
import { ownBudget, without } from '../../records/agent/budget.ts';
import { refuse, settle, text } from './acts/agent-reference.ts';
import { exceededCreationLimit } from './acts/creation-limits.ts';
import { delegateInput, programOf } from './acts/delegate-input.ts';
import { createdJson, forkAgent, forkNeeds } from './acts/fork-agent.ts';
import { checkedTool } from './arguments.ts';
import { needsOfTasks, type Task, taskInput } from './fanout.ts';
import { forkInput, kill, send, wait } from './process.ts';
import { modelFor, type PlannedRun, planRun, type Spawn } from './sessions.ts';
import type { Decision, Need, Toolset } from './toolset.ts';

/**
 * The toolset `client`: what an outside program that is connected over MCP can do as an agent (docs/mcp-server.md). None of its calls waits: `wait` is called
 * with timeout 0 once there is something to collect, so that no call blocks another. It is of no use to a model and cannot be selected.
 */

const MAX_TASKS = 100;

const fork = checkedTool({
  name: 'fork',
  description:
    'Create an agent that works on its prompt in parallel, with tools of its own (files, search, shell as permitted). FRESH CONTEXT: it knows nothing of this conversation, so the prompt must say everything that it needs. It can fork agents itself, idles when its work is done, and can be given more with send. Returns at once with its agent_id; collect its report with wait.',
  schema: forkInput.extend({
    prompt: text('the prompt').describe(
      'What it is to do, with all that it must know: it sees nothing of your conversation.',
    ),
  }),
  creates: true,
  needs: (options, call, self, terms) => forkNeeds(options, call.id, self, terms),
  decode({ name: called, prompt, ...terms }, call, view) {
    const id = view.newId('agent');
    return forkAgent(view, {
      id,
      name: called,
      terms,
      key: call.id,
      inherits: false,
      prompt,
      text: (task) => identity(id, called, view.self, task),
      output: (worktree) => JSON.stringify({ agents: [createdJson(id, called, worktree)] }),
    });
  },
});

function identity(id: string, called: string, client: Agent, prompt: string | null): string {
  return [
    `You are "${framedName(called)}" (agent ${id}). "${framedName(client.name)}" (agent ${client.id}), an agent in another program, started you and reads what you report.`,
    'When your task is done, end your turn with the result: your last text is handed to it. It may then send you more work.',
    '',
    'Your task:',
    prompt ?? '',
  ].join('\n');
}

function runOf({ timeout_seconds, ...options }: Task): Spawn & Pick<Task, 'cwd'> {
  return { ...options, timeoutSeconds: timeout_seconds ?? null };
}

const spawn = checkedTool({
  name: 'spawn_agents',
  description:
    'Run tasks in parallel, each by an agent of its own with FRESH CONTEXT: it knows nothing of this conversation. All or none are started. Returns their results when all are in; those that take longer go on, and wait collects them by agent_id. Use for independent research, reviews, or edits.',
  schema: z.strictObject({
    tasks: z.array(taskInput).min(1).max(MAX_TASKS).describe('The tasks, one agent each.'),
  }),
  creates: true,
  needs: ({ tasks }, call, self, terms) =>
    needsOfTasks(tasks, call, self, (task) => modelFor(runOf(task), terms)),
  decode({ tasks }, call, view) {
    const reached = exceededCreationLimit(view, tasks.length);
    if (reached !== null) return refuse('LIMIT_REACHED', reached);
    const runs: PlannedRun[] = [];
    let left = view.left();
    for (const [index, task] of tasks.entries()) {
      const options = runOf(task);
      const planned = planRun(
        options,
        task.profile ?? 'main',
        `${call.id}-${index}`,
        modelFor(options, view.terms),
        { ...view, left: () => left },
        { field: `tasks.${index}`, sharers: tasks.length - index },
      );
      // If one task is invalid, no agent is created.
      if (planned.type === 'refuse') return planned;
      runs.push(planned);
      const { id, config } = planned.child.agent;
      left = without(left, ownBudget(id, config));
    }
    return started(runs);
  },
});

const delegate = checkedTool({
  name: 'subagent_delegate',
  description:
    'Hand a task to another agent program that is configured here (an ACP agent such as Claude Code, Codex or Gemini) and return its answer. If it takes longer, it goes on, and wait collects it by agent_id.',
  schema: delegateInput,
  creates: true,
  needs(options, _call, _self, terms): readonly Need[] {
    const program = programOf(options, terms);
    return program.ok ? [{ type: 'model', name: program.model }] : [];
  },
  decode({ task, description, budget, ...program_terms }, call, view) {
    const program = programOf(program_terms, view.terms);
    if (!program.ok) return refuse('NOT_AVAILABLE', program.error);
    const reached = exceededCreationLimit(view);
    if (reached !== null) return refuse('LIMIT_REACHED', reached);
    const options: Spawn = { task, label: description, ...(budget === undefined ? {} : { budget }) };
    const planned = planRun(options, 'main', call.id, program.model, view);
    return planned.type === 'refuse' ? planned : started([planned]);
  },
});

function started(runs: readonly PlannedRun[]): Decision {
  const agents = runs.map(({ child: { agent }, run_id }) => ({
    ...createdJson(agent.id, agent.name, agent.config.task?.worktree),
    run_id,
  }));
  return settle(JSON.stringify({ agents }), ...runs.flatMap(({ consequences }) => consequences));
}

export const clientToolset: Toolset = {
  name: 'client',
  tools: [fork, spawn, delegate, send, wait, kill],
  guidance: '',
  letters: 'notice',
};
