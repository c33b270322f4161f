import type { CommandBuilder } from '../start/command-builder.ts';
import { rowCount } from '../start/option-values.ts';

const RUN = 'run id, unique prefix, or session key';

/** `coppice subagent …` */
export function addSubagentCommands({ sub, deferred }: CommandBuilder): void {
  const subagent = sub('subagent', 'Background and delegated runs: list, show, cancel, history');
  sub('list', 'List runs that are queued or running', subagent).action(
    deferred(async (context) => (await import('./subagent-list.ts')).subagentList(context)),
  );
  sub('show', 'Show one run', subagent)
    .argument('<run>', RUN)
    .action(
      deferred(async (context, run: string) =>
        (await import('./subagent-show.ts')).subagentShow(context, run),
      ),
    );
  sub('cancel', 'Stop a run and notify its requester', subagent)
    .argument('<run>', RUN)
    .action(
      deferred(async (context, run: string) =>
        (await import('./subagent-show.ts')).subagentCancel(context, run),
      ),
    );
  sub('history', 'List all runs, newest first', subagent)
    .option('--limit <n>', 'maximum rows', rowCount, 20)
    .action(
      deferred(async (context, options: { limit: number }) =>
        (await import('./subagent-list.ts')).subagentHistory(context, options),
      ),
    );
}
