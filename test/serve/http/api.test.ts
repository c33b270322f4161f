// Proves that the HTTP API does what its table of routes says: every route is called on a real server, each answer matches the OpenAPI document, creation is
// idempotent under an idempotency key, and errors state their cause.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { ROUTES } from '../../../src/serve/api/all-routes.ts';
import { callRoute } from '../../../src/serve/api/call-route.ts';
import { HOOK_ROUTE } from '../../../src/serve/api/hook-route.ts';
import { documentSchema, openApi } from '../../../src/serve/api/openapi.ts';
import { WORKFLOW_ROUTES } from '../../../src/serve/api/workflow-routes.ts';
import { CALLS } from '../../../src/serve/client/client.ts';
import { EXPORT_CALL, EXPORT_ROUTE } from '../../../src/serve/pages/export-route.ts';
import { EVENT_ROUTE } from '../../../src/serve/stream/event-route.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { SPAN_KINDS } from '../../../src/trees/timeline/span.ts';
import { until } from '../../until.ts';
import { type Answer, type Ask, setWebStage, type WebStage } from './web-stage.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const note = defineTool({
  name: 'note',
  description: 'Notes a text.',
  input: z.object({ text: z.string() }),
  subject: ({ text }) => text,
  run: ({ text }) => `noted ${text}`,
});

let web: WebStage;
const called = new Set<string>();

before(async () => {
  web = await setWebStage(
    ({ user, last, name }) => {
      if (/fork a kid/.test(user) && last.length === 0)
        return [['fork', { name: 'kid', prompt: 'be small' }]];
      if (/ask me/.test(user) && last.length === 0) return [['note', { text: 'secret' }]];
      if (/never end/.test(user)) return new Promise(() => undefined);
      return `${name} is done`;
    },
    {
      tools: [note],
      config: {
        permissions: { cli: { allow: [], ask: ['*'], deny: [] }, config: { allow: [], ask: [], deny: [] } },
      },
    },
  );
});
after(async () => {
  await web.close();
  assert.deepEqual(web.troubles, []);
});

/** Calls the route and validates a successful answer against its schema. */
async function call(
  route: string,
  values: Readonly<Record<string, string>> = {},
  how: Ask = {},
): Promise<Answer> {
  const [method = '', pattern = ''] = route.split(' ');
  const found = ROUTES.find((one) => one.method === method && one.path === pattern.replace(/\?.*/, ''));
  assert.ok(found !== undefined, route);
  called.add(`${method} ${found.path}`);
  const path = pattern.replaceAll(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const answer = await web.ask(path, { method, ...how });
  const name = answer.status === 200 ? found.answer : 'coppice/error/v1';
  assert.ok(ajv.validate(documentSchema(name), answer.json), `${route}: ${ajv.errorsText()} ${answer.text}`);
  return answer;
}

async function startTree(prompt: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { json, text } = await call('POST /v1/trees', {}, { body: { prompt }, headers });
  assert.match(String(json.id), /^[0-9a-f-]{36}$/, text);
  return json.id;
}

async function rests(id: string): Promise<void> {
  const { json } = await call('POST /v1/wait', {}, { body: { agents: [id], timeout_seconds: 60 } });
  assert.equal(json.timed_out, undefined);
}

describe('trees and agents', () => {
  it('a tree is started, listed, read, written to, forked, and killed', async () => {
    const id = await startTree('fork a kid');
    await rests(id);
    const { json: list } = await call('GET /v1/trees');
    assert.equal(list.trees[0].root_id, id);
    assert.equal(list.trees[0].title, 'fork a kid');
    assert.deepEqual((await call('GET /v1/trees?before=2000-01-01T00:00:00Z')).json.trees, []);
    assert.deepEqual((await call('GET /v1/trees/:tree/tasks', { tree: id })).json.tasks, []);
    assert.deepEqual((await call('GET /v1/trees/:tree/files', { tree: id })).json.files, []);
    assert.equal((await call(`GET /v1/agents/:agent/diff?with=${id}`, { agent: id })).json.same, true);
    await call('GET /v1/agents/:agent/why', { agent: id });
    const back = await call(
      'POST /v1/trees/:tree/rewind',
      { tree: id },
      { body: { to: '1', dry_run: true } },
    );
    assert.equal(back.json.of, id);
    const moment = await call('POST /v1/trees/:tree/what-if', { tree: id }, { body: { at: '99' } });
    assert.match(moment.json.error.message, /has \d+ messages/);
    const merge = await call('POST /v1/trees/:tree/merge', { tree: id }, { body: { agents: ['kid'] } });
    assert.match(merge.json.error.message, /kid has no worktree/);
    const { json: tree } = await call('GET /v1/trees/:tree', { tree: id });
    assert.deepEqual(
      tree.agents.map(({ name }: { name: string }) => name),
      ['main', 'kid'],
    );
    assert.equal((await call('GET /v1/agents?tree=:tree&all=true', { tree: id })).json.agents.length, 2);
    const { json: agent } = await call('GET /v1/agents/:agent', { agent: id.slice(0, 8) });
    assert.equal(agent.id, id);
    const sent = await call('POST /v1/agents/:agent/send', { agent: 'kid' }, { body: { text: 'hello kid' } });
    assert.equal(sent.json.to, tree.agents[1].id);
    await rests('kid');
    const { json: budget } = await call('GET /v1/agents/:agent/budget', { agent: id });
    assert.deepEqual([budget.usd.limit, budget.usd.of_tree, budget.until], [5, true, null]);
    const raised = await call('POST /v1/agents/:agent/budget', { agent: id }, { body: { usd: 7 } });
    assert.deepEqual([raised.json.usd.limit, raised.json.tokens.limit], [7, null]);
    const refused = await call('POST /v1/agents/:agent/budget', { agent: 'kid' }, { body: { usd: 7 } });
    assert.match(refused.json.error.message, /the budget of kid is unchanged: it has no budget of its own/);
    const { json: page } = await call('GET /v1/agents/:agent/messages?tail=2', { agent: 'kid' });
    assert.match(JSON.stringify(page.messages), /hello kid/);
    assert.equal(page.next, null);
    const { json: first } = await call('GET /v1/agents/:agent/messages?limit=1', { agent: 'kid' });
    assert.equal(first.next, 1);
    const { json: mail } = await call('GET /v1/agents/:agent/mail?all=1', { agent: 'kid' });
    assert.ok(mail.mail.some(({ body }: { body: string }) => body === 'hello kid'));
    assert.ok((await call('GET /v1/agents/:agent/requests', { agent: 'kid' })).json.requests.length >= 2);
    const { json: prompt } = await call('GET /v1/agents/:agent/prompt', { agent: 'kid' });
    assert.deepEqual(
      prompt.messages
        .slice(0, 4)
        .map(({ role, shared }: { role: string; shared: boolean }) => [role, shared]),
      [
        ['user', true],
        ['assistant', true],
        ['results', true],
        ['user', false],
      ],
    );
    assert.ok(prompt.shared === 3 && prompt.total > 3);
    assert.equal(prompt.messages[0].bytes, 'fork a kid'.length);
    assert.equal(prompt.messages[3].from, prompt.shared_bytes);
    const { json: rest } = await call('GET /v1/agents/:agent/prompt?after=3&limit=1', { agent: 'kid' });
    assert.equal(rest.messages[0].number, 4);
    assert.equal(rest.next, 4);
    const { json: timeline } = await call('GET /v1/trees/:tree/timeline', { tree: id });
    assert.deepEqual(
      timeline.lanes.map(({ name, parent }: { name: string; parent: number | null }) => [name, parent]),
      [
        ['main', null],
        ['kid', 0],
      ],
    );
    const zipped = async (headers: Readonly<Record<string, string>>) => {
      const asked = { headers: { 'accept-encoding': 'gzip', ...headers } };
      return (await web.ask(`/v1/trees/${id}/timeline`, asked)).headers['content-encoding'];
    };
    assert.equal(await zipped({}), undefined, 'not for this machine');
    assert.equal(await zipped({ 'x-forwarded-for': '192.0.2.1' }), 'gzip');
    const later = `GET /v1/trees/:tree/timeline?after=${timeline.after}` as const;
    assert.deepEqual((await call(later, { tree: id })).json.lanes, [], 'nothing changed since');
    const { json: letters } = await call('GET /v1/trees/:tree/mail?limit=9', { tree: id });
    const kinds = letters.mail.map(({ kind }: { kind: string }) => kind);
    assert.deepEqual(kinds.toSorted(), ['letter', 'report', 'report']);
    const hello = letters.mail.find(({ body }: { body: string }) => body === 'hello kid');
    assert.equal(hello.to_name, 'kid');
    assert.ok(hello.read_at >= hello.sent_at);
    assert.equal(letters.next, null);
    const forked = await call('POST /v1/agents/:agent/fork', { agent: id }, { body: { name: 'second' } });
    assert.equal(forked.json.parent_id, id);
    await call('POST /v1/agents/:agent/capture', { agent: id }, { body: { text: 'a line' } });
    const killed = await call('POST /v1/agents/:agent/kill', { agent: id });
    assert.equal(killed.json.killed.length, 3);
    const late = await call('POST /v1/agents/:agent/send', { agent: id }, { body: { text: 'anybody?' } });
    assert.equal(late.status, 409);
    assert.equal(late.json.error.code, 'E_AGENT_DEAD');
  });

  it('a tree that was taken back says from which one it was cut', async () => {
    const id = await startTree('go back');
    await rests(id);
    const { json } = await call('POST /v1/trees/:tree/rewind', { tree: id }, { body: { to: '1' } });
    const { tree } = (await call('GET /v1/trees/:tree', { tree: json.root_id })).json;
    assert.deepEqual([tree.cut.of, tree.cut.agent_id, tree.cut.seq], [id, id, 1]);
    const cuts = async (of: string) =>
      (await call('GET /v1/trees?cut_of=:tree', { tree: of })).json.trees.map(
        (cut: { root_id: string }) => cut.root_id,
      );
    assert.deepEqual(await cuts(id), [json.root_id]);
    assert.deepEqual(await cuts(json.root_id), []);
    // Nobody leads it: in its timeline nobody works.
    const { lanes, path } = (await call('GET /v1/trees/:tree/timeline', { tree: json.root_id })).json;
    assert.ok(
      path.kind.every((kind: number) => kind === SPAN_KINDS.indexOf('idle')),
      path.kind,
    );
    assert.deepEqual([lanes[0].status, lanes[0].outcome], ['unled', 'unled']);
    assert.deepEqual(lanes[0].spans.kind.slice(-1), [SPAN_KINDS.indexOf('idle')]);
  });

  it('a turn is interrupted, asked again, and resumed', async () => {
    const id = await startTree('never end');
    await until(
      async () => (await call('GET /v1/agents/:agent', { agent: id })).json.status === 'running',
      'a turn',
    );
    await call('POST /v1/agents/:agent/interrupt', { agent: id }, { body: {} });
    await call('POST /v1/agents/:agent/compact', { agent: id }, { body: { keep: 'names' } });
    await rests(id);
    await call('POST /v1/agents/:agent/retry', { agent: id }, { body: {} });
    const { json } = await call(
      'POST /v1/trees/:tree/resume',
      { tree: id },
      { body: { limits: { turns: 7 } } },
    );
    assert.equal(json.root_id, id);
    assert.equal((await call('GET /v1/trees/:tree', { tree: id })).json.tree.limits.turns, 7);
    assert.equal(
      (await call('POST /v1/wait', {}, { body: { agents: [id], timeout_seconds: 0 } })).status,
      200,
    );
  });

  it('a call is allowed, another one denied', async () => {
    for (const [verdict, body, status] of [
      ['allow', { scope: 'session', rule: 'note' }, 'ok'],
      ['deny', { note: 'not now' }, 'denied'],
    ] as const) {
      const id = await startTree('ask me');
      let approvals: readonly { readonly id: string }[] = [];
      await until(async () => {
        ({ approvals } = (await call('GET /v1/approvals?tree=:tree', { tree: id })).json);
        return approvals.length === 1;
      }, 'an approval');
      assert.equal((await call('GET /v1/trees')).json.trees[0].need, 'approval');
      const past = 'GET /v1/trees?before=2000-01-01T00:00:00Z';
      assert.equal((await call(`${past}&asking=true`)).json.trees[0].root_id, id);
      assert.deepEqual((await call(past)).json.trees, []);
      const [ask] = approvals;
      const answered = await call(
        `POST /v1/approvals/:approval/${verdict}`,
        { approval: ask?.id ?? '' },
        { body },
      );
      assert.equal(answered.json.verdict, verdict);
      if (verdict === 'allow') {
        assert.equal((await call('GET /v1/alerts')).json.rules[0].usd, 5);
        const { json } = await call('GET /v1/rules');
        assert.deepEqual(
          json.rules.map(({ rule, root_id }: { rule: string; root_id: string }) => [rule, root_id]),
          [['note', id]],
        );
        const rule = { rule: ask?.id ?? '' };
        assert.equal((await call('DELETE /v1/rules/:rule', rule)).json.rule, 'note');
        assert.equal((await call('DELETE /v1/rules/:rule', rule)).json.error.code, 'E_RULE_NOT_FOUND');
      }
      await rests(id);
      const { json } = await call('GET /v1/agents/:agent/messages', { agent: id });
      assert.ok(
        json.messages.some(
          ({ kind, content }: { kind: string; content: { status: string } }) =>
            kind === 'result' && content.status === status,
        ),
        JSON.stringify(json.messages),
      );
      const again = await call(
        `POST /v1/approvals/:approval/${verdict}`,
        { approval: ask?.id ?? '' },
        { body },
      );
      assert.equal(again.json.error.code, 'E_ASK_ANSWERED');
    }
  });
});

describe('schedules, runs, deliveries, workers', () => {
  it('a job is made, changed, run, looked at, and removed', async () => {
    const made = await call(
      'POST /v1/jobs',
      {},
      { body: { name: 'nightly', cron: '0 3 * * *', task: 'tidy' } },
    );
    assert.equal(made.json.schedule.expression, '0 3 * * *');
    const { json: next } = await call('GET /v1/jobs/:job/next', { job: 'nightly' });
    assert.deepEqual(
      next.instants.map((at: string) => Date.parse(at) - Date.parse(made.json.next_at)),
      [0, 1, 2, 3, 4].map((days) => days * 86_400_000),
    );
    const changed = await call(
      'PATCH /v1/jobs/:job',
      { job: 'nightly' },
      { body: { every: '2h', enabled: false } },
    );
    assert.equal(changed.json.enabled, false);
    assert.equal((await call('GET /v1/jobs')).json.jobs.length, 1);
    assert.equal((await call('GET /v1/jobs/:job', { job: 'nightly' })).json.schedule.every_seconds, 7_200);
    assert.deepEqual((await call('GET /v1/jobs/:job/next', { job: 'nightly' })).json.instants, []);
    const fired = await call('POST /v1/jobs/:job/run', { job: 'nightly' });
    assert.equal(fired.json.outcome, 'fired');
    await rests(fired.json.root_id);
    const { tree } = (await call('GET /v1/trees/:tree', { tree: fired.json.root_id })).json;
    assert.deepEqual([tree.limits.cost_usd, tree.limits.tokens, tree.limits.usual], [5, 2_000_000, true]);
    const { json: runs } = await call('GET /v1/jobs/:job/runs', { job: 'nightly' });
    assert.equal(runs.runs[0].run.status, 'completed');
    const { id } = runs.runs[0].run;
    assert.equal((await call('GET /v1/runs?job=nightly')).json.runs[0].id, id);
    assert.equal((await call('GET /v1/runs/:run', { run: id })).json.result, 'nightly is done');
    assert.equal((await call('POST /v1/runs/:run/cancel', { run: id })).json.error.code, 'E_RUN_FINISHED');
    assert.equal((await call('DELETE /v1/jobs/:job', { job: 'nightly' })).json.removed, true);
    assert.equal((await call('GET /v1/jobs/:job', { job: 'nightly' })).status, 404);
  });

  it('deliveries and workers', async () => {
    assert.deepEqual((await call('GET /v1/deliveries?status=failed')).json.deliveries, []);
    assert.deepEqual((await call('GET /v1/deliveries?kind=alert')).json.deliveries, []);
    assert.equal((await call('POST /v1/deliveries/retry', {}, { body: {} })).json.retried, 0);
    const { json: usage } = await call('GET /v1/usage?days=2');
    assert.equal(usage.complete, true);
    const { estimates } = (await call('GET /v1/estimates?model=play%2Factor')).json;
    assert.match(estimates[0].line, /^(no history for )?agents without a profile, with model play\/actor/);
    const { json: search } = await call('GET /v1/search?q=small&limit=1');
    assert.equal(search.complete, true);
    const { json: hits } = await call('GET /v1/search?q=%22be+small%22');
    const found: { agent: string; text: string }[] = hits.hits;
    assert.match(found.find(({ agent }) => agent === 'kid')?.text ?? '', /be small$/);
    const { json: activity } = await call('GET /v1/activity');
    assert.ok(activity.trees.some(({ tokens }: { tokens: number[] }) => tokens.length > 0));
    assert.ok(usage.by_tree.some(({ title }: { title: string }) => title === 'fork a kid'));
    const { json } = await call('GET /v1/workers');
    assert.equal(json.workers[0].pid, process.pid);
    for (const [start, role] of [
      ['abcd', 'worker'],
      ['abce', 'run'],
      ['abdf', 'worker'],
    ] as const) {
      const id = `${start}0000-0000-4000-8000-000000000000`;
      await web.stage.store.heartbeat({ id, host: 'elsewhere', pid: 7, role });
    }
    const drain = async (worker: string) =>
      (await call('POST /v1/workers/:worker/drain', { worker }, { body: {} })).json;
    const route = ROUTES.find(({ path }) => path === '/v1/workers/:worker/drain')!;
    await assert.rejects(
      async () => callRoute(route, web.sources, { path: { worker: '' }, query: {}, body: {} } as never),
      { code: 'E_INVALID_ARGUMENT' },
      'an empty text is the beginning of every id',
    );
    for (const unclear of ['ffff', 'abce', 'AB'])
      assert.equal((await drain(unclear)).error.code, 'E_WORKER_NOT_FOUND', unclear);
    assert.match((await drain('ABC')).id, /^abcd/, 'a beginning in capitals, of workers only');
    assert.match((await drain('ABDF0000-0000-4000-8000-000000000000')).id, /^abdf/);
    assert.equal(
      (await web.stage.store.workers()).filter(({ role, draining }) => role === 'worker' && draining).length,
      2,
    );
  });
});

describe('repeated requests', () => {
  const KEY = { 'idempotency-key': 'the same' };

  it('start one tree, send one letter, make one fork and one job', async () => {
    const id = await startTree('once', KEY);
    assert.equal(await startTree('once', KEY), id);
    const other = await call('POST /v1/trees', {}, { body: { prompt: 'another one' }, headers: KEY });
    assert.equal(other.json.error.code, 'E_REFUSED');
    const trees = (await call('GET /v1/trees?limit=500')).json.trees as { title: string }[];
    assert.equal(trees.filter(({ title }) => title === 'once').length, 1);
    await rests(id);
    const send = { body: { text: 'hello' }, headers: KEY };
    const one = await call('POST /v1/agents/:agent/send', { agent: id }, send);
    const two = await call('POST /v1/agents/:agent/send', { agent: id }, send);
    assert.equal(two.json.id, one.json.id);
    const fork = { body: { name: 'only' }, headers: KEY };
    const child = await call('POST /v1/agents/:agent/fork', { agent: id }, fork);
    assert.equal((await call('POST /v1/agents/:agent/fork', { agent: id }, fork)).json.id, child.json.id);
    const job = { body: { name: 'only', every: '1h', task: 'x' }, headers: KEY };
    const made = await call('POST /v1/jobs', {}, job);
    assert.equal((await call('POST /v1/jobs', {}, job)).json.id, made.json.id);
  });
});

describe('bad requests', () => {
  const cases: readonly (readonly [string, Ask, number, RegExp])[] = [
    ['/v1/nothing', {}, 404, /no such path/],
    ['/v1/agents/nobody', {}, 404, /no agent called \\"nobody\\"/],
    ['/v1/agents?limit=-1', {}, 400, /limit in the query: /],
    ['/v1/agents?colour=red', {}, 400, /colour/],
    [`/v1/agents/${'x'.repeat(300)}`, {}, 400, /agent: is not an id or a name/],
    ['/v1/agents/%00', {}, 400, /is not an id or a name/],
    ['/v1/trees', { method: 'POST', body: '{"prompt":' }, 400, /is not valid JSON/],
    ['/v1/trees', { method: 'POST', body: { prompt: '' } }, 400, /prompt in the body: /],
    ['/v1/trees', { method: 'POST', body: { prompt: 'x', limits: { wings: 2 } } }, 400, /wings/],
    [
      '/v1/trees',
      { method: 'POST', body: { task: 'x' } },
      400,
      /unknown key \\"task\\" in the body.*Valid here: prompt, name/,
    ],
    ['/v1/trees', { method: 'POST', body: {} }, 400, /the body needs \\"prompt\\": a string/],
    [
      '/v1/trees',
      { method: 'POST', body: { prompt: 'x', toolset: 'fanout' } },
      400,
      /toolset in the body: a list/,
    ],
    ['/v1/trees?limit=501', {}, 400, /limit in the query: must be at most 500/],
    ['/v1/trees', { method: 'POST', body: { prompt: 'x', cwd: '/nowhere/at/all' } }, 400, /E_NO_FOLDER/],
    // A scripted model would be a file anywhere.
    ['/v1/trees', { method: 'POST', body: { prompt: 'x', model: 'scripted:/a/b' } }, 400, /E_MODEL_UNKNOWN/],
    ['/v1/estimates?model=scripted%2Fa/b', {}, 400, /E_MODEL_UNKNOWN/],
    ['/v1/trees', { method: 'POST', body: [] }, 400, /body/],
    [
      '/v1/trees',
      { method: 'POST', body: '"x"', headers: { 'content-type': 'text/plain' } },
      400,
      /application\/json/,
    ],
    ['/v1/jobs', { method: 'POST', body: { name: 'x', cron: 'never', task: 'y' } }, 400, /cron/],
    ['/v1/trees', { method: 'POST', body: { prompt: 'x'.repeat(2_100_000) } }, 413, /E_TOO_LARGE/],
  ];
  for (const [path, how, status, words] of cases)
    it(`${how.method ?? 'GET'} ${path.slice(0, 40)} ${JSON.stringify(how.body ?? '').slice(0, 30)}`, async () => {
      const answer = await web.ask(path, how);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.text, words);
      assert.ok(ajv.validate(documentSchema('coppice/error/v1'), answer.json), answer.text);
    });
});

it('every route was called, those of workflows in test/workflows/workflow-http.test.ts', () => {
  const others = ROUTES.filter((route) => !(WORKFLOW_ROUTES as readonly unknown[]).includes(route));
  assert.deepEqual(
    others.map(({ method, path }) => `${method} ${path}`).filter((route) => !called.has(route)),
    [],
  );
});

it('a tree is one file, as a page, a document or a text', async () => {
  const [tree] = (await web.ask('/v1/trees')).json.trees;
  const path = `/v1/trees/${tree.root_id}/export`;
  const document = await web.ask(path);
  assert.ok(ajv.validate(documentSchema('coppice/export/v1'), document.json), ajv.errorsText());
  assert.equal(document.json.documents[`/v1/agents/${tree.root_id}`].id, tree.root_id);
  for (const [format, type, begins] of [
    ['html', 'text/html; charset=utf-8', '<!doctype html>'],
    ['md', 'text/markdown; charset=utf-8', `# ${tree.title}`],
  ] as const) {
    const { status, text, headers } = await web.ask(`${path}?format=${format}`);
    assert.equal(status, 200, text);
    assert.equal(headers['content-type'], type);
    const name = `attachment; filename="coppice-${tree.root_id.slice(0, 8)}.${format}"`;
    assert.equal(headers['content-disposition'], name);
    assert.ok(text.startsWith(begins), text.slice(0, 100));
  }
  assert.equal((await web.ask('/v1/trees/none/export')).status, 404);
});

it('the OpenAPI document names every route and every document that it refers to', async () => {
  const { json } = await web.ask('/v1/openapi.json');
  assert.deepEqual(
    json,
    JSON.parse(
      JSON.stringify(
        openApi([...ROUTES, EVENT_ROUTE, EXPORT_ROUTE, HOOK_ROUTE], '0', web.url, {
          ...CALLS,
          exportTree: EXPORT_CALL,
        }),
      ),
    ),
  );
  const names = Object.keys(json.components.schemas);
  for (const [, name = ''] of JSON.stringify(json.paths).matchAll(/#\/components\/schemas\/([\w-]+)/g))
    assert.ok(names.includes(name), name);
  const ids = Object.values(json.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
    (one) => Object.values(one).map(({ operationId }) => operationId),
  );
  assert.equal(new Set(ids).size, ids.length, ids.join(' '));
  assert.equal(ids.length, ROUTES.length + 3);
});
