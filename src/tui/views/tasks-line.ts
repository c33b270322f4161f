import { isWorking } from '../../records/agent/state.ts';
import type { ListedTask } from '../../records/run/listed-task.ts';
import { clean } from '../../render/clean.ts';
import type { UiStyle } from '../../render/style.ts';
import type { UiState } from '../state/ui-state.ts';
import { line, separator } from '../text/line.ts';

/** The state of the tree's shared task list in one row; null without a list. The claims come last, as they may be long. */
export function tasksLine({ tasks }: UiState, width: number, style: UiStyle): string | null {
  if (tasks.length === 0) return null;
  const count = (state: ListedTask['state']): string[] => {
    const found = tasks.filter((task) => task.state === state).length;
    return found === 0 ? [] : [`${found} ${state}`];
  };
  const claimed = tasks
    .filter(({ state }) => state === 'claimed')
    .map(({ number, agent_name }) => `${clean(agent_name ?? '')} ${number}`);
  const parts = [
    ...count('open'),
    ...count('blocked'),
    ...count('done'),
    ...(claimed.length === 0 ? [] : [`${claimed.length} claimed: ${claimed.join(', ')}`]),
  ];
  return line(style, width, [['dim', `  tasks: ${parts.join(separator(style))}`]]).trimEnd();
}

/** Like `tasksLine`, for the row below the children: null unless an agent works and a task is left to do. */
export function workingTasksLine(state: UiState, width: number, style: UiStyle): string | null {
  const left = state.tasks.some((task) => task.state !== 'done');
  const works = left && [...state.agents.values()].some((agent) => isWorking(agent.state.type));
  return works ? tasksLine(state, width, style) : null;
}
