import { type Command, Option } from 'commander';
import { seconds } from '../option-values.ts';
import type { ProgramPart } from '../program-part.ts';
import { LOG_FORMS, LOG_LEVELS } from './log-options.ts';
import type { ServeOptions } from './serve.ts';

const DRAIN_S = 10;

/** `coppice serve` */
export function addServeCommand({ sub, choose }: ProgramPart): void {
  logOptions(sub('serve', 'Run scheduled tasks, deliver results, listen on channels; until it is stopped'))
    .option('--drain <seconds>', 'what turns under way get when it is stopped', seconds, DRAIN_S)
    .action(
      choose(
        (options: ServeOptions) => async (context) => (await import('./serve.ts')).serve(context, options),
        { begins: true },
      ),
    );
}

/** What every server logs by. */
export function logOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--log <form>', 'of the log on stderr; default: text on a terminal, else json').choices(
        LOG_FORMS,
      ),
    )
    .addOption(
      new Option('--log-level <level>', 'the least that is logged').choices(LOG_LEVELS).default('info'),
    );
}
