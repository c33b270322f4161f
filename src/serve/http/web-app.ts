import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { compress } from 'hono/compress';
import { deleteCookie, setCookie } from 'hono/cookie';
import { routePath } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type ErrorDocument, errorJson } from '../../documents/error-json.ts';
import { isoTime } from '../../documents/iso-time.ts';
import { SCRIPTED } from '../../kernel/toolsets/acts/task-options.ts';
import type { McpHandler } from '../../mcp/serve-http.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { fieldsOf, itemsOf } from '../../records/text/json-fields.ts';
import { unlessAborted } from '../../records/unless-aborted.ts';
import { nearestName } from '../../render/nearest-name.ts';
import { StoreError } from '../../store/store-error.ts';
import { derivedId } from '../../trees/derived-id.ts';
import { ROUTES } from '../api/all-routes.ts';
import { callRoute, checked, invalid } from '../api/call-route.ts';
import { HOOK_ROUTE, type HookReceiver } from '../api/hook-route.ts';
import { openApi } from '../api/openapi.ts';
import type { ApiSources, Method, Route } from '../api/route.ts';
import { CALLS } from '../client/client.ts';
import { COMMANDS_HEADER } from '../client/client-request.ts';
import { EXPOSITION_TYPE } from '../metrics/exposition.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { readPages } from '../pages/built-pages.ts';
import { EXPORT_CALL, EXPORT_ROUTE, exportFile } from '../pages/export-route.ts';
import type { EventFeed } from '../stream/event-feed.ts';
import { EVENT_ROUTE, openEvents } from '../stream/event-route.ts';
import { forbidden, type Guarded, type GuardOptions, guard, hostOf, PAGES } from './guard.ts';
import type { Refreshes } from './refresh-share.ts';

const BODY_MAX = 2_000_000;
/** Timeout of readiness checks and metrics, for a ledger that does not answer. */
const READY_MS = 2_000;
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const satisfies readonly Method[];
const PAGE_PATHS = ['/', '/login', ...PAGES.flatMap((page) => [`/${page}`, `/${page}/*`])];
/** Headers that keep proxies from buffering events. */
const STREAM_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };

export interface WebAppOptions extends GuardOptions {
  readonly sources: ApiSources;
  /** Models that the server was started or configured with: requests may name no other scripted ones. Default: none. */
  readonly models?: ReadonlySet<string>;
  readonly metrics: Metrics;
  readonly feed: EventFeed;
  readonly refreshes: Refreshes;
  /** Serves agent programs over MCP; loaded lazily, at the first request. */
  readonly mcp: () => Promise<McpHandler>;
  /** Takes deliveries to webhooks. */
  readonly hooks?: HookReceiver;
  readonly version: string;
  /** URL under which a person's browser reaches this server. */
  readonly url: string;
  /** Called with internal errors (status 500). */
  readonly onTrouble: (error: unknown, what: string) => void;
}

/** The HTTP interface of the server: guard, API, sign-in, health. */
export function webApp(options: WebAppOptions): Hono<Guarded> {
  const { sources, feed, metrics, access, cookie, secure, version, url } = options;
  const app = new Hono<Guarded>();
  const pages = readPages();
  const pageOr = (context: Context, status: 200 | 404) => {
    const file = pages?.get('index.html');
    if (file === undefined)
      return context.text(
        'The dashboard was not built: npm run build:web, then start the server again.\n',
        503,
      );
    // Relative, so that a proxy can serve this server below a path of its own.
    const assets = `${'../'.repeat(context.req.path.split('/').length - 2)}assets/`;
    return context.body(file.body.replaceAll('/assets/', assets), status, { 'Content-Type': file.type });
  };
  // A person who follows a dead link gets the page that says so; it reveals nothing.
  const isAstray = ({ req }: Context) =>
    req.header('sec-fetch-mode') === 'navigate' &&
    !/^\/(?:v1|mcp)(?:\/|$)/.test(req.path) &&
    methodsOf(app, req.path).length === 0;
  app.onError((error, context) => {
    // A person who has signed in, or one at our command line, reads of commands.
    const sends = context.get('by') === 'token' && context.req.header(COMMANDS_HEADER) === undefined;
    const { status, document } = errorAnswer(error, sends);
    if (status === 500 && !hasLeft(error))
      options.onTrouble(error, `${context.req.method} ${context.req.path}`);
    if (status === 401 && isAstray(context)) return pageOr(context, 404);
    if (status === 401) context.header('WWW-Authenticate', 'Bearer realm="coppice"');
    return context.json(document, status);
  });
  const described = [...ROUTES, EVENT_ROUTE, EXPORT_ROUTE, HOOK_ROUTE];
  app.notFound((context) => {
    const { method, path } = context.req;
    const methods = methodsOf(app, path);
    const lacks = methods.length > 0 && !methods.includes(method);
    if (lacks) context.header('Allow', [...methods, 'OPTIONS'].join(', '));
    if (lacks && method === 'OPTIONS') return context.body(null, 204);
    const message = lacks ? `this path has no ${method}` : 'there is no such path';
    const near = methods.length > 0 ? null : nearestPath(path, described);
    const hint = `${near === null ? '' : `Did you mean ${near}? `}See /v1/openapi.json`;
    const { status, document } = errorAnswer(new CoppiceError('E_NO_SUCH_PATH', message, { hint }));
    return context.json(document, lacks ? 405 : status);
  });
  app.use(async (context, next) => {
    await next();
    // A request that matches no route has the pattern of this handler.
    const pattern = routePath(context, -1);
    metrics.countRequest(pattern === '/*' ? 'none' : pattern, context.req.method, context.res.status);
  });
  app.use(guard(options));
  const limit = bodyLimit({
    maxSize: BODY_MAX,
    onError: (context) => {
      // The rest of the body is not read, so nothing can follow on this connection.
      context.header('Connection', 'close');
      throw new CoppiceError('E_TOO_LARGE', `the body is larger than ${BODY_MAX / 1_000_000} MB`);
    },
  });
  // GET is exempt: checking for a body costs as much as a small answer.
  app.use((context, next) => (context.req.method === 'GET' ? next() : limit(context, next)));

  app.get('/assets/:file', (context) => {
    const file = pages?.get(context.req.param('file'));
    if (file === undefined) return context.notFound();
    return context.body(file.body, 200, { 'Content-Type': file.type });
  });
  for (const path of PAGE_PATHS) app.get(path, (context) => pageOr(context, 200));

  app.get('/favicon.ico', (context) => context.body(null, 204));
  app.get('/healthz', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) => {
    await within(READY_MS, sources.store.now());
    return context.text('ready\n');
  });
  app.get('/metrics', async (context) => {
    const text = await within(READY_MS, metrics.text());
    return context.text(text, 200, { 'Content-Type': EXPOSITION_TYPE });
  });

  // The code comes in a header, so that nobody without a token can make the server wait for a body.
  app.post('/login', (context) => {
    const signed = access.redeem(context.req.header('coppice-code') ?? '', hostOf(context));
    if (signed === null)
      throw new CoppiceError('E_UNAUTHORIZED', 'this link was used already, or is older than a minute', {
        hint: 'Make a new one: coppice web',
      });
    setCookie(context, cookie, signed.cookie, {
      path: '/',
      httpOnly: true,
      sameSite: 'Strict',
      secure,
      maxAge: signed.seconds,
    });
    return context.json({ schema: 'coppice/signed-in/v1', key: signed.key });
  });
  app.post('/v1/login-links', (context) => {
    if (context.get('by') !== 'token')
      throw forbidden('only a token can make login links', 'coppice web makes one');
    const scope = context.req.query('scope') === 'read' ? 'read' : (context.get('scope')() ?? 'read');
    const { code, until } = access.newCode(scope);
    return context.json({
      schema: 'coppice/login-link/v1',
      // A fragment stays in the browser: no log has it, and no preview of the link uses it up.
      url: `${url}/login#${code}`,
      scope,
      expires_at: isoTime(until),
    });
  });
  app.post('/v1/logout', (context) => {
    deleteCookie(context, cookie, { path: '/' });
    return context.json({ schema: 'coppice/logged-out/v1' });
  });
  app.get('/v1/session', async (context) =>
    context.json({
      schema: 'coppice/session/v1',
      scope: context.get('scope')(),
      version,
      models: [...(options.models ?? [])],
      // A file that cannot be read fails whoever names its profile, not every page.
      profiles: [...(await sources.profiles().catch(() => new Map<string, unknown>())).keys()],
    }),
  );

  // Compression shrinks columns of numbers to a quarter. A local browser gains nothing, and this process needs its CPU time for agents.
  const shrink = compress();
  app.use('/v1/trees/:tree/timeline', (context, next) => (isLocal(context) ? next() : shrink(context, next)));
  const document = openApi(described, version, url, { ...CALLS, exportTree: EXPORT_CALL });
  app.get('/v1/openapi.json', (context) => context.json(document));
  app.get(EVENT_ROUTE.path, async (context) => {
    const { req } = context;
    const query = checked(EVENT_ROUTE.query, req.query(), 'query');
    // Nobody would end a stream that is not read.
    if (req.method === 'HEAD') return context.body(null, 200, STREAM_HEADERS);
    const body = await openEvents(sources, feed, query as never, req.header('last-event-id'));
    return context.body(body, 200, STREAM_HEADERS);
  });
  app.get(EXPORT_ROUTE.path, async (context) => {
    const { req } = context;
    const query = checked(EXPORT_ROUTE.query, req.query(), 'query');
    const { headers, body } = await exportFile(sources, version, req.param('tree'), query as never);
    if (req.method !== 'HEAD') return context.body(body, 200, headers);
    await body.cancel();
    return context.body(null, 200, headers);
  });
  app.post(HOOK_ROUTE.path, async ({ req, json }) => {
    const name = req.param('name');
    if (options.hooks === undefined) throw new CoppiceError('E_HOOK_NOT_FOUND', `there is no hook "${name}"`);
    const body = Buffer.from(await req.arrayBuffer());
    const header = (one: string) => req.header(one);
    const received = await options.hooks.receive(name, { header, body, names: Object.keys(req.header()) });
    feed.wake();
    return json({ schema: HOOK_ROUTE.answer, ...received }, 202);
  });
  for (const path of ['/mcp', '/mcp/:name'])
    app.all(path, async (context) => {
      await assertWrites(context);
      return (await options.mcp()).fetch(context.req.raw, await context.req.text());
    });
  for (const route of ROUTES)
    app.on(route.method, route.path, async (context) => {
      if (route.watched === true && isRefresh(context)) return refresh(route, context, options);
      const response = await serve(route, context, options);
      if (route.scope === 'write') feed.wake();
      return response;
    });
  return app;
}

/** Methods of a path besides `OPTIONS`; none if there is no such path. */
function methodsOf({ router }: Hono<Guarded>, path: string): readonly string[] {
  return METHODS.filter((method) =>
    router.match(method, path)[0].some(([[, route]]) => route.method === method),
  ).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** A path of the API that is like one that it does not have: it ends with the same word, or is two letters away; with its method if another path ends so. */
function nearestPath(
  path: string,
  routes: readonly { readonly method: string; readonly path: string }[],
): string | null {
  const given = path.replace(/\/+$/, '').split('/');
  const alike = routes
    .map((route) => ({ ...route, parts: route.path.split('/') }))
    .filter(({ parts }) => parts.length === given.length)
    .map(({ method, parts }) => ({
      path: parts.map((part, at) => (part.startsWith(':') ? given[at] : part)).join('/'),
      called: parts.length > 4 && parts.at(-1) === given.at(-1) ? method : null,
    }));
  const same = alike.find(({ called }) => called !== null);
  if (same !== undefined) return `${same.called} ${same.path}`;
  return nearestName(path, new Set(alike.map((one) => one.path)), 2);
}

/** Whether the client accepts a stale answer, which means that it reloads one it already has (docs/http-api.md, "Refreshing"). */
function isRefresh({ req }: Context<Guarded>): boolean {
  return /\bmax-stale\b/.test(req.header('cache-control') ?? '');
}

/** Responds with the answer, or with 204 and `Retry-After`. */
async function refresh(route: Route, context: Context<Guarded>, options: WebAppOptions): Promise<Response> {
  const { req } = context;
  const { pathname, search } = new URL(req.url);
  const answer = await options.refreshes.answer(`${pathname}${search}`, async (as_of) =>
    JSON.stringify(await answerOf(route, context, options, as_of)),
  );
  if (typeof answer === 'string') return context.body(answer, 200, { 'Content-Type': 'application/json' });
  return context.body(null, 204, { 'Retry-After': String(Math.ceil(answer / 1_000)) });
}

/** Whether the client closed the connection before it had sent the whole body. */
function hasLeft(error: Error): boolean {
  return error.message === 'aborted' && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
}

/** Reads the body first: the token may be replaced while it arrives. */
async function assertWrites(context: Context<Guarded>): Promise<void> {
  await context.req.text();
  if (context.get('scope')() === 'write') return;
  throw forbidden('this token only reads', 'Use the token that may write: coppice web --token prints it');
}

async function serve(route: Route, context: Context<Guarded>, options: WebAppOptions): Promise<Response> {
  if (route.scope === 'write') await assertWrites(context);
  return context.json(await answerOf(route, context, options));
}

async function answerOf(
  route: Route,
  { req }: Context<Guarded>,
  { sources, models: known }: WebAppOptions,
  as_of = performance.now(),
): Promise<object> {
  const query = req.query();
  const body = route.body === null ? {} : await bodyOf(req);
  const { model, models, judge_model } = fieldsOf({ ...query, ...fieldsOf(body) });
  for (const name of [model, judge_model, ...itemsOf(models)])
    if (typeof name === 'string' && SCRIPTED.test(name) && known?.has(name) !== true)
      throw new CoppiceError('E_MODEL_UNKNOWN', `this server has no model "${name}"`, {
        hint: 'It takes no scripts but those that it was started or configured with',
      });
  return callRoute(route, sources, {
    path: req.param() as Record<string, string>,
    query,
    body,
    id: idempotentId(route, req.header('idempotency-key')),
    signal: req.raw.signal,
    as_of,
  });
}

/** Whether the request comes from this machine, not through a proxy. */
function isLocal({ env, req }: Context<Guarded>): boolean {
  const address = env.incoming.socket.remoteAddress ?? '';
  return /^(::ffff:)?127\.|^::1$/.test(address) && req.header('x-forwarded-for') === undefined;
}

function within<T>(limit_ms: number, answer: Promise<T>): Promise<T> {
  return unlessAborted(answer, AbortSignal.timeout(limit_ms), () => {
    throw new StoreError('E_DB_UNAVAILABLE', `the ledger did not answer within ${limit_ms / 1_000} s`);
  });
}

async function bodyOf(req: Context<Guarded>['req']): Promise<unknown> {
  const type = req.header('content-type') ?? '';
  const text = await req.text();
  if (text === '') return {};
  if (!/^application\/json\b/i.test(type)) throw invalid('Content-Type', 'must be application/json');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid('the body', `is not valid JSON: ${(error as Error).message}`);
  }
}

const KEY_MAX = 200;

/** Derives a uuid from route and `Idempotency-Key`, so that a retry creates nothing twice, whichever server answers; without a key, a new uuid. */
function idempotentId(route: Pick<Route, 'method' | 'path' | 'creates'>, key: string | undefined): string {
  if (key === undefined || route.creates !== true) return randomUUID();
  if (key === '' || key.length > KEY_MAX) throw invalid('Idempotency-Key', `1 to ${KEY_MAX} characters`);
  return derivedId(`${route.method} ${route.path}\n${key}`);
}

/** The requests that do what commands in hints do. */
const REQUESTS: Readonly<Record<string, string>> = {
  'coppice approvals list': 'GET /v1/approvals',
  'coppice approvals rules list': 'GET /v1/rules',
  'coppice approvals show': 'GET /v1/approvals for',
  'coppice cron list': 'GET /v1/jobs',
  'coppice cron update': 'PATCH /v1/jobs/:job',
  'coppice deliveries list': 'GET /v1/deliveries',
  'coppice ps': 'GET /v1/agents',
  'coppice ps --all': 'GET /v1/agents?all=true',
  'coppice subagent history': 'GET /v1/runs',
  'coppice subagent show': 'GET /v1/runs/:run of',
  'coppice worker list': 'GET /v1/workers',
  'coppice workflow show': 'GET /v1/workflow-runs/:run of',
};
const COMMANDS = /\bcoppice (?:[a-z]+ rules list|[a-z]+ (?:list|show|history|update)|ps(?: --all)?)\b/g;

const STATUS: Readonly<Record<string, ContentfulStatusCode>> = {
  E_UNAUTHORIZED: 401,
  E_FORBIDDEN: 403,
  E_NO_SUCH_PATH: 404,
  E_AGENT_DEAD: 409,
  E_AGENT_NOT_WORKING: 409,
  E_RUN_FINISHED: 409,
  E_ASK_ANSWERED: 409,
  E_ASK_CHANGED: 409,
  E_JOB_EXISTS: 409,
  E_JOB_AT_WORK: 409,
  E_REFUSED: 409,
  E_BUSY: 409,
  E_TOO_LARGE: 413,
  E_TOO_MANY_REQUESTS: 429,
  E_CLOSED: 503,
  E_INTERNAL: 500,
};

/** Converts an error to the API's answer; `sends`: hints name requests instead of commands. Details of internal errors (500) are only in the log. */
function errorAnswer(error: unknown, sends = false) {
  const report = errorJson(error);
  const status = statusOf(report);
  const { code, retryable } = report;
  const failed = { code, message: 'the server failed; its log says why', hint: null, retryable };
  const { hint, ...told } = status === 500 ? failed : report;
  const on = sends && hint !== null ? hint.replace(COMMANDS, (one) => REQUESTS[one] ?? one) : hint;
  return { status, document: { schema: 'coppice/error/v1', error: { ...told, hint: on } } };
}

function statusOf({ code, retryable }: ErrorDocument): ContentfulStatusCode {
  if (code.endsWith('_NOT_FOUND')) return 404;
  if (code.endsWith('_AMBIGUOUS')) return 409;
  return STATUS[code] ?? (retryable ? 503 : code.startsWith('E_DB_') ? 503 : 400);
}
