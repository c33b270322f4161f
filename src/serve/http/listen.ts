import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { CoppiceError } from '../../records/coppice-error.ts';
import { Metrics } from '../metrics/metrics.ts';
import { EventFeed } from '../stream/event-feed.ts';
import type { Access } from './access.ts';
import { Refreshes } from './refresh-share.ts';
import { type WebAppOptions, webApp } from './web-app.ts';

const TIMEOUTS = {
  // Keep slow senders from holding a connection.
  ...{ headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 },
  // Longer than proxies keep idle connections, which is 60 s: whoever closes first can break off a request of the other.
  keepAliveTimeout: 75_000,
};
const CONNECTIONS_MAX = 1_024;
/** Wildcard addresses, which a browser cannot open. */
const EVERYWHERE = new Set(['0.0.0.0', '::']);
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

export interface ListenOptions
  extends Pick<WebAppOptions, 'sources' | 'models' | 'mcp' | 'hooks' | 'version' | 'rate' | 'onTrouble'> {
  readonly access: Access;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Additional accepted values of `Host`, for instance behind a proxy. */
  readonly hosts: readonly string[];
  /** Paths of PEM files. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

export interface Listening {
  /** URL under which a browser reaches the server. */
  readonly url: string;
  /** Whether others can read the traffic: the server is reachable from outside, without TLS. */
  readonly exposed: boolean;
  close(): Promise<void>;
}

/** Starts listening. Rejects with `E_CONFIG` if that fails. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host, tls } = options;
  const secure = tls !== null;
  let handle: ReturnType<typeof webApp>['fetch'] = () => new Response(null, { status: 503 });
  const server = createAdaptorServer({
    fetch: (request, env) => handle(request, env),
    ...(secure
      ? {
          createServer: createTlsServer,
          serverOptions: { ...TIMEOUTS, cert: pem(tls.cert), key: pem(tls.key) },
        }
      : { createServer, serverOptions: TIMEOUTS }),
  } as Parameters<typeof createAdaptorServer>[0]);
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(unusable(host, options.port, error)));
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const local = EVERYWHERE.has(host) ? '127.0.0.1' : host;
  const shown = LOOPBACK.has(host) ? host : (options.hosts[0]?.replace(/:\d+$/, '') ?? local);
  const feed = new EventFeed(options.sources);
  options.sources.store.gone.addEventListener('abort', () => void feed.close());
  const url = `${secure ? 'https' : 'http'}://${bracketed(shown)}:${port}`;
  const refreshes = new Refreshes({ runtime: options.sources.runtime, toldAt: () => feed.told_at });
  const metrics = new Metrics({ ...options.sources, clients: () => feed.clients });
  handle = webApp({
    ...options,
    metrics,
    feed,
    refreshes,
    secure,
    url,
    cookie: `coppice_${port}`,
    proxied: options.hosts,
    hosts: [
      ...['127.0.0.1', 'localhost', '[::1]', bracketed(host)].map((name) => `${name}:${port}`),
      ...options.hosts,
    ],
  }).fetch;
  return {
    url,
    exposed: !secure && !LOOPBACK.has(host),
    close: async () => {
      metrics.close();
      refreshes.close();
      await feed.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
    },
  };
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function pem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CoppiceError('E_CONFIG', `server.tls: ${file} cannot be read: ${(error as Error).message}`);
  }
}

function unusable(host: string, port: number, error: NodeJS.ErrnoException): CoppiceError {
  const why = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message;
  return new CoppiceError('E_CONFIG', `cannot listen on ${host}:${port}: ${why}`, {
    hint: 'Choose another one with --listen HOST:PORT, or none with --no-listen',
    cause: error,
  });
}
