import { resolve } from 'node:path';
import type { ChannelLog } from '../../channels/channel.ts';
import { CronJobs } from '../../cron/cron-jobs.ts';
import { localZone } from '../../cron/schedule/describe-schedule.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { AgentPrompts } from '../../serve/api/agent-prompts.ts';
import type { ComposedRoot, RootRequest } from '../../serve/api/route.ts';
import { Access } from '../../serve/http/access.ts';
import { tellServer } from '../../serve/http/known-servers.ts';
import { listen } from '../../serve/http/listen.ts';
import { placementOf } from '../../serve/leading/placement.ts';
import { TreeTimelines } from '../../serve/timeline/tree-timelines.ts';
import { UsageRollUp } from '../../serve/usage/usage-roll-up.ts';
import { serversFolder } from '../../settings/folders.ts';
import { ledgerName } from '../../settings/ledger-name.ts';
import { databaseAddress } from '../../store/database-address.ts';
import type { Store } from '../../store/store.ts';
import { canAsk } from '../setup/channels-config.ts';
import { chooseModel, composeConfig, composeLimits, namedProfile } from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';
import { targetProblem } from '../setup/open-channels.ts';
import { errorText } from './resident.ts';

const HOST = '127.0.0.1';
const PORT = 4747;
/** As an address to listen on: this machine only, on the usual port or a free one. */
const LOOPBACK = 'loopback';

export interface WebServerOptions {
  readonly store: Store;
  readonly runtime: RuntimeFace;
  readonly terms: ToolsetTerms;
  readonly version: string;
  /** `HOST:PORT`, `PORT` or `loopback`; undefined: the configured one, or a free port of this machine. */
  readonly listen: string | undefined;
  readonly onEntered: () => void;
  readonly log: ChannelLog;
}

/** Where the tokens and addresses of servers are kept. */
export function serverFolder(context: Context): string {
  return serversFolder(context.data_folder);
}

/** By which the server of a ledger is found, however its address is written. */
export function servedLedger({ database }: Context): string {
  const address = databaseAddress(database);
  return address.kind === 'sqlite' ? resolve(address.path) : ledgerName(database);
}

/** The HTTP interface of `coppice serve`; resolves to what ends it. */
export async function startWebServer(
  context: Context,
  options: WebServerOptions,
): Promise<() => Promise<void>> {
  const { store, runtime, log } = options;
  const { server = {} } = context.loaded.configuration;
  const named = options.listen === LOOPBACK ? undefined : (options.listen ?? server.listen);
  const { host, port } = addressOf(named ?? `${HOST}:${PORT}`);
  const access = new Access(serverFolder(context));
  const terms = {
    access,
    version: options.version,
    hosts: server.hosts ?? [],
    tls: server.tls ?? null,
    onTrouble: (error: unknown, what: string) => log('error', `${what} failed: ${errorText(error)}`),
    sources: {
      store,
      runtime,
      jobs: new CronJobs({
        store,
        canAsk,
        default_tz: localZone(),
        checkTarget: (target) => targetProblem(context.loaded.configuration.channels ?? {}, target),
      }),
      timelines: new TreeTimelines(store),
      unled: context,
      usage: new UsageRollUp(store),
      prompts: new AgentPrompts(store),
      compose: (request: RootRequest) => composeRoot(context, options, request),
      onEntered: options.onEntered,
    },
  };
  const listening = await listen({ ...terms, host, port }).catch((error: unknown) => {
    // Several servers on one machine: only a port that somebody named must be that one.
    if (named !== undefined) throw error;
    return listen({ ...terms, host, port: 0 });
  });
  if (listening.exposed)
    log(
      'warn',
      'the token passes unencrypted over the network: set server.tls, or put a TLS proxy before it',
      {
        url: listening.url,
      },
    );
  const forget = tellServer(serverFolder(context), servedLedger(context), {
    url: listening.url,
    pid: process.pid,
  });
  log('info', `listening on ${listening.url}; open it with coppice web`, { token: access.fileOf('write') });
  return async () => {
    forget();
    await listening.close();
  };
}

function composeRoot(
  context: Context,
  { terms, store }: WebServerOptions,
  { model, profile, cwd, limits = {}, label = [], anywhere = false, ...rest }: RootRequest,
): ComposedRoot {
  const own = {
    ...context,
    options: {
      ...context.options,
      ...(model === undefined ? {} : { model }),
      ...(cwd === undefined ? {} : { cwd }),
    },
  };
  const chosen = chooseModel(own, namedProfile(terms, profile));
  return {
    config: composeConfig(own, terms, chosen, { profile, ...rest }),
    limits: composeLimits(context, limits, profile),
    placement: placementOf(store, { label, anywhere }, context.env),
  };
}

/** `HOST:PORT`, `[::1]:PORT` or `PORT`. */
export function addressOf(text: string): { readonly host: string; readonly port: number } {
  const [, host = HOST, digits = ''] = /^(?:(\[[^\]]+\]|[^:\s]+):)?(\d+)$/.exec(text.trim()) ?? [];
  const port = digits === '' ? Number.NaN : Number(digits);
  if (!(port <= 65_535))
    throw new CoppiceError('E_USAGE', `"${text}" is no address to listen on`, {
      hint: 'Give HOST:PORT or PORT, such as 127.0.0.1:4747 or 0.0.0.0:8080',
    });
  return { host: host.replace(/^\[|\]$/g, ''), port };
}
