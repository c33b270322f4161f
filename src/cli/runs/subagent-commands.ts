import type { Command } from 'commander';
import { countOf } from '../option-values.ts';
import type { ProgramPart } from '../program-part.ts';

/** `coppice subagent …` */
export function addSubagentCommands({ sub, choose }: ProgramPart): void {
  const subagent = sub('subagent', 'Background and delegated runs: list, show, cancel, history');
  const runs = (name: string, description: string): Command => sub(name, description, subagent);
  runs('list', 'Runs that are queued or at work').action(
    choose(() => async (context) => (await import('./subagent-list.ts')).subagentList(context)),
  );
  runs('show', 'Show one run')
    .argument('<run>', 'run id, unique prefix, or session key')
    .action(
      choose(
        (id: string) => async (context) => (await import('./subagent-show.ts')).subagentShow(context, id),
      ),
    );
  runs('cancel', 'Stop a run; whoever asked for it is told')
    .argument('<run>', 'run id, unique prefix, or session key')
    .action(
      choose(
        (id: string) => async (context) => (await import('./subagent-cancel.ts')).subagentCancel(context, id),
      ),
    );
  runs('history', 'All runs, newest first')
    .option('--limit <n>', 'at most so many', countOf, 20)
    .action(
      choose(
        (options: { limit: number }) => async (context) =>
          (await import('./subagent-history.ts')).subagentHistory(context, options),
      ),
    );
}
