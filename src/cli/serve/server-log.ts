import { pino } from 'pino';
import type { ChannelLog } from '../../channels/channel.ts';
import { knownProviders } from '../../models/providers.ts';
import { hideSecrets } from '../../records/text/hide-secrets.ts';
import { clean } from '../../render/clean.ts';
import { channelSecrets } from '../setup/channels-config.ts';
import type { Context } from '../setup/context.ts';
import { LOG_LEVELS, type LogForm, type LogLevel, type LogOptions } from './log-options.ts';

export interface ServerLogOptions {
  readonly level: LogLevel;
  readonly form: LogForm;
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[];
  readonly write: (line: string) => void;
}

const HIDDEN = '[secret]';

/** The log of a server, a line for each entry: JSON for programs or plain text for people. */
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
    const more = Object.entries(fields).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : (JSON.stringify(value) ?? '')}`,
    );
    write(`${time} ${level.padEnd(5)} ${clean([text, ...more].join('  '))}\n`);
  };
}

/** Log of a server on stderr, by default as text on a terminal and as JSON lines otherwise. */
export function serverLogOf(context: Context, options: LogOptions): ChannelLog {
  // A reader that closes standard error ends the log, not the server.
  process.stderr.removeAllListeners('error').on('error', () => undefined);
  return serverLog({
    level: options.logLevel,
    form: options.log ?? (process.stderr.isTTY ? 'text' : 'json'),
    secrets: secretsOf(context),
    write: (line) => void process.stderr.write(line),
  });
}

/** Values that must not reach a log: tokens of channels, keys of providers, the password of the database. */
function secretsOf({ loaded, env, database }: Context): string[] {
  const { channels = {}, hooks = {}, providers = {} } = loaded.configuration;
  const names = [
    ...channelSecrets(channels),
    ...Object.values(hooks).map(({ secretEnv }) => secretEnv),
    ...knownProviders(providers).flatMap(({ key_env }) => key_env),
  ];
  const values = names.map((name) => (env[name] ?? '').trim());
  const passwords = [database, env.COPPICE_LISTEN_URL ?? ''].flatMap(passwordsOf);
  return [...values, ...passwords].filter((value) => value !== '');
}

function passwordsOf(address: string): string[] {
  const url = URL.parse(address);
  if (url === null) return [];
  // Not decodeURIComponent: it throws for a malformed escape.
  const decoded = new URLSearchParams(`password=${url.password.replaceAll('+', '%2B')}`).get('password');
  return [url.password, decoded ?? '', url.searchParams.get('password') ?? ''];
}
