import { isWorking } from '../../records/agent/state.ts';
import type { ListedTask } from '../../records/run/listed-task.ts';
import { clean } from '../../render/clean.ts';
import type { UiStyle } from '../../render/style.ts';
import type { UiState } from '../state/ui-state.ts';
import { line, separator } from '../text/line.ts';

/** How the shared task list of the tree stands, in one row; null without a list. Who claimed what comes last, as that may be long. */
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

/** The same below the children, while somebody works and something is left to do. */
export function workingTasksLine(state: UiState, width: number, style: UiStyle): string | null {
  const left = state.tasks.some((task) => task.state !== 'done');
  const works = left && [...state.agents.values()].some((agent) => isWorking(agent.state.type));
  return works ? tasksLine(state, width, style) : null;
}
