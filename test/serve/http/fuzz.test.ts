// Proves that no request brings the server down: hostile paths, queries, headers and bodies in any combination get an error that states the reason, never a
// 5xx, and the server still works afterwards. `COPPICE_FUZZ_REQUESTS=500000` sends that many.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hostile text, not templates
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import fc from 'fast-check';
import { ROUTES } from '../../../src/serve/api/all-routes.ts';
import type { Method } from '../../../src/serve/api/route.ts';
import { DEEP } from '../../house/deep.ts';
import { setWebStage, type WebStage } from './web-stage.ts';

const REQUESTS = Number(process.env.COPPICE_FUZZ_REQUESTS ?? (DEEP ? 12_000 : 1_200));
const AT_ONCE = 20;

let web: WebStage;
let root: string;
before(async () => {
  web = await setWebStage(() => 'done', {}, { rate: { take: () => 0 } });
  const { json } = await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'begin' } });
  root = json.id;
});
after(() => web.close());

const hostile = fc.oneof(
  fc.string({ maxLength: 60, unit: 'binary' }),
  fc.constantFrom(
    '',
    '..',
    '../../etc/passwd',
    '%00',
    '%ff',
    "' OR 1=1 --",
    '<script>alert(1)</script>',
    '${7*7}',
    'NaN',
    '-1',
    '99999999999999999999',
    '1e309',
    'true',
    'null',
    '__proto__',
    'constructor',
    '\u202e\u0000',
    'x'.repeat(5_000),
  ),
);
const json = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  {
    weight: 3,
    arbitrary: fc.dictionary(
      fc.constantFrom(
        'prompt',
        'text',
        'name',
        'agents',
        'timeout_seconds',
        'limits',
        'scope',
        'note',
        'cron',
        'every',
        'at',
        'task',
        'enabled',
        'deliveries',
        'retry',
        'model',
        'profile',
        'cwd',
        'mark',
        'reason',
        '__proto__',
      ),
      fc.oneof(hostile, fc.jsonValue({ maxDepth: 2 })),
    ),
  },
);
const body = fc.oneof(
  fc.constant(undefined),
  json.map((value) => JSON.stringify(value) ?? ''),
  hostile,
  fc.constantFrom('{', '[[[[', '"\\ud800"', '{"a":'.repeat(2_000)),
);
const request = fc.record({
  route: fc.constantFrom(...ROUTES),
  parameter: fc.oneof(hostile, fc.constant('ROOT')),
  method: fc.option(fc.constantFrom<Method>('GET', 'POST', 'PATCH', 'DELETE'), { freq: 8 }),
  query: fc.dictionary(
    fc.constantFrom('limit', 'after', 'tail', 'tree', 'all', 'before', 'status', 'job', 'x'),
    hostile,
    {
      maxKeys: 3,
    },
  ),
  body,
  type: fc.constantFrom(
    'application/json',
    'application/json',
    'text/plain',
    'application/json; charset=utf-16',
  ),
  key: fc.option(fc.constantFrom('a', 'b', 'x'.repeat(500)), { freq: 4 }),
});

it(`${REQUESTS} hostile requests: no 5xx, no crash, no hang`, async () => {
  const counts = new Map<number, number>();
  const cases = fc.sample(request, { numRuns: Math.min(REQUESTS, 20_000), seed: 7 });
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < REQUESTS) {
      const one = cases[(next * 7) % cases.length];
      const other = cases[(next * 13 + Math.floor(next / cases.length)) % cases.length];
      next += 1;
      if (one === undefined || other === undefined) return;
      // Skips waits without a timeout, which would take long.
      if (one.route.path === '/v1/wait' && other.body?.includes('timeout') !== true) continue;
      const path = one.route.path.replaceAll(/:[a-z]+/g, () =>
        encodeURIComponent(one.parameter === 'ROOT' ? root : one.parameter.toWellFormed()),
      );
      const query = new URLSearchParams(one.query).toString();
      const answer = await web.ask(`${path}${query === '' ? '' : `?${query}`}`, {
        method: one.method ?? one.route.method,
        ...((one.method ?? one.route.method) === 'GET' ? {} : { body: other.body }),
        headers: { 'content-type': one.type, ...(one.key === null ? {} : { 'idempotency-key': one.key }) },
      });
      counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
      assert.ok(
        answer.status < 500,
        `${one.method ?? one.route.method} ${path} ${other.body}: ${answer.text}`,
      );
      if (answer.status >= 400)
        assert.match(
          answer.text,
          /"schema":"coppice\/error\/v1"/,
          `${path}: ${answer.status} ${answer.text}`,
        );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  assert.deepEqual(web.troubles, []);
  assert.equal((await web.ask('/readyz')).text, 'ready\n');
  assert.equal((await web.ask(`/v1/trees/${root}`)).status, 200);
  // The requests reached the handlers: some were accepted, and the common kinds of refusal occurred.
  for (const status of [200, 400, 404]) assert.ok((counts.get(status) ?? 0) > 0, JSON.stringify([...counts]));
});
