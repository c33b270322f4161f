import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorDocument } from '../../documents/error-json.ts';
import { CoppiceError, type ErrorCode } from '../../records/coppice-error.ts';
import { jsonIn } from '../../records/text/json-text.ts';
import type { CallOptions } from './client-types.ts';

export interface ClientOptions {
  /** Such as `http://127.0.0.1:4747`. */
  readonly url: string;
  readonly token: string;
  /** Maximum attempts of a request that fails with a retryable error; default 5. */
  readonly tries?: number;
}

/** Marks requests of our command line: hints in errors name its commands, instead of requests. */
export const COMMANDS_HEADER = 'coppice-commands';

const TRIES = 5;
const FIRST_PAUSE_MS = 200;
const PAUSE_MAX_MS = 5_000;

/** A failed attempt. */
interface Failed {
  readonly error: CoppiceError;
  /** Whether the request certainly had no effect. */
  readonly untouched: boolean;
  readonly pause_ms: number | null;
}

/** Back-off before the next attempt, in milliseconds. */
export function pauseBefore(attempt: number): number {
  return Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** attempt);
}

export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Whether the request is idempotent. */
  readonly repeatable: boolean;
  readonly creates: boolean;
}

/** Sends a request; retries if it is idempotent or certainly had no effect. Rejects with a `CoppiceError`: the server's own, `E_UNREACHABLE`, or `E_SERVER`. */
export async function sendRequest(
  client: ClientOptions,
  request: ClientRequest,
  { signal = new AbortController().signal, key = randomUUID() }: CallOptions = {},
): Promise<unknown> {
  const { tries = TRIES } = client;
  for (let attempt = 0; ; attempt += 1) {
    const answer = await attemptOf(client, request, key, signal);
    if (!('error' in answer)) return answer.document;
    const again = answer.error.retryable && (request.repeatable || answer.untouched);
    if (!again || attempt + 1 >= tries || signal.aborted) throw answer.error;
    await sleep(answer.pause_ms ?? pauseBefore(attempt), undefined, { signal });
  }
}

async function attemptOf(
  client: ClientOptions,
  { method, path, input, creates }: ClientRequest,
  key: string,
  signal: AbortSignal,
): Promise<{ readonly document: unknown } | Failed> {
  const in_query = method === 'GET';
  try {
    const response = await fetch(`${base(client)}${path}${in_query ? queryOf(input) : ''}`, {
      method,
      headers: {
        authorization: `Bearer ${client.token}`,
        [COMMANDS_HEADER]: 'true',
        ...(in_query ? {} : { 'content-type': 'application/json' }),
        ...(creates ? { 'idempotency-key': key } : {}),
      },
      ...(in_query ? {} : { body: JSON.stringify(input) }),
      signal,
    });
    const document = jsonIn(await response.text()) ?? null;
    if (response.ok && document !== null) return { document };
    const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      error: errorOf(document, response.status),
      untouched: response.status === 429,
      pause_ms: wait > 0 ? wait * 1_000 : null,
    };
  } catch (error) {
    return { error: unreachable(client, error), untouched: false, pause_ms: null };
  }
}

export function base({ url }: ClientOptions): string {
  return url.replace(/\/+$/, '');
}

export function queryOf(input: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(input).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

export function unreachable(client: ClientOptions, cause: unknown): CoppiceError {
  const { cause: inner } = cause as {
    readonly cause?: { readonly message?: string; readonly code?: string };
  };
  const why = inner?.message || inner?.code || (cause as Error).message;
  return new CoppiceError('E_UNREACHABLE', `the server at ${base(client)} is unreachable: ${why}`, {
    hint: 'Start it there, with coppice serve, or correct the address.',
    retryable: true,
    cause,
  });
}

/** Error of a `coppice/error/v1` document; `E_SERVER` for any other answer, such as a proxy's. */
export function errorOf(document: unknown, status: number): CoppiceError {
  const { error } = (document ?? {}) as { readonly error?: ErrorDocument };
  if (typeof error?.code !== 'string')
    return new CoppiceError('E_SERVER', `the response (${status}) did not come from coppice serve`, {
      hint: 'Is the address right, and does a proxy let requests pass?',
      retryable: status >= 500,
    });
  const { code, message, hint, retryable } = error;
  return new CoppiceError(code as ErrorCode, message, {
    ...(hint === null ? {} : { hint }),
    retryable: retryable || status === 503 || status === 429,
  });
}
