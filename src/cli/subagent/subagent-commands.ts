import type { CommandBuilder } from '../start/command-builder.ts';
import { rowCount } from '../start/option-values.ts';

const RUN = 'run id, unique prefix, or session key';

/** `coppice subagent …` */
export function addSubagentCommands({ sub, imported }: CommandBuilder): void {
  const subagent = sub('subagent', 'Background and delegated runs: list, show, cancel, history');
  sub('list', 'List runs that are queued or running', subagent).action(
    imported(async () => (await import('./subagent-list.ts')).subagentList),
  );
  sub('show', 'Show one run', subagent)
    .argument('<run>', RUN)
    .action(imported(async () => (await import('./subagent-show.ts')).subagentShow));
  sub('cancel', 'Stop a run and notify its requester', subagent)
    .argument('<run>', RUN)
    .action(imported(async () => (await import('./subagent-show.ts')).subagentCancel));
  sub('history', 'List all runs, newest first', subagent)
    .option('--limit <n>', 'maximum rows', rowCount, 20)
    .action(imported(async () => (await import('./subagent-list.ts')).subagentHistory));
}
