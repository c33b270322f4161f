import type { View } from '../../kernel/turn/view.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Cell } from './cell.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { ExecutorOptions } from './executor-options.ts';
import type { Forest } from './forest.ts';
import type { TaskQueue } from './task-queue.ts';

export interface ViewSurroundings extends Pick<ExecutorOptions, 'workbench' | 'surroundings'> {
  readonly worker_id: string;
  readonly forest: Forest;
  readonly cells: ReadonlyMap<string, Cell>;
  readonly elsewhere: Elsewhere;
  readonly tasks: TaskQueue;
}

/** What the next step of this agent may know beside it. */
export function viewOf(agent: Agent, around: ViewSurroundings): View {
  const { workbench, surroundings, forest, elsewhere, tasks } = around;
  const { toolset_tools, notices } = workbench.bench(agent.config);
  const ids: string[] = [];
  return {
    now: surroundings.now(),
    id(number) {
      ids[number] ??= surroundings.newId();
      return ids[number];
    },
    worker: around.worker_id,
    relatives: forest,
    context: workbench.contextOf(agent, forest.tree(agent.root_id)),
    tools: toolset_tools,
    terms: workbench.terms,
    notices,
    shared: elsewhere.isShared(agent.root_id),
    hasMail: (other) => hasMail(other, around),
    mayBegin: () => tasks.mayBegin(agent),
    argumentsOf: workbench.argumentsOf,
  };
}

function hasMail(agent: Agent, { cells, elsewhere }: ViewSurroundings): boolean {
  const cell = cells.get(agent.id);
  return cell === undefined ? elsewhere.hasMail(agent) : cell.inbox.hasNews(cell.agent.noticed);
}
