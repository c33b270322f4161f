import { deniedIn, deniedLine } from '../../records/agent/denied.ts';
import { taskCells } from '../../records/run/listed-task.ts';
import { agentTree, lastMoment } from '../../render/agent-tree.ts';
import { clean } from '../../render/clean.ts';
import { paint } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import { deletedUse, summary, waitLines } from '../../render/tree-summary.ts';
import { unledText } from '../../trees/leaders/unled-reason.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { findRoot } from './find-agent.ts';

/** `coppice tree [ID]`: prints a whole tree; by default the newest one. */
export async function tree(context: Context, text: string | undefined): Promise<number> {
  const document = await ask(context, async (asked) => asked.tree(await findRoot(context, asked, text)));
  const { agents, root_id, title, outcome } = document;
  const now = Date.now();
  const unled = agents.find((agent) => agent.unled !== null)?.unled ?? null;
  const began = Math.min(...agents.map(({ started_at }) => Date.parse(started_at)));
  const rests = agents.map(({ state, ended_at, updated_at }) =>
    lastMoment(state, Date.parse(ended_at ?? updated_at), now),
  );
  const size = { width: context.width, height: Number.POSITIVE_INFINITY };
  const footer = summary(agents, began, Math.max(...rests), {
    deleted: deletedUse(document.tree, agents),
    led: unled === null,
  });
  const waits = waitLines(agents, now);
  const denied = clean(deniedLine(deniedIn(...agents.map(({ deeds }) => deeds?.denied))) ?? '');
  // Nothing is said twice: these lines say the same, and what can be done.
  const saysMore = outcome !== 'unled' && (waits.length === 0 || !/^w(orking|aiting_for_you)$/.test(outcome));
  return printResult(context, document, () => [
    paint(context.out, 'bold', `${root_id.slice(0, 8)}  ${title}`),
    ...agentTree(agents, size, now, context.out),
    footer,
    ...(saysMore ? [context.hint(clean(document.outcome_text))] : []),
    ...(denied === '' || (saysMore && clean(document.outcome_text).includes(denied)) ? [] : [denied]),
    ...waits.map(context.hint),
    ...(unled === null ? [] : [`unled: ${unledText(unled)}`]),
  ]);
}

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
