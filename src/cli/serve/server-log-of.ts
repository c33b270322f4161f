import type { ChannelLog } from '../../channels/channel.ts';
import { knownProviders } from '../../models/providers.ts';
import { channelSecrets } from '../deliveries/channels-config.ts';
import type { Context } from '../setup/context.ts';
import type { LogForm, LogLevel } from './log-options.ts';
import { serverLog } from './server-log.ts';

/** The log of a server on stderr: text on a terminal, else JSON lines, unless told otherwise. */
export function serverLogOf(
  context: Context,
  options: { readonly log?: LogForm; readonly logLevel: LogLevel },
): ChannelLog {
  // A reader that leaves ends the log, not the server.
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
  const { channels = {}, providers = {} } = loaded.configuration;
  const names = [...channelSecrets(channels), ...knownProviders(providers).flatMap(({ key_env }) => key_env)];
  const values = names.map((name) => (env[name] ?? '').trim());
  const passwords = [database, env.COPPICE_LISTEN_URL ?? ''].flatMap(passwordsOf);
  return [...values, ...passwords].filter((value) => value !== '');
}

function passwordsOf(address: string): string[] {
  const url = URL.parse(address);
  if (url === null) return [];
  // Decoded by what does not throw where some of it is no code.
  const decoded = new URLSearchParams(`password=${url.password.replaceAll('+', '%2B')}`).get('password');
  return [url.password, decoded ?? '', url.searchParams.get('password') ?? ''];
}
