import type { ChannelLog } from '../../channels/channel.ts';
import { knownProviders } from '../../models/providers.ts';
import { channelSecrets } from '../channels-config.ts';
import type { Context } from '../context.ts';
import type { LogForm, LogLevel } from './log-options.ts';
import { serverLog } from './server-log.ts';

/** The log of a server on stderr: text on a terminal, else JSON lines, unless told otherwise. */
export function serverLogOf(
  context: Context,
  options: { readonly log?: LogForm; readonly logLevel: LogLevel },
): ChannelLog {
  return serverLog({
    level: options.logLevel,
    form: options.log ?? (process.stderr.isTTY ? 'text' : 'json'),
    secrets: secretsOf(context),
    write: (line) => void process.stderr.write(line),
  });
}

/** Values that must not reach a log: tokens of channels, keys of providers, the password of the database. */
function secretsOf({ loaded, env, database }: Context): string[] {
  const { channels = {}, providers = {} } = loaded.configuration;
  const names = [...channelSecrets(channels), ...knownProviders(providers).flatMap(({ key_env }) => key_env)];
  const values = names.map((name) => (env[name] ?? '').trim());
  return [...values, ...passwordOf(database)].filter((value) => value !== '');
}

function passwordOf(database: string): string[] {
  const password = URL.parse(database)?.password ?? '';
  return password === '' ? [] : [password, decodeURIComponent(password)];
}
