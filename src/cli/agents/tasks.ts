import { taskCells } from '../../records/run/listed-task.ts';
import { clean } from '../../render/clean.ts';
import { tableLines } from '../../render/table.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { findRoot } from './find-agent.ts';

const HEAD = ['TASK', 'STATE', 'AGENT', 'WHAT'] as const;

/** `coppice tasks [ID]`: the task list that the agents of a tree share. */
export async function tasks(context: Context, text: string | undefined): Promise<number> {
  const document = await ask(context, async (asked) => asked.tasks(await findRoot(context, asked, text)));
  const rows = document.tasks.map((task) => taskCells(task).map(clean));
  return printResult(context, document, () =>
    rows.length === 0
      ? ['no tasks: agents with the toolset tasks add them (--toolset tasks)']
      : tableLines(HEAD, rows, { width: context.width, right: new Set([0]), style: context.out }),
  );
}
