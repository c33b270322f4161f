import * as z from 'zod';
import {
  type Agent,
  type AgentConfig,
  isSubAgent,
  mustSubmit,
  resultSchema,
} from '../../records/agent/agent.ts';
import { nameOfTask } from '../../records/agent/agent-name.ts';
import { ownBudget, without } from '../../records/agent/budget.ts';
import type { Call, ChildOutcome, SpawnedChild } from '../../records/agent/state.ts';
import { taskTerms } from '../../records/agent/task-terms.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import { wholeMilliseconds } from '../../records/text/parse-duration.ts';
import { storable } from '../../records/text/text.ts';
import { name, type Refused, refuse, text } from './acts/agent-reference.ts';
import { childConfig } from './acts/child-config.ts';
import { exceededCreationLimit, noNesting } from './acts/creation-limits.ts';
import { createdJson } from './acts/fork-agent.ts';
import { newChild } from './acts/new-child.ts';
import { checkTask, modelOf, needsOf, taskOptions } from './acts/task-options.ts';
import { checkedTool, MAX_TASK_SECONDS } from './arguments.ts';
import { resultFault, schemasFault } from './output-schema.ts';
import type { Decision, Need, Toolset, ToolsetTool, ToolsetView } from './toolset.ts';

/**
 * The toolset `fanout`: `spawn_agents` for parents; `submit_result` and `submit_error` for their children. Tasks run in parallel in new
 * conversations; the parent parks until all results have arrived and gets them in one message.
 */

const MAX_TASKS = 1_000;

export const taskInput = z.strictObject({
  task: text('the task').describe('Task description for the sub-agent'),
  cwd: z.string().min(1).nullish().describe("Working directory (defaults to parent's cwd)"),
  label: name('optional').nullish().describe('Short name of the sub-agent.'),
  model: z.string().min(1).nullish().describe("Model as provider/model (defaults to the parent's)."),
  timeout_seconds: z
    .number()
    .min(0)
    .max(MAX_TASK_SECONDS)
    .nullish()
    .describe('Seconds it may take at most; 0: no limit of its own.'),
  ...taskOptions,
});

export type Task = z.infer<typeof taskInput>;

const spawnInput = z.strictObject({
  tasks: z.array(taskInput).min(1).max(MAX_TASKS).describe('List of tasks to execute in parallel'),
});

const spawn = checkedTool({
  name: 'spawn_agents',
  description:
    'Spawn sub-agents to execute tasks in parallel. Each sub-agent runs independently and returns a result. Use for: multiple perspectives on code review, exploring unfamiliar parts of a codebase, parallel research or analysis tasks, or divide-and-conquer problem solving.',
  schema: spawnInput,
  audience: (config) => !isSubAgent(config),
  creates: true,
  needs: ({ tasks }, call, self, terms) =>
    needsOfTasks(tasks, call, self, (task) => modelOf(task, terms.profiles)),
  decode({ tasks }, call, view) {
    const nested = noNesting(view);
    if (nested !== null) return nested;
    const reached = exceededCreationLimit(view, tasks.length);
    if (reached !== null) return refuse('LIMIT_REACHED', reached);
    const too_much = schemasFault(
      tasks.flatMap(({ output_schema }) => (output_schema ? [output_schema] : [])),
    );
    if (too_much !== null) return refuse('INVALID_ARG', too_much);
    const agents: NewAgent[] = [];
    let left = view.left();
    for (const [index, task] of tasks.entries()) {
      const made = plan(task, index, call.id, { ...view, left: () => left }, tasks.length - index);
      // If one task is invalid, no agent is created.
      if ('type' in made) return made;
      agents.push(made);
      left = without(left, ownBudget(made.agent.id, made.agent.config));
    }
    const spawned = agents.map(({ agent: { id, name: task } }): SpawnedChild => ({ agent_id: id, task }));
    return {
      type: 'settle',
      output: JSON.stringify({
        spawned: agents.map(({ agent: { id, name: called, config } }) =>
          createdJson(id, called, config.task?.worktree),
        ),
        note: 'Their results come together in one message when all are in.',
      }),
      consequences: [{ type: 'create-agents', agents }],
      spawned,
    };
  },
});

/** What the tasks of one call need, each need once. */
export function needsOfTasks(
  tasks: readonly Task[],
  call: Call,
  self: Agent,
  model: (task: Task) => string | null,
): readonly Need[] {
  const needs = tasks.flatMap((task, index) => needsOf(task, `${call.id}-${index}`, self, model(task)));
  return [...new Map(needs.map((need) => [JSON.stringify(need), need])).values()];
}

function plan(
  task: Task,
  index: number,
  call_id: string,
  view: ToolsetView,
  sharers: number,
): NewAgent | Refused {
  const model = modelOf(task, view.terms.profiles);
  const ground = checkTask(
    task.task,
    task,
    `${call_id}-${index}`,
    model,
    view,
    `tasks.${index}`,
    undefined,
    sharers,
  );
  if (ground.type === 'refuse') return ground;
  const id = view.newId('agent');
  return newChild(view, {
    id,
    origin: 'spawn',
    name: nameOfTask(task.task, task.label),
    session_key: `agent:${ground.profile?.name ?? 'main'}:spawn:${id}`,
    config: childConfig(view.self.config, {
      profile: ground.profile,
      model,
      cwd: ground.cwd,
      run_ms: task.timeout_seconds ? wholeMilliseconds(task.timeout_seconds) : null,
      budget: ground.budget,
      id,
      task: taskTerms({
        ...{ kind: 'spawn', label: task.label || null },
        ...{ output_schema: task.output_schema ?? null, worktree: ground.worktree },
      }),
    }),
    inherits: false,
    first: { origin: 'task', text: ground.text },
  });
}

/** Audience of the tools that submit: agents that must submit and those that share their prefix, not all agents with this toolset. */
const children = (config: AgentConfig): boolean =>
  config.output !== undefined ||
  (config.task !== undefined && mustSubmit({ id: '', config, origin: config.task.kind }));

/** A submission beside other calls is decided after them; it counts if none of them failed (`answerAtHand`). */
function held({ self: { state } }: ToolsetView): Decision {
  const turn = state.type === 'executing' ? state.turn : null;
  if (turn?.failing.some(({ request }) => request === turn.requests))
    return refuse(
      'NOT_AVAILABLE',
      'not submitted: another call of this message failed. See to that, then submit again.',
    );
  return { type: 'settle', output: 'Submitted after the other calls of the message.', consequences: [] };
}

/** A tool with which a child ends itself. `outcomeOf` returns a text that says what is wrong with a submission. */
function submitTool<T>(
  submitted: { readonly name: string; readonly description: string; readonly schema: z.ZodType<T> },
  outcomeOf: (value: T, config: AgentConfig) => ChildOutcome | string,
): ToolsetTool {
  const tool = checkedTool({
    ...submitted,
    audience: children,
    decode(value, _call, view) {
      const outcome = outcomeOf(value, view.self.config);
      return typeof outcome === 'string' ? refuse('INVALID_ARG', outcome) : held(view);
    },
  });
  return {
    ...tool,
    decode: (input, call, view) =>
      mustSubmit(view.self)
        ? tool.decode(input, call, view)
        : refuse('NOT_AVAILABLE', 'only a sub-agent submits; answer in your own words and end your turn.'),
    submission(input, config) {
      const parsed = submitted.schema.safeParse(input);
      const outcome = parsed.success ? outcomeOf(parsed.data, config) : '';
      return typeof outcome === 'string' ? null : outcome;
    },
  };
}

const submitResult = submitTool(
  {
    name: 'submit_result',
    description:
      'Submit your final result to the parent conversation. Call this when you have completed your assigned task. After calling this, your conversation ends.',
    schema: z.strictObject({
      result: text('the result').describe('Your final result, summary, or output'),
    }),
  },
  ({ result: said }, config) => {
    const schema = resultSchema(config);
    const result = schema === null ? said : (/^\s*```\w*\n([\s\S]*)\n```\s*$/.exec(said)?.[1] ?? said);
    const fault = schema === null ? null : resultFault(schema, result);
    return fault ?? { type: 'success', result: storable(result) };
  },
);

const submitError = submitTool(
  {
    name: 'submit_error',
    description:
      'Report that you cannot complete the assigned task. Call this if you encounter an unrecoverable error or determine the task is impossible. After calling this, your conversation ends.',
    schema: z.strictObject({
      error: text('the error').describe('Description of why the task could not be completed'),
    }),
  },
  ({ error }) => ({ type: 'failure', error: storable(error), error_kind: 'sub_agent_error' }),
);

/** The tools that submit, for an agent of another vocabulary whose result a program wants. */
export const submitToolset: Toolset = { name: 'submit', tools: [submitResult, submitError], guidance: '' };

export const fanoutToolset: Toolset = {
  name: 'fanout',
  tools: [spawn, submitResult, submitError],
  guidance: '',
};
