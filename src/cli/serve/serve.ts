import { resolve } from 'node:path';
import { killAllProcessGroups } from '../../processes/process-group.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { openChannels } from '../deliveries/open-channels.ts';
import { chooseModel } from '../run/choose-model.ts';
import { composeConfig, composeLimits, composeRuntime, composeTerms } from '../setup/compose.ts';
import type { Context } from '../setup/context.ts';
import { workerLabels } from '../worker/worker-labels.ts';
import type { LogForm, LogLevel } from './log-options.ts';
import { mayAsk } from './may-ask.ts';
import { openPatiently } from './open-patiently.ts';
import { Server, type ServerOptions } from './server.ts';
import { serverLogOf } from './server-log-of.ts';
import { stopSignal } from './stop-signal.ts';

export interface ServeOptions {
  readonly log?: LogForm;
  readonly logLevel: LogLevel;
  /** Seconds. */
  readonly drain: number;
}

/** `coppice serve`: runs until it is told to stop. */
export async function serve(context: Context, options: ServeOptions): Promise<number> {
  const { configuration, file } = context.loaded;
  const log = serverLogOf(context, options);
  const stop = stopSignal(log);
  // A reader that leaves ends the channel, not the server.
  process.stdout.removeAllListeners('error').on('error', () => undefined);
  const channels = openChannels(configuration.channels ?? {}, context.env, log);
  const terms = composeTerms(context);
  const session = sessions(context, terms);
  for (const { name } of channels.inbound) session(name);
  const labels = workerLabels([], context.env);
  const store = await openPatiently(context, stop, log);
  if (store === null) return 0;
  const runtime = await composeRuntime(context, store, terms, {
    role: 'serve',
    labels,
    can_ask: mayAsk,
  });
  try {
    // A chat that could not be answered must not be found out by its first message.
    for (const { name } of channels.inbound) await runtime.checked(session(name).config);
  } catch (error) {
    await runtime.close();
    await store.close();
    throw error;
  }
  const server = new Server({
    store,
    runtime,
    channels,
    session,
    log,
    labels,
    drain_ms: options.drain * 1_000,
  });
  server.start();
  log('info', 'coppice serves', {
    ledger: store.location,
    configuration: file,
    channels: channels.all.map(({ name }) => name),
    worker: runtime.worker_id,
    jobs: (await store.jobs()).filter(({ enabled }) => enabled).length,
  });
  await stop;
  await server.stop();
  await runtime.close();
  killAllProcessGroups();
  await store.close();
  log('info', 'stopped; nothing is lost');
  return 0;
}

/** What the chats of a channel begin with: its own profile, model and folder, else the defaults. */
function sessions(context: Context, terms: ReturnType<typeof composeTerms>): ServerOptions['session'] {
  const { telegram } = context.loaded.configuration.channels ?? {};
  const of: Readonly<Record<string, typeof telegram>> = { telegram };
  return (channel) => {
    const { profile, model, cwd } = of[channel] ?? {};
    if (profile !== undefined && !terms.profiles.has(profile))
      throw new CoppiceError('E_CONFIG', `channels.${channel}: no profile called "${profile}"`, {
        hint: `Profiles: ${[...terms.profiles.keys()].join(', ')}`,
      });
    const own = {
      ...context,
      options: {
        ...context.options,
        ...(model === undefined ? {} : { model }),
        cwd: cwd ?? resolve(context.options.cwd ?? '.'),
      },
    };
    const of_profile = profile === undefined ? null : (terms.profiles.get(profile)?.model ?? null);
    const nothing = { allow: [], deny: [], yes: false };
    const config = composeConfig(own, terms, chooseModel(own, of_profile), nothing, {
      ...(profile === undefined ? {} : { profile }),
    });
    return { config, limits: composeLimits(context, {}, profile) };
  };
}
