import { type Command, Option } from 'commander';

/** Levels from the least to the most important. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMS = ['json', 'text'] as const;
export type LogForm = (typeof LOG_FORMS)[number];

/** Time that turns in progress have to end when a server stops, in seconds. */
export const SERVE_DRAIN_S = 10;

export interface LogOptions {
  readonly log?: LogForm;
  readonly logLevel: LogLevel;
}

export function addLogOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--log <form>',
        'format of the log on stderr; default: text on a terminal, otherwise json',
      ).choices(LOG_FORMS),
    )
    .addOption(
      new Option('--log-level <level>', 'minimum level that is logged').choices(LOG_LEVELS).default('info'),
    );
}
