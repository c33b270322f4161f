import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { CoppiceClient } from '../../serve/client/client.ts';
import type { ClientOptions } from '../../serve/client/client-request.ts';
import { type Asked, ledgerClient } from '../../serve/client/ledger-client.ts';
import { rulesFile } from '../../settings/folders.ts';
import type { Store } from '../../store/store.ts';
import { hintsOf } from '../../trees/rest.ts';
import { type Context, NO_TOKEN, withStore } from './context.ts';

/** Poll interval; the maximum of a timer, because events report every change. */
const POLL_MS = 2 ** 31 - 1;
/** Error codes that may come from a route or a parameter that a server of another version does not know. */
const OF_OTHER_VERSIONS: ReadonlySet<string> = new Set(['E_NO_SUCH_PATH', 'E_INVALID_ARGUMENT']);
/** Types of events after which there may be something new to print about an agent. */
const HINTS: ReadonlySet<string> = new Set(['resync', 'agent', 'message', 'removed']);

/** Does the work with the documents of the server of `--server`, else of the ledger. */
export async function ask<T>(context: Context, work: (asked: Asked) => Promise<T>): Promise<T> {
  const { server } = context;
  if (server === null) return withStore(context, (store) => work(askLedger(context, store)));
  return withServer(context, server, (client) =>
    work({ ...client, hints: (agent) => eventHints(client, agent) }),
  );
}

/** Client for the documents of an open ledger. */
export function askLedger(context: Context, store: Store): Asked {
  return ledgerClient({ store, unled: context, rules_file: rulesFile(context.env) }, async () => {
    const { apiSources } = await import('./api-sources.ts');
    return apiSources(context, store);
  });
}

/** Does the work with a client of the server; an error that may come from another version of the server says so. */
export async function withServer<T>(
  context: Context,
  server: ClientOptions,
  work: (client: CoppiceClient) => Promise<T>,
): Promise<T> {
  const { openClient } = await import('../../serve/client/client.ts');
  const client = openClient(server);
  try {
    return await work(client);
  } catch (error) {
    throw await explained(error, context, server);
  }
}

/** Converts an error of the server to one that helps the person at the command line. */
async function explained(error: unknown, context: Context, server: ClientOptions): Promise<unknown> {
  const known = error instanceof CoppiceError;
  if (known && error.code === 'E_UNAUTHORIZED')
    return new CoppiceError(
      error.code,
      server.token === NO_TOKEN
        ? `no token for the server at ${server.url}`
        : `the server at ${server.url} does not know this token`,
      {
        hint: 'Set COPPICE_TOKEN to what coppice web --token prints on its machine',
        cause: error,
      },
    );
  if (known && !OF_OTHER_VERSIONS.has(error.code)) return error;
  const version = await versionOf(server).catch(() => context.version);
  if (version === context.version) return error;
  const what = `the server runs coppice ${version}, this program is ${context.version}`;
  return new CoppiceError('E_SERVER', known ? `${what}: ${error.message}` : what, {
    hint: 'Install the same version on both sides',
    cause: error,
  });
}

async function versionOf(server: ClientOptions): Promise<string> {
  const { sendRequest } = await import('../../serve/client/client-request.ts');
  const session = { method: 'GET', path: '/v1/session', input: {}, repeatable: true, creates: false };
  return ((await sendRequest(server, session)) as DocumentOf<'coppice/session/v1'>).version;
}

function eventHints(client: CoppiceClient, agent: string): ReturnType<Asked['hints']> {
  return hintsOf(async (wake) => {
    const ended = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const { type } of client.events({ agent, signal: ended.signal }))
        if (HINTS.has(type)) wake();
    };
    const following = follow().catch(wake);
    return async () => {
      ended.abort();
      await following;
    };
  }, POLL_MS);
}
