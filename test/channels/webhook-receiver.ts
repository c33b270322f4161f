import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookReceiver {
  readonly url: string;
  /** Requests whose body arrived whole, in order. */
  readonly requests: readonly Received[];
  /** Answers the next request with `answer` instead of a 204. */
  answerNext(answer: (response: ServerResponse, request: Received) => void): void;
  /** Number of connections that are open now. */
  readonly connections: () => number;
  close(): Promise<void>;
}

/** A real HTTP server that accepts every POST. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const requests: Received[] = [];
  const answers: ((response: ServerResponse, request: Received) => void)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { method = '', url: path = '', headers } = request;
    const received = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') };
    requests.push(received);
    const answer = answers.shift();
    if (answer === undefined) response.writeHead(204).end();
    else answer(response, received);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answerNext: (answer) => answers.push(answer),
    connections: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
