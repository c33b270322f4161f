import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { AllowedHosts, type Destination } from './allowed-hosts.ts';

/** Where sandboxed programs find the proxy. */
const PORT = 3128;
const PROXY = `http://127.0.0.1:${PORT}`;
const AROUND = 'localhost,127.0.0.1,::1';

/** Maximum at once: they hold descriptors of this process. */
const CONNECTIONS = 1000;

/** What programs look for; a sandbox has no other way out. */
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
 * Joins the port within a sandbox to the socket of the proxy, and to servers of this machine that are allowed the ports that they have here: programs
 * ask no proxy for those. It runs in the sandbox's network and outside its other walls, and ends with its input.
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

/** A server of this machine, by its port. */
const LOCAL_SERVER = /^(?:localhost|127(?:\.\d+){3}):\d+$/;

/**
 * The way of sandboxed programs to the hosts that are allowed: an HTTP proxy on a socket, which the network of each sandbox is joined to. It decides
 * by name, and connects to an address that it has looked up and judged itself.
 */
export class HostProxy {
  readonly #hosts: AllowedHosts;
  readonly #local_servers: readonly string[];
  #socket: Promise<string> | undefined;

  constructor(hosts: readonly string[]) {
    this.#hosts = new AllowedHosts(hosts);
    this.#local_servers = hosts.filter((host) => LOCAL_SERVER.test(host));
  }

  /** Resolves when programs of the sandbox that process `pid` is the first of can use it. Null: it could not be joined. */
  async join(pid: number): Promise<ChildProcess | null> {
    this.#socket ??= this.#listen();
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
      void this.#tunnel(asked, inner, head);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    server.unref();
    return path;
  }

  /** `CONNECT host:port`: bytes both ways. */
  async #tunnel(asked: IncomingMessage, inner: Duplex, head: Buffer): Promise<void> {
    inner.on('error', () => {});
    const to = destinationOf(`http://${asked.url}`);
    const { address, why } = await this.#resolve(to);
    if (to === null || address === null) return void inner.end(`HTTP/1.1 403 Forbidden\r\n\r\n${why}\n`);
    const outer: Socket = connect(to.port, address, () => inner.write('HTTP/1.1 200 Connected\r\n\r\n'));
    outer.on('error', () => inner.destroy());
    inner.on('close', () => outer.destroy());
    outer.write(head);
    inner.pipe(outer).pipe(inner);
  }

  /** A request for a whole address, without TLS. */
  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const to = destinationOf(asked.url ?? '');
    const { address, why } = await this.#resolve(to);
    if (to === null || address === null) return void answer.writeHead(403).end(`${why}\n`);
    const { host, pathname, search } = new URL(asked.url ?? '');
    const { 'proxy-authorization': _, 'proxy-connection': __, upgrade: ___, ...others } = asked.headers;
    // Some servers answer for the host that is named in the header, which may be one that is not allowed.
    const headers = { ...others, host };
    const passed = request(
      { host: address, port: to.port, method: asked.method, path: pathname + search, headers },
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
    // Nobody asked for another protocol.
    passed.on('upgrade', (_found, socket) => {
      socket.destroy();
      answer.writeHead(502).end();
    });
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  }

  async #resolve(to: Destination | null): Promise<{ address: string | null; why: string }> {
    if (to === null) return { address: null, why: 'the sandbox passes HTTP and HTTPS only' };
    try {
      const why = `the sandbox does not allow ${to.host}:${to.port}`;
      return { address: await this.#hosts.resolve(to), why };
    } catch {
      return { address: null, why: `${to.host} is not known` };
    }
  }
}

function destinationOf(text: string): Destination | null {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'http:' || url.hostname === '') return null;
  return { host: url.hostname, port: Number(url.port || 80) };
}
