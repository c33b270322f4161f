import { isTerminal } from '../../records/agent/state.ts';
import {
  type ListedTask,
  listedTasks,
  type TaskAnswer,
  type TaskCall,
  type TaskOrder,
} from '../../records/run/listed-task.ts';
import type { AgentFacts } from '../ledger/facts.ts';
import type { UnitOfWork } from '../ledger/unit-of-work.ts';

/** Maximum tasks of a tree; done ones count. */
export const TASKS_MAX = 200;
/** Maximum done tasks that a list for a model shows. */
const DONE_SHOWN = 20;

/**
 * The shared task list of a tree (docs/tasks.md), decided under the lock of its tree.
 *
 * K1. A task has at most one claimer, and an agent claims one at a time.
 * K2. A claim ends when its claimer ends, without a write.
 * K3. A task can be claimed only when all tasks that it depends on are done; dependencies form no cycle.
 * K4. Calls are idempotent: a call is repeated after a crash before its result was committed.
 */
export function changeTasks(unit: UnitOfWork, call: TaskCall, order: TaskOrder): TaskAnswer {
  const agent = unit.agent(call.agent_id);
  const removal = agent === null ? null : unit.tree(agent.root_id)?.removal;
  if (agent === null || agent.epoch !== call.epoch || isTerminal(agent.status) || removal !== null)
    return refused('you do not lead this conversation any more');
  const rows = unit.facts.get('tasks', agent.root_id);
  const list = listedTasks(rows);
  switch (order.action) {
    case 'add': {
      // Some models number the calls of each message from the start: the same id with another title is another call.
      const before = rows.find(
        (row) => row.added_by === agent.id && row.call_id === call.call_id && row.title === order.title,
      );
      return before === undefined
        ? add(unit, agent, call, list, order)
        : { ok: true, output: { task: before.number } };
    }
    case 'claim':
      return claim(unit, agent, list, order.number);
    case 'done':
    case 'release':
      return settle(unit, agent, list, order);
    case 'list':
      return { ok: true, output: taskListResult(list) };
  }
}

function refused(error: string): TaskAnswer {
  return { ok: false, error };
}

function add(
  unit: UnitOfWork,
  agent: AgentFacts,
  { call_id }: TaskCall,
  list: readonly ListedTask[],
  { title, depends_on, blocks }: Extract<TaskOrder, { action: 'add' }>,
): TaskAnswer {
  if (list.length >= TASKS_MAX) return refused(`the list is full: at most ${TASKS_MAX} tasks in a tree`);
  for (const number of [...depends_on, ...blocks])
    if (!list.some((task) => task.number === number)) return refused(unknown(number, list));
  for (const number of blocks) {
    const { state } = list.find((task) => task.number === number) as ListedTask;
    if (state === 'done') return refused(`field "blocks": task ${number} is already done`);
    const path = pathTo(number, depends_on, list);
    if (path !== null)
      return refused(`circular dependency: ${[number, 'the new task', ...path].join(' → ')}`);
  }
  const number = Math.max(0, ...list.map((task) => task.number)) + 1;
  const at = unit.facts.now;
  unit.rows.insert('tasks', {
    ...{
      root_id: agent.root_id,
      number,
      title,
      depends_on: JSON.stringify([...new Set(depends_on)]),
      done: false,
    },
    ...{ agent_id: null, agent_name: null, result: null },
    ...{ added_by: agent.id, call_id, added_at: at, changed_at: at },
  });
  for (const task of list.filter((one) => blocks.includes(one.number)))
    unit.rows.update('tasks', {
      ...{ root_id: agent.root_id, number: task.number, changed_at: at },
      depends_on: JSON.stringify([...task.depends_on, number]),
    });
  return { ok: true, output: { task: number } };
}

/** Returns a path along dependencies from one of the tasks `from` to `target`; null if there is none. */
function pathTo(target: number, from: readonly number[], list: readonly ListedTask[]): number[] | null {
  const seen = new Set<number>();
  const follow = (number: number): number[] | null => {
    if (number === target) return [number];
    if (seen.has(number)) return null;
    seen.add(number);
    for (const next of list.find((task) => task.number === number)?.depends_on ?? []) {
      const rest = follow(next);
      if (rest !== null) return [number, ...rest];
    }
    return null;
  };
  for (const number of from) {
    const path = follow(number);
    if (path !== null) return path;
  }
  return null;
}

function claim(
  unit: UnitOfWork,
  agent: AgentFacts,
  list: readonly ListedTask[],
  number: number | null,
): TaskAnswer {
  const mine = list.find(({ state, agent_id }) => state === 'claimed' && agent_id === agent.id);
  if (mine !== undefined && (number === null || number === mine.number))
    return { ok: true, output: { task: brief(mine) } };
  if (mine !== undefined)
    return refused(
      `you have task ${mine.number}: finish it with task_done, or release it, before you claim another`,
    );
  const wanted =
    number === null ? list.find(({ state }) => state === 'open') : list.find((one) => one.number === number);
  if (wanted === undefined)
    return number === null
      ? { ok: true, output: { task: null, ...left(list) } }
      : refused(unknown(number, list));
  const { state, agent_name, depends_on } = wanted;
  if (state === 'done') return refused(`task ${wanted.number} is already done`);
  if (state === 'claimed') return refused(`task ${wanted.number} is claimed by ${agent_name}`);
  if (state === 'blocked')
    return refused(`task ${wanted.number} waits for ${undone(depends_on, list).join(', ')}`);
  const claimed = { ...wanted, state: 'claimed' as const, agent_id: agent.id, agent_name: agent.name };
  write(unit, agent, wanted.number, { agent_id: agent.id, agent_name: agent.name });
  return { ok: true, output: { task: brief(claimed) } };
}

function settle(
  unit: UnitOfWork,
  agent: AgentFacts,
  list: readonly ListedTask[],
  order: Extract<TaskOrder, { action: 'done' | 'release' }>,
): TaskAnswer {
  const { number } = order;
  const task = list.find((one) => one.number === number);
  if (task === undefined) return refused(unknown(number, list));
  const is_mine = task.agent_id === agent.id;
  if (order.action === 'release') {
    if (task.state === 'done' && is_mine) return refused(`task ${number} is already done`);
    if (task.state === 'claimed' && !is_mine)
      return refused(`task ${number} is claimed by ${task.agent_name}, not by you`);
    if (task.state === 'claimed') write(unit, agent, number, { agent_id: null, agent_name: null });
    return { ok: true, output: { released: number } };
  }
  if (task.state === 'done' ? !is_mine : !(task.state === 'claimed' && is_mine))
    return refused(
      task.agent_name === null
        ? `task ${number} is not claimed: claim it first`
        : `task ${number} is ${task.state === 'done' ? 'done' : 'claimed'} by ${task.agent_name}, not by you`,
    );
  if (task.state === 'claimed') write(unit, agent, number, { done: true, result: order.result });
  const after = list.map((one) => (one.number === number ? { ...one, state: 'done' as const } : one));
  return { ok: true, output: { done: number, ...left(after) } };
}

function write(
  unit: UnitOfWork,
  { root_id }: AgentFacts,
  number: number,
  change: Record<string, string | boolean | null>,
): void {
  unit.rows.update('tasks', { root_id, number, changed_at: unit.facts.now, ...change });
}

function unknown(number: number, list: readonly ListedTask[]): string {
  return list.length === 0
    ? `there is no task ${number}: the list is empty`
    : `there is no task ${number}: see task_list`;
}

function undone(numbers: readonly number[], list: readonly ListedTask[]): number[] {
  return numbers.filter((number) => list.find((task) => task.number === number)?.state !== 'done');
}

/** Number of tasks by state, so that the agent can decide what to do next. */
function left(list: readonly ListedTask[]): Record<string, number> {
  const ready = (task: ListedTask) => undone(task.depends_on, list).length === 0;
  const waiting = list.filter(({ state }) => state === 'open' || state === 'blocked');
  return {
    open: waiting.filter(ready).length,
    blocked: waiting.filter((task) => !ready(task)).length,
    claimed: list.filter(({ state }) => state === 'claimed').length,
    all_done: list.filter(({ state }) => state === 'done').length,
  };
}

function brief({
  number,
  title,
  state,
  depends_on,
  agent_name,
  result,
}: ListedTask): Record<string, unknown> {
  return {
    ...{ number, title, state },
    ...(agent_name === null ? {} : { by: agent_name }),
    ...(depends_on.length === 0 ? {} : { depends_on }),
    ...(result === null || result === '' ? {} : { result }),
  };
}

function taskListResult(list: readonly ListedTask[]): Record<string, unknown> {
  const done = list.filter(({ state }) => state === 'done');
  const kept = new Set(done.slice(-DONE_SHOWN));
  const tasks = list.filter((task) => task.state !== 'done' || kept.has(task)).map(brief);
  const hidden = done.length - kept.size;
  return { tasks, ...(hidden === 0 ? {} : { done_before: hidden }) };
}
