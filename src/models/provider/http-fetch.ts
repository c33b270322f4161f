import { existsSync } from 'node:fs';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { failedProxy, proxyOptions, unusedProxy } from '../../processes/hosts/proxies.ts';
import { foreignEncoding, unpacked } from '../../processes/hosts/unpacked.ts';
import { given } from '../../records/text/json-fields.ts';
import type { ModelRequest } from '../model.ts';

/** Media type of errors that come with a good status, and of whole completions. */
export const JSON_TYPE = 'application/json';

/** Maximum length of an event, which is kept in memory until it ends; real ones are far smaller. */
export const EVENT_MAX = 16_000_000;
/** Maximum bytes read of a body that is no stream, such as an error. */
const TEXT_BYTES = 4 * 1024 * 1024;

/** The connection failed, broke off, or fell silent; never carries a header or a key. */
export class ConnectionError extends Error {
  /** `unreached`: nothing was sent, since there is no network, or nobody listens. */
  readonly reason: 'unreached' | 'connect' | 'broken' | 'idle';

  constructor(reason: ConnectionError['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ConnectionError';
    this.reason = reason;
  }
}

const UNREACHED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETDOWN|ENETUNREACH|EHOSTDOWN|EHOSTUNREACH)$/;

const UNTRUSTED = /^(?:DEPTH_ZERO_)?SELF_SIGNED|^UNABLE_TO_(?:GET_ISSUER|VERIFY)/;

/** What the code of a failed connection means for whoever set it up. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    UNTRUSTED,
    'its certificate is not trusted: name a file with that of its authority in NODE_EXTRA_CA_CERTS',
  ],
  [/^CERT_|^ERR_TLS_CERT/, 'its certificate is not valid, or not for this host'],
  [/^EPROTO$/, 'it does not speak TLS there: is its address http://…?'],
  [/^HPE_HEADER_OVERFLOW$/, 'the headers of its answer are too large'],
  [/^HPE_/, 'it does not speak HTTP there: is its address https://…, or another port?'],
  [/^ERR_PROXY_TUNNEL$/, 'the proxy in HTTPS_PROXY refused'],
];

/** No connection to this host. */
export function unconnected(host: string | null | undefined, code = '', cause?: unknown): ConnectionError {
  const reason = UNREACHED.test(code) ? 'unreached' : 'connect';
  const status = Object(cause).statusCode;
  const which = code === '' ? '' : ` (${code}${status === undefined ? '' : ` ${status}`})`;
  const unused = unusedProxy();
  const proxy = failedProxy(cause, host ?? '');
  const own = process.env.NODE_EXTRA_CA_CERTS;
  const advice = [
    ADVICE.find(([codes]) => codes.test(code))?.[1],
    own && UNTRUSTED.test(code)
      ? `now that is ${own}, which ${existsSync(own) ? 'does not have it' : 'is not there'}`
      : undefined,
    proxy === null ? undefined : `its proxy ${proxy} (HTTPS_PROXY, HTTP_PROXY) does not answer`,
    unused === null ? undefined : `${unused} is not used: it is not the address of an HTTP proxy`,
  ].flatMap((one) => (one === undefined ? [] : `; ${one}`));
  return new ConnectionError(reason, `cannot reach ${host}${which}${advice.join('')}`, cause);
}

/** An answer that would be the same at the next try: too long, or of another protocol. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
}

const options = { keepAlive: true, maxFreeSockets: 1_024, ...proxyOptions() };
const http = new HttpAgent(options);
const https = new HttpsAgent(options);

export interface HttpText {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Gets a short text, such as a list of models; of a huge one only the beginning. Silence for `idle_ms` is an error. */
export function getText(
  url: string,
  headers: Readonly<Record<string, string>>,
  { signal, idle_ms }: { readonly signal: AbortSignal; readonly idle_ms: number },
): Promise<HttpText> {
  const call = { method: 'GET', headers, body: [], signal, idle_ms };
  return sendHttp(httpAddress(url), call, async (answer) => {
    const text = await readBody(unpacked(answer));
    return { status: answer.statusCode ?? 0, type: typeOf(answer), text };
  });
}

/** Only the fields needed, because `node:http` copies them four times per request. `hostname` is for the connection, `host` for messages. */
export function httpAddress(url: string): RequestOptions {
  const target = new URL(url);
  const { protocol, hostname, port, path, auth } = urlToHttpOptions(target);
  const plain = protocol === 'http:';
  return {
    ...{ protocol, hostname, path, host: target.host },
    ...given({ port, auth }),
    // Needed only for TLS; otherwise Node derives it from the `Host` header on every request.
    ...(plain ? { servername: '' } : {}),
  };
}

export interface HttpCall {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body in pieces, in order. */
  readonly body: readonly (string | Buffer)[];
  readonly signal: AbortSignal | undefined;
  readonly idle_ms: number;
  readonly onHeaders?: ModelRequest['onHeaders'] | undefined;
}

/**
 * Resolves with what `take` returns; it must start reading the body immediately. Rejects with a `ConnectionError` or the reason of the abort; either
 * can also end the body early as its `error` (see `bodyFault`).
 */
export function sendHttp<T>(
  address: RequestOptions,
  call: HttpCall,
  take: (answer: IncomingMessage) => T | Promise<T>,
): Promise<T> {
  const { method, headers, body, signal, idle_ms, onHeaders } = call;
  return new Promise((resolve, reject) => {
    const { host, protocol } = address;
    const secure = protocol === 'https:';
    if (signal?.aborted) return reject(signal.reason);
    let answer: IncomingMessage | null = null;
    const options: RequestOptions = {
      ...address,
      method,
      headers: {
        ...headers,
        'content-length': body.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0),
      },
      agent: secure ? https : http,
    };
    const request = (secure ? httpsRequest : httpRequest)(options, (response) => {
      answer = response;
      response.once('close', release);
      onHeaders?.(response.statusCode ?? 0, response.headers);
      resolve(take(response));
    });
    const end = (why: Error) => {
      answer?.destroy(why);
      request.destroy(why);
    };
    const abort = () =>
      end(signal?.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError'));
    let is_over = false;
    const late = () => {
      const { socket } = request;
      const read = socket?.bytesRead;
      // After a sleep of the machine, timers come before what has arrived.
      setImmediate(() => {
        if (is_over) return;
        if (socket?.bytesRead !== read) return void socket?.once('timeout', late);
        end(new ConnectionError('idle', `no answer from ${host} within ${Math.round(idle_ms / 1000)} s`));
      });
    };
    const release = () => {
      is_over = true;
      signal?.removeEventListener('abort', abort);
      request.socket?.off('timeout', late);
    };
    signal?.addEventListener('abort', abort, { once: true });
    request.setTimeout(idle_ms, late);
    request.on('error', (error: NodeJS.ErrnoException) => {
      release();
      if (signal?.aborted || error instanceof ConnectionError) return reject(error);
      // A server may close a kept connection in the moment in which it is used again.
      if (request.reusedSocket && answer === null && error.code === 'ECONNRESET')
        return resolve(sendHttp(address, call, take));
      reject(unconnected(host, error.code, error));
    });
    // A single piece is sent in one write together with the headers.
    for (const piece of body.slice(0, -1)) request.write(piece);
    request.end(body.at(-1));
  });
}

/** Converts the error of a body that ended early. */
export function bodyFault(error: Error): Error {
  if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') return error;
  return new ConnectionError('broken', 'the connection broke off in the middle of the answer', error);
}

export function plainHeaders(headers: RequestInit['headers']): Record<string, string> {
  if (headers === undefined) return {};
  if (headers instanceof Headers || Array.isArray(headers))
    return Object.fromEntries(headers as Iterable<[string, string]>);
  return headers as Record<string, string>;
}

/** Repeated headers are joined. */
export function headersOf(answer: IncomingMessage): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return headers;
}

/** Without a name, a password and a query, which may be secret. Only for an error: parsing an address costs as much as reading an event. */
export function publicAddress(url: string): string {
  if (!URL.canParse(url)) return 'its address';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** Why an answer is not the stream of events that was requested; null if it may be one, because some servers do not name the type, or is an error by its status. */
export function foreignAnswer(answer: IncomingMessage, url: string): UnusableAnswer | null {
  const status = answer.statusCode ?? 0;
  const { location } = answer.headers;
  const place = () => publicAddress(url);
  if (status >= 300 && status < 400 && location !== undefined)
    return new UnusableAnswer(
      `${status}: ${place()} redirects to ${location}, which is not followed: set baseURL to the new address`,
    );
  if (status >= 300) return null;
  const encoding = foreignEncoding(answer);
  if (encoding !== null)
    return new UnusableAnswer(`${place()} answered in the encoding ${encoding}, which cannot be read`);
  const type = typeOf(answer);
  if (type !== 'text/html' && type !== JSON_TYPE) return null;
  return new UnusableAnswer(
    `${place()} answered with ${type} instead of a stream of events: it is not the address of this API, or cannot stream`,
  );
}

/** Media type of an answer, without its parameters; empty if it names none. */
export function typeOf({ headers }: IncomingMessage): string {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Reads a whole body; of a huge one only the beginning. */
export async function readBody(answer: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > TEXT_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
