import { resolve } from 'node:path';
import type { ChannelLog } from '../../channels/channel.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import type { McpHandler } from '../../mcp/serve-http.ts';
import { CoppiceError, errorText } from '../../records/coppice-error.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import type { ApiSources } from '../../serve/api/route.ts';
import { Hooks } from '../../serve/hooks/hooks.ts';
import { Access } from '../../serve/http/access.ts';
import { listen } from '../../serve/http/listen.ts';
import { publishServer } from '../../serve/http/server-file.ts';
import { serversFolder } from '../../settings/folders.ts';
import type { Store } from '../../store/store.ts';
import { sourcesOf } from '../setup/api-sources.ts';
import { canAsk } from '../setup/channels-config.ts';
import { modelChoices } from '../setup/choose-model.ts';
import type { Context } from '../setup/context.ts';
import { secretOf, targetProblem } from '../setup/open-channels.ts';
import { withoutRepeats } from './long-running.ts';
import { servedLedger } from './sign-in-link.ts';

const HOST = '127.0.0.1';
/** Maximum wait of an MCP call: many clients time out after a minute. */
const MCP_WAIT_MS = 45_000;
const PORT = 4747;
/** Value of `listen` for this machine only, on the usual port or a free one. */
const LOOPBACK = 'loopback';

export interface WebServerOptions {
  readonly store: Store;
  readonly runtime: RuntimeFace;
  readonly terms: ToolsetTerms;
  /** `HOST:PORT`, `PORT` or `loopback`; undefined for the configured address, else the usual port of this machine or a free one. */
  readonly listen: string | undefined;
  readonly onEntered: () => void;
  readonly log: ChannelLog;
}

/** Starts the HTTP interface of `coppice serve`; resolves to a function that stops it. */
export async function startWebServer(
  context: Context,
  options: WebServerOptions,
): Promise<() => Promise<void>> {
  const { store, runtime, log } = options;
  const { server = {} } = context.loaded.configuration;
  const named = options.listen === LOOPBACK ? undefined : (options.listen ?? server.listen);
  const { host, port } = addressOf(named ?? `${HOST}:${PORT}`);
  const access = new Access(serversFolder(context.data_folder));
  const sources = sourcesOf(context, {
    store,
    runtime,
    terms: async () => options.terms,
    onEntered: options.onEntered,
  });
  const hooks = openHooks(context, sources, log);
  await hooks.check();
  let mcp: Promise<McpHandler> | undefined;
  const terms = {
    access,
    version: context.version,
    hosts: server.hosts ?? [],
    tls: server.tls ?? null,
    onTrouble: (error: unknown, what: string) => log('error', `${what} failed: ${errorText(error)}`),
    sources,
    hooks,
    models: new Set(modelChoices(context, options.terms).map(({ name }) => name)),
    mcp: () => {
      mcp ??= openMcp(context, sources, options.terms);
      return mcp;
    },
  };
  const listening = await listen({ ...terms, host, port }).catch((error: unknown) => {
    // Several servers may run on one machine: a free port will do unless one was named.
    if (named !== undefined) throw error;
    return listen({ ...terms, host, port: 0 });
  });
  if (listening.exposed)
    log(
      'warn',
      'the token passes unencrypted over the network: set server.tls, or put a TLS proxy in front of it',
      {
        url: listening.url,
      },
    );
  const forget = publishServer(serversFolder(context.data_folder), servedLedger(context), {
    url: listening.url,
    pid: process.pid,
  });
  log('info', `listening on ${listening.url}; open it with coppice web`, { token: access.fileOf('write') });
  return async () => {
    forget();
    await (await mcp)?.close();
    await listening.close();
  };
}

/** Webhooks of the configuration. Throws `E_CONFIG` for one whose secret is not set, or whose results could not be delivered. */
function openHooks({ loaded, env }: Context, sources: ApiSources, log: ChannelLog): Hooks {
  const { hooks = {}, channels = {} } = loaded.configuration;
  for (const [name, { deliver = [] }] of Object.entries(hooks))
    for (const target of deliver) {
      const problem = targetProblem(channels, target);
      if (problem !== null) throw new CoppiceError('E_CONFIG', `hooks.${name}: "${target}": ${problem}`);
    }
  const open = Object.entries(hooks).map(([name, hook]) => [
    name,
    { ...hook, secret: secretOf(env, hook.secretEnv, `hooks.${name}`) },
  ]);
  return new Hooks({ ...sources, hooks: Object.fromEntries(open), canAsk, log: withoutRepeats(log) });
}

/** Agent programs that connect over MCP work in the folder of the server. */
async function openMcp(context: Context, sources: ApiSources, terms: ToolsetTerms): Promise<McpHandler> {
  const { mcpHandler } = await import('../../mcp/serve-http.ts');
  return mcpHandler({
    ...sources,
    terms,
    version: context.version,
    cwd: resolve(context.options.cwd ?? '.'),
    lasting: true,
    env: context.env,
    wait_ms: MCP_WAIT_MS,
  });
}

/** Parses `HOST:PORT`, `[::1]:PORT` or `PORT`. Throws `E_USAGE`. */
export function addressOf(text: string): { readonly host: string; readonly port: number } {
  const [, host = HOST, digits = ''] = /^(?:(\[[^\]]+\]|[^:\s]+):)?(\d+)$/.exec(text.trim()) ?? [];
  const port = digits === '' ? Number.NaN : Number(digits);
  if (!(port <= 65_535))
    throw new CoppiceError('E_USAGE', `"${text}" is not a valid address to listen on`, {
      hint: 'Give HOST:PORT or PORT, such as 127.0.0.1:4747 or 0.0.0.0:8080',
    });
  return { host: host.replace(/^\[|\]$/g, ''), port };
}
