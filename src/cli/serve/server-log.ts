import { pino } from 'pino';
import type { ChannelLog } from '../../channels/channel.ts';
import { hideSecrets } from '../../records/text/hide-secrets.ts';
import { clean } from '../../render/clean.ts';
import { LOG_LEVELS, type LogForm, type LogLevel } from './log-options.ts';

export interface ServerLogOptions {
  readonly level: LogLevel;
  readonly form: LogForm;
  /** Values that must never stand in a log, whoever wrote the line. */
  readonly secrets: readonly string[];
  readonly write: (line: string) => void;
}

const HIDDEN = '[secret]';

/** The log of a server: one line each, JSON for programs or plain text for people. */
export function serverLog(options: ServerLogOptions): ChannelLog {
  const write = (line: string) => options.write(hideSecrets(line, options.secrets, HIDDEN));
  if (options.form === 'text') return textLog(options.level, write);
  const logger = pino(
    {
      level: options.level,
      base: { pid: process.pid },
      messageKey: 'text',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  return (level, text, fields) => logger[level](fields ?? {}, text);
}

function textLog(least: LogLevel, write: (line: string) => void): ChannelLog {
  return (level, text, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
    const time = new Date().toTimeString().slice(0, 8);
    const more = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`);
    write(`${time} ${level.padEnd(5)} ${clean([text, ...more].join('  '))}\n`);
  };
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
