import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { PrefixSplice } from './prefix-splice.ts';

/** The connection failed, broke off, or fell silent; never carries a header or a key. */
export class ConnectionError extends Error {
  readonly reason: 'connect' | 'broken' | 'idle';

  constructor(reason: ConnectionError['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ConnectionError';
    this.reason = reason;
  }
}

const http = new HttpAgent({ keepAlive: true, maxFreeSockets: 64 });
const https = new HttpsAgent({ keepAlive: true, maxFreeSockets: 64 });

/**
 * A `fetch` for the provider packages on `node:http` with kept connections: a fraction of the CPU of the global one per
 * call. Supports what those packages use: POST with a text body, headers, a signal, a streamed answer. Nothing within
 * `idle_ms` milliseconds, before or in the middle of the answer, is an error of reason `idle`. `splice` puts shared prefixes in place of their marks.
 */
export function createHttpFetch(idle_ms: number, splice?: PrefixSplice): typeof fetch {
  return (input, init) => {
    const body = typeof init?.body === 'string' ? init.body : '';
    const pieces = splice === undefined ? [body] : splice.splice(body);
    if (pieces === null) return Promise.reject(new SpliceError());
    return send(String(input), init ?? {}, pieces, idle_ms);
  };
}

/** The package wrote a mark in a shape that was not expected; nothing was sent. */
export class SpliceError extends Error {
  override readonly name = 'SpliceError';
}

function send(
  url: string,
  init: RequestInit,
  pieces: readonly (string | Buffer)[],
  idle_ms: number,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const target = new URL(url);
    const secure = target.protocol === 'https:';
    const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
    const headers = { ...plainHeaders(init.headers), 'content-length': length };
    const signal = init.signal ?? undefined;
    if (signal?.aborted) return reject(signal.reason);
    let answer: IncomingMessage | null = null;
    const options = { method: init.method ?? 'POST', headers, agent: secure ? https : http };
    const request = (secure ? httpsRequest : httpRequest)(target, options, (response) => {
      answer = response;
      resolve(responseOf(response, release));
    });
    const abort = () => {
      const reason =
        signal?.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError');
      if (answer !== null) answer.destroy(reason);
      request.destroy(reason);
    };
    const release = () => signal?.removeEventListener('abort', abort);
    signal?.addEventListener('abort', abort, { once: true });
    request.setTimeout(idle_ms, () => {
      const silent = new ConnectionError(
        'idle',
        `no answer from ${target.host} within ${Math.round(idle_ms / 1000)} s`,
      );
      if (answer !== null) answer.destroy(silent);
      request.destroy(silent);
    });
    request.on('error', (error) => {
      release();
      reject(signal?.aborted || error instanceof ConnectionError ? error : connectError(target, error));
    });
    for (const piece of pieces) request.write(piece);
    request.end();
  });
}

function connectError(target: URL, error: Error): ConnectionError {
  const code = (error as NodeJS.ErrnoException).code;
  return new ConnectionError(
    'connect',
    `cannot reach ${target.host}${code === undefined ? '' : ` (${code})`}`,
    error,
  );
}

function plainHeaders(headers: RequestInit['headers']): Record<string, string> {
  if (headers === undefined) return {};
  if (headers instanceof Headers || Array.isArray(headers))
    return Object.fromEntries(headers as Iterable<[string, string]>);
  return headers as Record<string, string>;
}

/** As much of a `Response` as the provider packages touch; building a real one costs more than the request. */
function responseOf(answer: IncomingMessage, release: () => void): Response {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const status = answer.statusCode ?? 0;
  const body = bodyOf(answer, release);
  const text = async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  };
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText: answer.statusMessage ?? '',
    headers,
    body,
    text,
    json: async () => JSON.parse(await text()),
  } as unknown as Response;
}

function bodyOf(answer: IncomingMessage, release: () => void): ReadableStream<Uint8Array> {
  let done = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (error: unknown) => {
          if (done) return;
          done = true;
          release();
          controller.error(error);
        };
        answer.on('data', (chunk: Buffer) => {
          if (done) return;
          controller.enqueue(chunk);
          if ((controller.desiredSize ?? 1) <= 0) answer.pause();
        });
        answer.on('end', () => {
          if (done) return;
          done = true;
          release();
          controller.close();
        });
        answer.on('aborted', () =>
          fail(new ConnectionError('broken', 'the connection broke off in the middle of the answer')),
        );
        answer.on('error', (error) => fail(error));
      },
      pull() {
        answer.resume();
      },
      cancel() {
        done = true;
        release();
        answer.destroy();
      },
    },
    { highWaterMark: 16 },
  );
}
