import { timeSpan } from '../option-values.ts';
import type { ProgramPart } from '../program-part.ts';
import type { GcOptions } from './gc.ts';

/** The age of what is removed, without `--older-than`. */
const DEFAULT_AGE = '30d';

/** `coppice gc` */
export function addGcCommand({ sub, choose }: ProgramPart): void {
  sub('gc', 'Remove what is old: conversations that ended, deliveries that arrived, instants of schedules')
    .option(
      '--older-than <time>',
      `nothing happened for so long, e.g. 12h, 30d (default: "${DEFAULT_AGE}")`,
      timeSpan,
      timeSpan(DEFAULT_AGE),
    )
    .option('--idle', 'conversations that rest, too')
    .option('--runs', 'rows of the run history, too')
    .option('--dry-run', 'only say what would be removed')
    .option('--archive <file>', 'keep it all in a new file of JSON lines; NAME.gz: compressed')
    .action(
      choose((options: GcOptions) => async (context) => (await import('./gc.ts')).gc(context, options)),
    );
}
