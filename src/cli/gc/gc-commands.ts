import type { CommandBuilder } from '../start/command-builder.ts';
import { timeSpan } from '../start/option-values.ts';

/** Default of `--older-than`. */
const DEFAULT_AGE = '30d';

/** `coppice gc` */
export function addGcCommand({ sub, imported }: CommandBuilder): void {
  sub('gc', 'Remove old data: ended conversations, sent deliveries, past instants of schedules, worktrees')
    .option(
      '--older-than <time>',
      `time since the last change, e.g. 12h, 30d (default: "${DEFAULT_AGE}")`,
      timeSpan,
      timeSpan(DEFAULT_AGE),
    )
    .option('--idle', 'also idle conversations')
    .option('--runs', 'also rows of the run history')
    .option('--dry-run', 'only print what would be removed')
    .option('--archive <file>', 'save what is removed to a new file of JSON lines; NAME.gz: compressed')
    .action(imported(async () => (await import('./gc.ts')).gc, { local: true }));
}
