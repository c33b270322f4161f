import * as z from 'zod';
import { visibleLine } from '../../records/agent/agent-name.ts';
import type { Call } from '../../records/agent/state.ts';
import type { TaskOrder } from '../../records/run/listed-task.ts';
import { storable } from '../../records/text/text.ts';
import { refuse } from './acts/agent-reference.ts';
import { checkedTool } from './arguments.ts';
import type { Need, Toolset, ToolsetTool } from './toolset.ts';

/**
 * The toolset `tasks`: a list that all agents of a tree share (docs/tasks.md). Used beside another toolset, never instead of one. The ledger decides each call
 * in a transaction of its own, under the lock of the tree (kernel/tasks/change-tasks.ts).
 */

const TITLE_MAX = 300;
const RESULT_MAX = 1_000;
const DEPENDS_MAX = 20;

const number = z.int().min(1);
const numbers = z.array(number).max(DEPENDS_MAX);

function taskTool<T>(
  name: string,
  description: string,
  schema: z.ZodType<T>,
  orderOf: (value: T) => TaskOrder,
): ToolsetTool {
  const need = (value: T, { id }: Call): Need => ({ type: 'tasks', call_id: id, order: orderOf(value) });
  return checkedTool({
    name,
    description,
    schema,
    needs: (value, call) => [need(value, call)],
    decode(value, call, view) {
      const answer = view.answer(need(value, call));
      return answer.ok
        ? { type: 'settle', output: answer.text, consequences: [], said: saidIn(orderOf(value)) }
        : refuse('NOT_AVAILABLE', answer.error);
    },
  });
}

function saidIn(order: TaskOrder): string {
  return order.action === 'add' ? order.title : order.action === 'done' ? order.result : '';
}

const add = taskTool(
  'task_add',
  'Add a task to the list that all agents of this tree share. Returns its number.',
  z.strictObject({
    title: z
      .string()
      .max(TITLE_MAX)
      .transform(visibleLine)
      .refine((title) => title !== '', 'the title must not be empty')
      .describe('What is to be done, so that any agent of the tree can do it.'),
    depends_on: numbers.nullish().describe('Numbers of tasks that must be done before.'),
    blocks: numbers.nullish().describe('Numbers of tasks that must wait for this one.'),
  }),
  ({ title, depends_on, blocks }) => ({
    ...{ action: 'add', title: storable(title) },
    ...{ depends_on: depends_on ?? [], blocks: blocks ?? [] },
  }),
);

const claim = taskTool(
  'task_claim',
  'Take a task of the shared list, which then nobody else can take: the first that is ready, or the one with this number. You hold one at a time. Returns task null when none is ready.',
  z.strictObject({ number: number.nullish().describe('Which task; without it the first that is ready.') }),
  (value) => ({ action: 'claim', number: value.number ?? null }),
);

const done = taskTool(
  'task_done',
  'Say that the task you claimed is done. Tasks that depend on it become ready.',
  z.strictObject({
    number: number.describe('Number of your task.'),
    result: z.string().max(RESULT_MAX).nullish().describe('What came of it, in a sentence or two.'),
  }),
  (value) => ({ action: 'done', number: value.number, result: storable(value.result ?? '') }),
);

const release = taskTool(
  'task_release',
  'Give back the task you claimed without having done it, so that another agent can take it.',
  z.strictObject({ number: number.describe('Number of your task.') }),
  (value) => ({ action: 'release', number: value.number }),
);

const list = taskTool(
  'task_list',
  'Show the shared list of tasks: who has which, what is ready, what waits for what, what is done.',
  z.strictObject({}),
  () => ({ action: 'list' }),
);

export const tasksToolset: Toolset = {
  name: 'tasks',
  tools: [add, claim, done, release, list],
  guidance:
    'When work is shared among several agents, put it on the shared task list, one task each: whoever is free claims the next one.',
};
