// Proves over real HTTP that workflows are listed, checked, started only where a rule allows it, shown by phase with their failures first, and asked about.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WORKFLOW_ROUTES } from '../../src/serve/api/workflow-routes.ts';
import { META } from './played-script.ts';
import { type ServedWorkflows, serveWorkflows } from './served-workflows.ts';

const named = (name: string, body: string) => META.replace("'test'", `'${name}'`) + body;
const PHASES = `export const meta = { name: 'phased', description: 'two phases',
  phases: [{ title: 'Look', detail: 'at it' }, { title: 'Judge' }, { title: 'Never' }] }
const found = await parallel([
  () => agent('say a', { label: 'a', phase: 'Look' }), () => agent('boom', { label: 'bad', phase: 'Look' }),
])
return [found, await agent('say b', { label: 'b', phase: 'Judge' }), args]`;

describe('workflows over HTTP', () => {
  let served: ServedWorkflows;

  before(async () => {
    served = await serveWorkflows(undefined, {
      agents: { defaults: { permissions: { allow: ['workflow:free'], deny: ['workflow:never'] } } },
    });
    const folder = join(served.work, '.coppice', 'workflows');
    mkdirSync(folder, { recursive: true });
    for (const name of ['free', 'other', 'never'])
      writeFileSync(join(folder, `${name}.js`), named(name, "return agent('say ' + (args ?? 'nothing'))"));
    writeFileSync(join(folder, 'broken.js'), 'return 1');
    await served.run(['trust', '--yes']);
    writeFileSync(join(folder, 'untrusted.js'), named('untrusted', 'return 1'));
  });
  after(() => served?.close());

  const started = async (body: object) => {
    const { status, json } = await served.ask('/v1/workflow-runs', body);
    assert.equal(status, 200, JSON.stringify(json));
    return String(json.id);
  };
  const ended = (id: string) => served.runWhen(id, ({ ended_at }) => ended_at !== null);

  it('lists saved ones, and says why one cannot run', async () => {
    const { json } = await served.look('/v1/workflows');
    assert.deepEqual(
      json.workflows.map(({ name, error }: { name: string; error: string | null }) => [name, error === null]),
      [
        ['broken', false],
        ['free', true],
        ['never', true],
        ['other', true],
        ['untrusted', false],
      ],
    );
    assert.deepEqual((await served.look('/v1/workflows?cwd=/')).json.workflows, []);
  });

  it('checks one without a model, by name and by text', async () => {
    const by_name = await served.ask('/v1/workflows/check', { name: 'free', args: 'x' });
    assert.deepEqual([by_name.json.agents, by_name.json.end.type], [1, 'done'], JSON.stringify(by_name));
    const by_text = await served.ask('/v1/workflows/check', { script: PHASES });
    assert.deepEqual(by_text.json.phases, [
      { title: 'Look', agents: 2 },
      { title: 'Judge', agents: 1 },
      { title: 'Never', agents: 0 },
    ]);
    assert.equal((await served.look('/v1/workflows/check', { name: 'free' })).status, 403);
  });

  it('starts what a rule allows, of the request or the configuration, and nothing else', async () => {
    assert.equal((await ended(await started({ name: 'free', args: 'x' }))).result, 'x');
    const refused = await served.ask('/v1/workflow-runs', { name: 'other' });
    assert.deepEqual([refused.status, refused.json.error.code], [409, 'E_REFUSED']);
    assert.equal(
      (await ended(await started({ name: 'other', allow: ['workflow:other'] }))).result,
      'nothing',
    );
    // What the configuration of the server denies, no request allows.
    for (const allow of [['workflow:never'], ['*']])
      assert.equal((await served.ask('/v1/workflow-runs', { name: 'never', allow })).status, 409);
    assert.equal((await served.look('/v1/workflow-runs', { name: 'free' })).status, 403);
  });

  it('refuses what is no workflow, no name and no text, and both', async () => {
    for (const [body, error] of [
      [{ name: 'missing' }, /there is no workflow/],
      [{ name: 'broken' }, /export const meta/],
      [{ name: 'untrusted', allow: ['*'] }, /not trusted as it is now/],
      [{ script: 'return 1' }, /export const meta/],
      [{ name: '../../x.js' }, /it is no name/],
      [{ name: 'free', script: PHASES }, /one of name and script/],
      [{}, /one of name and script/],
      [{ name: 'free', calls: 0 }, /calls/],
      [{ name: 'free', model: 'scripted:/etc/passwd' }, /this server has no model/],
    ] as const) {
      const { status, json } = await served.ask('/v1/workflow-runs', body);
      assert.equal(status, 400, JSON.stringify([body, json]));
      assert.match(json.error.message, error);
    }
  });

  it('shows phases in the order of meta, with failures first, and says what failed', async () => {
    const id = await started({ script: PHASES, allow: ['*'], args: { n: 1 } });
    const run = await ended(id);
    assert.deepEqual(
      run.phases.map((one: Record<string, unknown>) => [
        one.title,
        one.detail,
        one.agents,
        one.done,
        one.failed,
      ]),
      [
        ['Look', 'at it', 2, 1, 1],
        ['Judge', null, 1, 1, 0],
        ['Never', null, 0, 0, 0],
      ],
    );
    assert.deepEqual(
      run.agents.map(({ label }: { label: string }) => label),
      ['bad', 'a', 'b'],
    );
    assert.deepEqual(run.counts, { succeeded: 2, failed: 1, skipped: 0, reused: 0, running: 0 });
    assert.match(run.result, /^Of 3 agents 1 failed:/);
    assert.ok(run.phases[0].tokens > 0 && run.phases[0].ended_at >= run.phases[0].started_at);
    const { json: script } = await served.look(`/v1/workflow-runs/${id}/script`);
    assert.deepEqual([script.script, script.args], [PHASES, '{"n":1}']);
    assert.equal((await served.look(`/v1/workflow-runs/${run.agents[0].id}`)).status, 400);
    assert.equal((await served.look('/v1/workflow-runs/none-such')).status, 404);
  });

  it('creates one run for one key, and refuses the key for another script', async () => {
    const key = { 'idempotency-key': 'once' };
    const [first, again, other] = [
      await served.ask('/v1/workflow-runs', { name: 'free' }, key),
      await served.ask('/v1/workflow-runs', { name: 'free' }, key),
      await served.ask('/v1/workflow-runs', { script: PHASES, allow: ['*'] }, key),
    ];
    assert.deepEqual([again.json.id, other.status], [first.json.id, 409]);
  });

  it('pages the list of runs, without agents and questions', async () => {
    for (let n = 0; n < 3; n += 1) await started({ name: 'free', args: n });
    const all = (await served.look('/v1/workflow-runs')).json.runs as { id: string; started_at: string }[];
    const pages: string[] = [];
    for (let before = ''; ; ) {
      const { runs } = (await served.look(`/v1/workflow-runs?limit=2${before}`)).json;
      pages.push(...runs.map(({ id }: { id: string }) => id));
      const last = runs.at(-1);
      if (runs.length < 2) break;
      before = `&before=${last.started_at},${last.id}`;
    }
    assert.deepEqual(
      pages,
      all.map(({ id }) => id),
    );
  });

  it('a question of a run is answered as every approval is', async () => {
    const id = await started({
      script: named('asks', "return ask('Which colour?', { choices: ['red', 'blue'] })"),
      allow: ['*'],
    });
    await served.runWhen(id, ({ agents }) => agents[0]?.outcome === 'waiting_for_you');
    const { approvals } = (await served.look(`/v1/approvals?tree=${id}`)).json;
    const { status } = await served.ask(`/v1/approvals/${approvals[0].id}/allow`, {
      values: { answer: 'blue' },
    });
    assert.equal(status, 200);
    assert.equal((await ended(id)).result, 'blue');
  });

  it('a run is paused, goes on, is written to by phase, skipped in part, stopped and saved', async () => {
    const body = `const both = await parallel([
      () => agent('hang', { label: 'stuck', phase: 'One' }), () => agent('say x', { label: 'fine', phase: 'One' })])
      return [both, await agent('hang', { label: 'last', phase: 'Two' })]`;
    const id = await started({ script: named('steered', body), allow: ['*'] });
    const at = `/v1/workflow-runs/${id}`;
    await served.runWhen(id, ({ counts }) => counts.succeeded === 1 && counts.running === 1);
    assert.equal((await served.look(`${at}/pause`, {})).status, 403);
    assert.equal((await served.ask(`${at}/pause`, {})).json.ordered, 'pause');
    const paused = await served.runWhen(id, (run) => run.paused !== null);
    assert.equal((await served.ask(`${at}/resume`, {})).json.ordered, 'resume');
    await served.runWhen(id, (run) => run.paused === null);
    const sent = await served.ask(`${at}/send`, { text: 'hurry', phase: 'One' });
    assert.deepEqual(
      sent.json.to.map(({ label }: { label: string }) => label),
      ['stuck'],
    );
    assert.equal((await served.ask(`${at}/send`, { text: 'hurry', phase: 'Three' })).status, 404);
    const [stuck] = paused.agents.filter(({ label }: { label: string }) => label === 'stuck');
    assert.equal((await served.ask(`/v1/agents/${stuck.id}/skip`, {})).status, 200);
    assert.equal((await served.ask(`/v1/agents/${stuck.id}/skip`, {})).status, 409);
    await served.runWhen(id, ({ agents }) => agents.some(({ label }: { label: string }) => label === 'last'));
    assert.equal((await served.ask(`${at}/stop`, {})).status, 200);
    const stopped = await served.runWhen(id, ({ paused }) => paused !== null);
    assert.deepEqual(stopped.counts, { succeeded: 1, failed: 0, skipped: 1, reused: 0, running: 1 });
    assert.match((await served.ask(`${at}/save`, { name: 'kept' })).json.path, /workflows.kept\.js$/);
    assert.equal((await served.ask(`${at}/save`, { name: 'free' })).status, 409);
    assert.equal((await served.ask(`${at}/save`, { name: '../kept' })).status, 400);
    const [last] = stopped.agents.filter(({ label }: { label: string }) => label === 'last');
    assert.equal((await served.ask(`/v1/workflow-agents/${last.id}/retry`, {})).json.ordered, 'retry');
    assert.equal((await served.ask(`${at}/rerun`, {})).status, 409, 'it is at work');
    await served.ask(`/v1/agents/${id}/kill`, {});
    assert.equal((await served.ask(`${at}/pause`, {})).status, 409);
  });

  it('a run that has ended is run again with its results; another script needs a rule', async () => {
    const script = named('again', "return [await agent('say x', { label: 'ex' }), args]");
    const first = await started({ script, args: 1, allow: ['workflow:again'] });
    await ended(first);
    const at = `/v1/workflow-runs/${first}/rerun`;
    const key = { 'idempotency-key': 'again' };
    const { json } = await served.ask(at, { args: 2 }, key);
    assert.equal((await served.ask(at, { args: 2 }, key)).json.id, json.id);
    const { result, counts } = await ended(json.id);
    assert.deepEqual([JSON.parse(result), counts.reused], [['x', 2], 1]);
    const anew = await ended((await served.ask(at, { fresh: ['ex'] })).json.id);
    assert.equal(anew.counts.reused, 0);
    const other = { script: named('other', "return 'ran'") };
    assert.equal((await served.ask(at, other)).status, 409);
    assert.equal(
      (await ended((await served.ask(at, { script: named('again', "return 'ran'") })).json.id)).result,
      'ran',
    );
    assert.equal((await served.ask(at, { fresh: ['none'] })).status, 400);
    assert.equal((await served.look(at, {})).status, 403);
  });

  it('a call that was refused is among the failures', async () => {
    const id = await started({
      script: named('refused', "return agent('say x', { label: 'costly', budget: 9e12, phase: 'P' })"),
      allow: ['*'],
    });
    const { counts, refused } = await ended(id);
    assert.equal(counts.failed, 1);
    assert.deepEqual([refused[0].label, refused[0].phase], ['costly', 'P']);
  });

  it('a tree is continued in several ways, and the results stand side by side', async () => {
    const { id: tree } = (await served.ask('/v1/trees', { prompt: 'say one' })).json;
    const path = `/v1/trees/${tree}/what-if`;
    const models = ['scripted:rules.json', 'nobody/nothing'];
    for (const [body, words] of [
      [{ at: '9' }, /names no message|has \d messages/],
      [{ at: '1' }, /no worktree/],
      [{ at: '1', models, here: true }, /nobody/],
      [{ at: '1', models: ['scripted:rules.json', 'scripted:rules.json'], here: true }, /would be the same/],
      [{ at: '1', profiles: ['nobody'], here: true }, /nobody/],
      [{ at: '1', check: true, here: true }, /has no test/],
    ] as const) {
      const { status, json } = await served.ask(path, body);
      assert.ok(status >= 400 && status < 500 && words.test(json.error.message), JSON.stringify(json));
    }
    await served.ask('/v1/wait', { agents: [tree], timeout_seconds: 60 });
    const body = {
      at: '1',
      prompts: ['say two', 'say three'],
      here: true,
      judge: 'object {"best":"say three","why":"more"}',
    };
    const headers = { 'idempotency-key': 'what if' };
    const { id } = (await served.ask(path, body, headers)).json;
    assert.equal((await served.ask(path, body, headers)).json.id, id);
    assert.equal((await served.ask(`/v1/workflow-runs/${tree}/what-if`)).status, 409);
    await ended(id);
    const { json } = await served.ask(`/v1/workflow-runs/${id}/what-if`);
    assert.deepEqual(
      [
        json.of,
        json.at,
        json.best,
        json.why,
        json.cells.map((one: { name: string; answer: string }) => [one.name, one.answer]),
      ],
      [
        tree,
        '1',
        'say three',
        'more',
        [
          ['say two', 'two'],
          ['say three', 'three'],
        ],
      ],
    );
  });

  it('every route of workflows was called', () => {
    const missed = WORKFLOW_ROUTES.filter((route) => !served.called.has(route));
    assert.deepEqual(
      missed.map(({ path }) => path),
      [],
    );
  });

  it('the command line runs and shows one over the server', async () => {
    const server = ['--server', served.url] as const;
    const token = await served.run(['web', '--token']);
    const env = { COPPICE_TOKEN: token.stdout.trim() };
    const refused = await served.run(['workflow', 'run', 'other', ...server], { env });
    assert.deepEqual([refused.code, /was not started/.test(refused.stderr)], [1, true], refused.stderr);
    const script = served.script('over-server', "return [args, await agent('say hi')]");
    const { code, stdout, stderr } = await served.run(
      ['workflow', 'run', script, '--args', '{"n":1}', '--allow', 'workflow:over-server', ...server],
      { env },
    );
    assert.deepEqual([code, stdout], [0, '[{"n":1},"hi"]\n'], stderr);
    const failing = served.script('failing', "return [await agent('boom'), await agent('say x')]");
    const some = await served.run(['workflow', 'run', failing, '--yes', ...server], { env });
    assert.deepEqual([some.code, /1 of its 2 agents failed/.test(some.stderr)], [1, true], some.stderr);
    const held = await started({
      script: named('held', "return agent('hang', { label: 'held-up' })"),
      allow: ['*'],
    });
    await served.runWhen(held, ({ counts }) => counts.running === 1);
    for (const args of [
      ['pause', held],
      ['resume', held],
      ['send', held, 'hurry'],
      ['stop', held],
      ['skip', 'held-up'],
    ]) {
      const done = await served.run(['workflow', ...args, ...server], { env });
      assert.equal(done.code, 0, args[0] + done.stderr);
    }
    await served.ask(`/v1/agents/${held}/kill`, {});
    const shown = await served.run(['workflow', 'show', 'over-server', ...server], { env });
    assert.match(shown.stdout, /^over-server: done; 1 succeeded\n {2}\(no phase\) {2}1\/1/);
    const listed = await served.run(['workflow', 'list', '--runs', ...server], { env });
    assert.match(listed.stdout, /^[0-9a-f]{8} {2}over-server {2}done; 1 succeeded$/m);
  });
});
