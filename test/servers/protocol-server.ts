import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Answerer, Exchange, Fault, SeenMessage } from './brain.ts';

/** One provider's wire protocol: how to read a request, what it refuses, how an answer is streamed. */
export interface Protocol {
  readonly accepts: (path: string) => boolean;
  readonly read: (body: Record<string, unknown>) => {
    readonly system: string;
    readonly messages: readonly SeenMessage[];
  };
  /** The real server's reason for a 400; null when the request is valid. */
  readonly refuse: (body: Record<string, unknown>, messages: readonly SeenMessage[]) => string | null;
  /** Server-sent events, each a complete block. */
  readonly events: (answer: Answer, body: Record<string, unknown>) => readonly string[];
  readonly error: (status: number, message: string) => unknown;
}

export interface ProtocolServer {
  readonly url: string;
  readonly exchanges: readonly Exchange[];
  /** Number of requests whose connection the client closed before the answer was complete. */
  readonly aborted: () => number;
  /** Ends all connections; nobody listens any more. */
  close(): Promise<void>;
  /** Listens again, at the same address. */
  reopen(): Promise<void>;
}

export interface ProtocolServerOptions {
  readonly answer: Answerer;
  /** Whether exchanges are kept; false for long runs. */
  readonly record?: boolean;
  /** The models listed at `/models`; if absent, there is no list. */
  readonly models?: readonly string[];
  /** Whether a request with these headers is answered; otherwise it is refused with 401. */
  readonly admits?: (headers: Exchange['headers']) => boolean;
}

export async function startProtocolServer(
  protocol: Protocol,
  options: ProtocolServerOptions,
): Promise<ProtocolServer> {
  const exchanges: Exchange[] = [];
  let count = 0;
  let aborted = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString('utf8');
    const refuse = (
      status: number,
      message: string,
      headers: Record<string, string> = {},
      told: unknown = protocol.error(status, message),
    ) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof told === 'string' ? told : JSON.stringify(told));
    };
    if (options.admits?.(request.headers) === false) return refuse(401, 'invalid key');
    if (request.url?.endsWith('/models') && options.models !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: options.models.map((id) => ({ id })) }));
      return;
    }
    if (!protocol.accepts(request.url ?? '')) return refuse(404, `no such path: ${request.url}`);
    const body = JSON.parse(raw) as Record<string, unknown>;
    const { system, messages } = protocol.read(body);
    const refused = protocol.refuse(body, messages);
    const exchange: Exchange = {
      index: count,
      path: request.url ?? '',
      headers: request.headers,
      raw,
      body,
      system,
      messages,
      refused,
    };
    count += 1;
    if (options.record !== false) exchanges.push(exchange);
    if (refused !== null) return refuse(400, refused);
    const answer = await options.answer(exchange);
    if (answer.delay_ms !== undefined) await sleep(answer.delay_ms);
    const { fault } = answer;
    if (fault !== undefined && 'status' in fault)
      return refuse(fault.status, fault.message ?? 'fault', fault.headers, fault.body);
    response.on('close', () => {
      if (!response.writableFinished) aborted += 1;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    stream(response, protocol.events(answer, body), fault);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    exchanges,
    aborted: () => aborted,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
    reopen: () => listen(port),
  };
}

function stream(
  response: import('node:http').ServerResponse,
  events: readonly string[],
  fault: Fault | undefined,
): void {
  if (fault === undefined) {
    response.end(events.join(''));
    return;
  }
  if ('malformed_at' in fault) {
    response.end(
      events.map((event, index) => (index === fault.malformed_at ? 'data: {"broken\n\n' : event)).join(''),
    );
    return;
  }
  if ('cut_after' in fault) {
    response.write(events.slice(0, fault.cut_after).join(''), () =>
      setTimeout(() => response.socket?.destroy(), 5),
    );
    return;
  }
  if ('stall_after' in fault) response.write(events.slice(0, fault.stall_after).join('') || ': waiting\n\n');
}
