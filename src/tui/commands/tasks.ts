import { taskCells } from '../../records/run/listed-task.ts';
import { clean } from '../../render/clean.ts';
import { tableLines } from '../../render/table.ts';
import type { AppContext } from '../app-context.ts';

const HEAD = ['task', 'state', 'agent', 'what'] as const;

/** `/tasks`: shows the task list that the agents of the tree in view share. Long rows are wrapped like any text. */
export async function tellTasks(app: AppContext): Promise<void> {
  const { state, store, style } = app;
  const tasks = state.root_id === null ? [] : await store.tasks(state.root_id);
  if (tasks.length === 0) return app.say('no tasks: agents with the toolset tasks add them');
  const rows = tasks.map((task) => taskCells(task).map(clean));
  const width = Number.MAX_SAFE_INTEGER;
  app.say(tableLines(HEAD, rows, { width, right: new Set([0]), style }).join('\n'));
}
