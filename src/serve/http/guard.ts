import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { CoppiceError, orElse } from '../../records/coppice-error.ts';
import { keepNewest } from '../../records/kept-in.ts';
import type { Scope } from '../api/route.ts';
import type { Access } from './access.ts';

/** Facts about a request that the guard establishes. */
export interface Guarded {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    /** What the token or the session may do now; null: it was replaced. */
    scope: () => Scope | null;
    by: 'token' | 'session';
  };
}

export interface GuardOptions {
  readonly access: Access;
  /** Accepted values of `Host`, exact, such as `127.0.0.1:4747`. */
  readonly hosts: readonly string[];
  /** Those of them where a proxy may add TLS; default none. */
  readonly proxied?: readonly string[];
  readonly secure: boolean;
  readonly cookie: string;
  readonly rate?: Pick<RateLimit, 'take'>;
}

/** Paths that need no token, because they reveal nothing about the ledger. */
const OPEN = new Set(['/healthz', '/readyz', '/login', '/favicon.ico']);
/** Pages of the dashboard. They, and the description of the API, need no token either: their data comes from the API. */
export const PAGES = [
  'trees',
  'agents',
  'approvals',
  'schedules',
  'deliveries',
  'workers',
  'usage',
  'workflows',
  'search',
  'compare',
  'phone',
] as const;
const OPEN_PAGE = new RegExp(`^/(?:assets/.*|v1/openapi\\.json)?$|^/(?:${PAGES.join('|')})(?:/|$)`);
/** Deliveries to webhooks prove who sent them by their signatures. */
const SIGNED = /^\/v1\/hooks\/[^/]+$/;
/** Header with the key of a session, which only the page of this server has. */
const KEY = 'coppice-key';
/** Cookies of the same name that are tried. Another port may have set some for narrower paths, which browsers send before that of this server. */
const COOKIES_MAX = 16;
/** How often requests under way are checked for a token that was replaced. */
const RECHECK_MS = 500;
/** Allows only scripts, styles and connections of this server, and no framing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/**
 * Checks each request before any routing: the exact `Host` (against DNS rebinding) and `Origin`, then the rate, then the token or the session. A session's
 * writes must come from this server's own page, according to the browser's `Origin` and `Sec-Fetch-Site`. Nothing is sent after the token was replaced.
 */
export function guard(options: GuardOptions): MiddlewareHandler<Guarded> {
  const { access, cookie, rate = new RateLimit() } = options;
  const hosts = new Set(options.hosts.map((host) => host.toLowerCase()));
  const own = [...hosts].map((host) => `${options.secure ? 'https' : 'http'}://${host}`);
  const origins = new Set([
    ...own,
    ...(options.proxied ?? []).map((host) => `https://${host.toLowerCase()}`),
  ]);
  return async (context, next) => {
    for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
    const { req } = context;
    if (!hosts.has(hostOf(context)))
      throw forbidden('requests for that Host are refused', 'Add it to server.hosts of the configuration');
    const origin = req.header('origin');
    if (origin !== undefined && !origins.has(origin.toLowerCase()))
      throw forbidden('requests from that Origin are refused', 'Use the page that this server serves itself');
    const wait = rate.take(context.env.incoming.socket.remoteAddress ?? '');
    if (wait > 0) {
      context.header('Retry-After', String(wait));
      throw new CoppiceError('E_TOO_MANY_REQUESTS', 'too many requests in a short time', { retryable: true });
    }
    const reads = req.method === 'GET' || req.method === 'HEAD';
    if (OPEN.has(req.path) || SIGNED.test(req.path) || (reads && OPEN_PAGE.test(req.path))) return next();
    const scopeNow = () => tokenScope(context, access) ?? sessionScope(context, access, cookie, origin);
    if (scopeNow() === null) throw unauthorized();
    context.set('scope', scopeNow);
    const { outgoing } = context.env;
    const isOver = () => orElse(scopeNow, null) === null;
    const recheck = setInterval(() => isOver() && outgoing.destroy(), RECHECK_MS).unref();
    outgoing.once('close', () => clearInterval(recheck));
    await next();
    if (isOver()) throw unauthorized();
    const { res } = context;
    if (!res.headers.get('content-type')?.startsWith('text/event-stream')) return;
    const gate = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, out) => (isOver() ? out.terminate() : out.enqueue(chunk)),
    });
    context.res = new Response(res.body?.pipeThrough(gate) ?? null, res);
  };
}

function tokenScope(context: Context<Guarded>, access: Access): Scope | null {
  const [kind, token] = (context.req.header('authorization') ?? '').split(' ');
  if (kind?.toLowerCase() !== 'bearer' || token === undefined) return null;
  context.set('by', 'token');
  return access.scopeOf(token);
}

function sessionScope(
  context: Context<Guarded>,
  access: Access,
  cookie: string,
  origin: string | undefined,
): Scope | null {
  const { req } = context;
  const key = req.header(KEY);
  if (key === undefined) return null;
  const scope = (req.header('cookie') ?? '')
    .split(';')
    .flatMap((pair) => (pair.trim().startsWith(`${cookie}=`) ? [pair.trim().slice(cookie.length + 1)] : []))
    .slice(-COOKIES_MAX)
    .map((one) => access.scopeOfSession({ cookie: one, key }, hostOf(context)))
    .find((one) => one !== null);
  if (scope === undefined) return null;
  const site = req.header('sec-fetch-site');
  const reads = req.method === 'GET' || req.method === 'HEAD';
  if (!reads && (origin === undefined || (site !== undefined && site !== 'same-origin')))
    throw forbidden('a browser may write from the page of this server only', 'Programs use the token');
  context.set('by', 'session');
  return scope;
}

/** The name under which the browser reaches this server; sessions hold at that name only. */
export function hostOf({ req }: Context<Guarded>): string {
  return (req.header('host') ?? '').toLowerCase();
}

function unauthorized(): CoppiceError {
  return new CoppiceError('E_UNAUTHORIZED', 'a valid token is needed', {
    hint: 'Authorization: Bearer …, with the token of this server (coppice web --token); in a browser: coppice web',
  });
}

export function forbidden(message: string, hint: string): CoppiceError {
  return new CoppiceError('E_FORBIDDEN', message, { hint });
}

/** Capacity of a bucket in requests, and how many it regains per second. */
const BURST = 400;
const PER_SECOND = 200;
const CLIENTS_MAX = 10_000;

/** A token bucket for each client. */
export class RateLimit {
  readonly #now: () => number;
  readonly #buckets = new Map<string, { left: number; at: number }>();
  readonly #burst: number;
  readonly #per_second: number;

  constructor(now: () => number = () => performance.now(), burst = BURST, per_second = PER_SECOND) {
    this.#now = now;
    this.#burst = burst;
    this.#per_second = per_second;
  }

  /** Takes one request from the client's bucket. Returns 0 if it is allowed, otherwise the seconds until the next one is. */
  take(client: string): number {
    const now = this.#now();
    const { left, at } = this.#buckets.get(client) ?? { left: this.#burst, at: now };
    const there = Math.min(this.#burst, left + ((now - at) / 1_000) * this.#per_second);
    // Evicts the client that has been silent for longest.
    keepNewest(this.#buckets, client, { left: Math.max(0, there - 1), at: now }, CLIENTS_MAX);
    return there >= 1 ? 0 : Math.ceil((1 - there) / this.#per_second);
  }
}
