import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { connect as secureConnect } from 'node:tls';
import { AllowedHosts, type Destination } from './allowed-hosts.ts';

/** Address at which sandboxed programs find the proxy. */
const PORT = 3128;
const PROXY = `http://127.0.0.1:${PORT}`;
const AROUND = 'localhost,127.0.0.1,::1';

/** Maximum concurrent connections: they use file descriptors of this process. */
const CONNECTIONS = 1000;

/** Environment variables by which programs find the proxy, a sandbox's only way out. */
export const PROXY_ENVIRONMENT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [
      [name, PROXY],
      [name.toLowerCase(), PROXY],
    ]),
  ),
  NO_PROXY: AROUND,
  no_proxy: AROUND,
  NODE_USE_ENV_PROXY: '1',
};

/**
 * Forwards the proxy's port within a sandbox to the proxy's socket, and the ports of allowed servers on this machine, for which programs use no proxy. Runs
 * in the sandbox's network but outside its other restrictions, and exits when its input ends.
 */
const BRIDGE = `
const [path, ...servers] = process.argv.slice(1), net = require('node:net');
const join = (inner, greeting) => {
  const outer = net.connect(path);
  for (const one of [inner, outer]) one.on('error', () => { inner.destroy(); outer.destroy(); });
  if (greeting === '') return inner.pipe(outer).pipe(inner);
  outer.write(greeting);
  let head = Buffer.alloc(0);
  outer.on('data', function read(chunk) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\\r\\n\\r\\n');
    if (end === -1) return;
    outer.off('data', read);
    if (!head.toString('latin1').startsWith('HTTP/1.1 200')) return inner.destroy();
    inner.write(head.subarray(end + 4));
    inner.pipe(outer).pipe(inner);
  });
};
for (const server of servers)
  net.createServer((inner) => join(inner, 'CONNECT ' + server + ' HTTP/1.1\\r\\nHost: ' + server + '\\r\\n\\r\\n'))
    .on('error', () => {}).listen(server.split(':')[1], server.replace('localhost', '127.0.0.1').split(':')[0]);
net.createServer((inner) => join(inner, '')).listen(${PORT}, '127.0.0.1', () => process.stdout.write('ready'));
process.stdin.on('end', () => process.exit()).resume();`;

/** A server on this machine, with its port. */
const LOCAL_SERVER = /^(?:localhost|127(?:\.\d+){3}):\d+$/;

/**
 * An HTTP proxy through which sandboxed programs reach the allowed hosts: it listens on a socket to which the network of each sandbox is joined. It decides
 * by host name, and connects to an address that it has resolved and checked itself.
 */
export class HostProxy {
  readonly #hosts: AllowedHosts;
  readonly #local_servers: readonly string[];
  #socket: Promise<string> | undefined;

  constructor(hosts: readonly string[]) {
    this.#hosts = new AllowedHosts(hosts);
    this.#local_servers = hosts.filter((host) => LOCAL_SERVER.test(host));
  }

  /** Joins the sandbox whose first process is `pid`. Resolves to the bridge process once its programs can use the proxy, or to null if that failed. */
  async join(pid: number): Promise<ChildProcess | null> {
    this.#socket ??= this.#listen().catch((error: unknown) => {
      this.#socket = undefined;
      throw error;
    });
    const path = await this.#socket;
    const bridge = spawn(
      'nsenter',
      [
        ...['--target', String(pid), '--user', '--net', '--preserve-credentials'],
        process.execPath,
        '-e',
        BRIDGE,
        path,
        ...this.#local_servers,
      ],
      { stdio: ['pipe', 'pipe', 'ignore'], env: {} },
    );
    return new Promise((resolve) => {
      bridge.on('error', () => resolve(null));
      bridge.on('exit', () => resolve(null));
      bridge.stdin.on('error', () => {});
      bridge.stdout.once('data', () => resolve(bridge));
    });
  }

  async #listen(): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'coppice-proxy-'));
    chmodSync(folder, 0o700);
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'socket');
    const server = createServer((asked, answer) => {
      // A request or answer that cannot be passed on must not end this process.
      this.#pass(asked, answer).catch(() => answer.destroy());
    });
    server.maxConnections = CONNECTIONS;
    server.on('connect', (asked: IncomingMessage, inner: Duplex, head: Buffer) => {
      this.#tunnel(asked, inner, head).catch(() => inner.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    server.unref();
    return path;
  }

  /** Handles `CONNECT host:port`: forwards bytes both ways. */
  async #tunnel(asked: IncomingMessage, inner: Duplex, head: Buffer): Promise<void> {
    inner.on('error', () => {});
    const to = destinationOf(`http://${asked.url}`);
    const { address, proxy, why } = await this.#resolve(to, 'https:');
    if (to === null || address === null) return void inner.end(`HTTP/1.1 403 Forbidden\r\n\r\n${why}\n`);
    const connected = () => inner.write('HTTP/1.1 200 Connected\r\n\r\n');
    const outer = proxy === null ? connect(to.port, address, connected) : tunnelFrom(proxy, to);
    outer.on('error', () => inner.destroy());
    inner.on('close', () => outer.destroy());
    outer.write(head);
    inner.pipe(outer).pipe(inner);
  }

  /** Forwards a request with an absolute URL, without TLS. */
  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const to = destinationOf(asked.url ?? '');
    const { address, proxy, why } = await this.#resolve(to, 'http:');
    if (to === null || address === null) return void answer.writeHead(403).end(`${why}\n`);
    const { host, pathname, search } = new URL(asked.url ?? '');
    const { 'proxy-authorization': _, 'proxy-connection': __, upgrade: ___, ...others } = asked.headers;
    // Some servers route by this header, which the client could set to a host that is not allowed.
    const headers = { ...others, host };
    const agent = proxy === null ? undefined : new Agent({ proxyEnv: { http_proxy: proxy.href } });
    const passed = request(
      { host: address, port: to.port, method: asked.method, path: pathname + search, headers, agent },
      (found) => {
        try {
          answer.writeHead(found.statusCode ?? 502, found.headers);
          found.pipe(answer);
        } catch {
          passed.destroy();
          answer.destroy();
        }
      },
    );
    passed.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
    // The upgrade header was removed above, so no upgrade was requested.
    passed.on('upgrade', (_found, socket) => {
      socket.destroy();
      answer.writeHead(502).end();
    });
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  }

  /** `address` is null where a program may not go. A proxy of the environment is given the name, which perhaps only it can resolve. */
  async #resolve(to: Destination | null, protocol: string) {
    if (to === null) return { address: null, proxy: null, why: 'the sandbox allows only HTTP and HTTPS' };
    // Imported once a program needs it.
    const { proxyFor } = await import('./proxies.ts');
    const proxy = await proxyFor(new URL(`${protocol}//${to.host}:${to.port}`));
    try {
      const found = await this.#hosts.resolve(to);
      const why = `the sandbox does not allow ${to.host}:${to.port}`;
      return { address: proxy !== null && found !== null ? to.host : found, proxy, why };
    } catch {
      const address = proxy === null ? null : to.host;
      return { address, proxy, why: `the host ${to.host} cannot be resolved` };
    }
  }
}

/** A connection to a proxy of the environment that was asked for a tunnel; its answer is for the program. */
function tunnelFrom({ protocol, hostname, port, username, password }: URL, to: Destination): Socket {
  const login = Buffer.from(decodeURIComponent(`${username}:${password}`)).toString('base64');
  const asked = `CONNECT ${to.host}:${to.port} HTTP/1.1\r\nHost: ${to.host}:${to.port}\r\n`;
  const host = hostname.replace(/^\[|\]$/g, '');
  const outer =
    protocol === 'https:'
      ? secureConnect({ host, port: Number(port || 443), servername: host })
      : connect(Number(port || 80), host);
  outer.write(`${asked}${username === '' ? '' : `Proxy-Authorization: Basic ${login}\r\n`}\r\n`);
  return outer;
}

function destinationOf(text: string): Destination | null {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'http:' || url.hostname === '') return null;
  return { host: url.hostname, port: Number(url.port || 80) };
}
