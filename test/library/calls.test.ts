/**
 * Proves the calls of the library (docs/library.md): what one agent may be given, signals and time-outs of every call, an `id` by which a program started again
 * finds its work, and that a wrong option is refused at once, with what is wrong and what to do.
 */
import assert from 'node:assert/strict';
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type CoppiceOptions, createScriptedModel, defineTool, openCoppice } from '../../src/coppice.ts';
import { ALL_TOOLSETS } from '../../src/kernel/toolsets/all-toolsets.ts';
import { BUILT_IN_TOOLS, TOOLSETS } from '../../src/library/coppice-options.ts';
import { openTest } from '../../src/testing.ts';
import { BUILT_IN_PERMISSIONS } from '../../src/tools/built-in-permissions.ts';
import { closeLater, closeOpened } from '../close-opened.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { libraryStage } from './library-stage.ts';

after(closeOpened);

const RED_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const HANGS = { when: { user: 'hang' }, delay_ms: 600_000, say: 'late' };
const RULES = [HANGS, { say: 'said' }] as const;

const stage = (rules: readonly object[] = RULES, coppice: Partial<CoppiceOptions> = {}) =>
  libraryStage(rules as never, { subagents: null, coppice });

describe('the options of one agent', () => {
  it('reach its configuration and its first request', async () => {
    const shout = defineTool({ name: 'shout', description: 'x', input: { type: 'object' }, run: () => 'x' });
    const { coppice, folder, requests } = await stage(RULES, { tools: [shout], builtInTools: ['read'] });
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'red.png'), Buffer.from(RED_PNG, 'base64'));
    const agent = await coppice.start({
      ...{ prompt: 'look', name: 'one', cwd, thinking: 'low', tools: ['shout', 'search'] },
      images: ['red.png', Buffer.from(RED_PNG, 'base64')],
      permissions: { deny: ['shout'] },
      budget: { usd: 2, seconds: 60 },
    });
    const { root, outcome } = await agent.result();
    assert.equal(outcome, 'done');
    const { config } = root;
    assert.deepEqual(
      [root.name, config.cwd, config.thinking, config.tools],
      ['one', realpathSync(cwd), 'low', ['shout', 'search']],
    );
    assert.deepEqual(config.permissions.cli, { allow: [], ask: [], deny: ['shout'] });
    assert.deepEqual([config.budgets?.[0]?.agent_id, config.budgets?.[0]?.usd], [agent.id, 2]);
    assert.equal(config.budgets?.[0]?.until, root.created_at + 60_000);
    const [message] = requests[0]?.messages ?? [];
    assert.equal(message?.role === 'user' ? message.images?.length : 0, 2);
    const shown = requests[0]?.tools.map(({ name }) => name) ?? [];
    assert.deepEqual(
      ['shout', 'search', 'read'].map((name) => shown.includes(name)),
      [true, true, false],
    );
    const other = await (await coppice.start({ prompt: 'look' })).result();
    assert.deepEqual(
      [other.root.config.cwd, other.root.config.tools],
      [realpathSync(folder), ['read', 'shout']],
    );
  });

  it('are named by the types as the kernel and the tools name them', () => {
    assert.deepEqual([...TOOLSETS].sort(), ALL_TOOLSETS.map(({ name }) => name).sort());
    const named = Object.keys(BUILT_IN_PERMISSIONS);
    assert.deepEqual(
      BUILT_IN_TOOLS.filter((name) => !named.includes(name)),
      [],
    );
  });
});

describe('patience', () => {
  it('of a result ends the wait and not the work', async () => {
    const { coppice } = await stage();
    const agent = await coppice.start({ prompt: 'hang' });
    const controller = new AbortController();
    const waits = agent.result({ signal: controller.signal });
    controller.abort(new Error('the client left'));
    await assert.rejects(waits, { code: 'E_ABORTED', message: /the client left/, hint: /work on/ });
    await assert.rejects(agent.result({ signal: controller.signal }), { code: 'E_ABORTED' });
    await assert.rejects(agent.result({ timeout_ms: 20 }), {
      ...{ code: 'E_TIMEOUT', retryable: true, message: /20 ms/ },
    });
    await agent.interrupt('enough');
    const { outcome, failure } = await agent.result({ timeout_ms: 60_000 });
    assert.deepEqual(
      [outcome, failure?.kind, failure?.error],
      ['stopped', 'interrupted', 'interrupted by you'],
    );
  });

  it('of a start: its signal kills the tree, and its time-out cuts it short', async () => {
    const { coppice } = await stage();
    const controller = new AbortController();
    const agent = await coppice.start({ prompt: 'hang', signal: controller.signal });
    controller.abort(new Error('the client left'));
    const { outcome, failure } = await agent.result();
    assert.deepEqual([outcome, failure?.kind], ['stopped', 'killed']);
    assert.match(failure?.error ?? '', /killed by the program: the client left/);
    await assert.rejects(coppice.start({ prompt: 'x', signal: controller.signal }), { code: 'E_ABORTED' });
    const late = await (await coppice.start({ prompt: 'hang', timeout_ms: 50 })).result();
    assert.equal(late.outcome, 'cut_short');
    // Over before its first request is sent, or in the middle of it.
    assert.match(`${late.failure?.kind} ${late.failure?.error}`, /^(limit .*seconds|timed_out .*0\.05 s)/);
  });

  it('of a letter is refused before anything is sent', async () => {
    const { coppice, requests } = await stage();
    const agent = await coppice.start({ prompt: 'x' });
    await agent.result();
    const signal = AbortSignal.abort();
    await assert.rejects(agent.send('more', { signal }), { code: 'E_ABORTED' });
    await assert.rejects(coppice.send(agent.id, 'more', { signal }), { code: 'E_ABORTED' });
    assert.equal(requests.length, 1);
    await agent.send('look', { images: [Buffer.from(RED_PNG, 'base64')], timeout_ms: 60_000 });
    await agent.result();
    const message = requests.at(-1)?.messages.at(-1);
    assert.equal(message?.role === 'user' ? message.images?.length : 0, 1);
  });
});

describe('an id', () => {
  it('is started once, and goes on in another process', async () => {
    const folder = temporaryFolder();
    const database = `sqlite:${join(folder, 'ids.db')}`;
    const first = await stage(RULES, { database });
    const agent = await first.coppice.start({ id: 'review of 42', prompt: 'hang' });
    await until(() => first.requests.length === 1, 'it is at work');
    await first.coppice.close();
    const second = await stage([{ say: 'done later' }], { database });
    const again = await second.coppice.start({ id: 'review of 42', prompt: 'hang' });
    assert.equal(again.id, agent.id);
    assert.equal((await again.result()).reply, 'done later');
    assert.equal(
      (await (await second.coppice.start({ id: agent.id, prompt: 'hang' })).result()).reply,
      'done later',
    );
    assert.equal(second.requests.length, 1);
    await assert.rejects(second.coppice.start({ id: agent.id, prompt: 'other' }), {
      ...{ code: 'E_INVALID_ARGUMENT', message: /another prompt/ },
    });
  });
});

describe('a wrong option', () => {
  const models = { script: createScriptedModel({ rules: [{ say: 'x' }] }, 'x') };
  const right = { database: `sqlite:${join(temporaryFolder(), 'wrong.db')}`, model: 'script', models };

  it('of openCoppice is refused before the ledger is opened', async () => {
    for (const [wrong, message, hint] of [
      [{ model: undefined }, /needs the option "model"/, /provider\/model/],
      [{ thinking: 'huge' }, /thinking of openCoppice: .*is not one of "off", "low", "medium", "high"/, null],
      [{ toolsets: ['proces'] }, /toolsets.0 of openCoppice: .*"process"/, /Did you mean process\?/],
      [{ toolsets: ['process', 'slash'] }, /not both/, /Choose one/],
      [{ builtInTools: ['raed'] }, /builtInTools.0 of openCoppice/, /Did you mean read\?/],
      [{ limits: { dept: 2 } }, /unknown key "limits.dept"/, /Did you mean depth\?/],
      [{ permissions: { allow: ['bsh:ls'] } }, /bsh/, null],
      [{ cwd: 5 }, /cwd of openCoppice/, null],
      [{ models: { x: 5 } }, /models.x of openCoppice: is no model/, null],
      [{ tools: 'bash' }, /tools of openCoppice/, null],
      [{ profiles: [{}] }, /profiles.0.name of openCoppice/, /a string/],
      [{ env: 'PATH' }, /env of openCoppice/, null],
      [{ onApproval: 'always' }, /onApproval of openCoppice: must be a function, or 'queue'/, null],
      [{ profiles: [{ name: 'a', toolsets: ['chess'] }] }, /the profile a: toolsets .*chess/, null],
      [{ profiles: [{ name: 'a', tools: ['raed'] }] }, /the profile a: tools .*raed/, /read/],
      [{ profiles: [{ name: 'A b' }] }, /not a valid profile name/, null],
    ] as const)
      await assert.rejects(openCoppice({ ...right, ...wrong } as never), (error: never) => {
        const {
          code,
          message: said,
          hint: advice,
        } = error as { code: string; message: string; hint: string };
        assert.equal(code, 'E_CONFIG', said);
        assert.match(said, message);
        if (hint !== null) assert.match(advice, hint);
        return true;
      });
  });

  it('of start is refused before anything is created', async () => {
    const coppice = await openCoppice({ ...right, profiles: [{ name: 'plain' }] });
    const start = (wrong: object) => coppice.start({ prompt: 'x', ...wrong } as never);
    for (const [wrong, code, message] of [
      [{ prompt: 7 }, 'E_INVALID_ARGUMENT', /needs the option "prompt"/],
      [{ promt: 'x' }, 'E_CONFIG', /no option "promt"/],
      [{ thinking: 'huge' }, 'E_CONFIG', /thinking of start/],
      [{ toolsets: ['chess'] }, 'E_CONFIG', /toolsets.0 of start/],
      [{ toolsets: ['process', 'slash'] }, 'E_CONFIG', /not both/],
      [{ tools: ['raed'] }, 'E_CONFIG', /no tool called "raed"/],
      [{ permissions: { alow: [] } }, 'E_CONFIG', /alow/],
      [{ permissions: { deny: ['raed:x'] } }, 'E_CONFIG', /raed/],
      [{ budget: { usd: -1 } }, 'E_CONFIG', /budget.usd/],
      [{ profile: 'plane' }, 'E_CONFIG', /no profile called "plane"/],
      [{ cwd: '/no/such/folder' }, 'E_NO_FOLDER', /no\/such\/folder/],
      [{ images: ['/no/such.png'] }, 'E_INVALID_ARGUMENT', /images\[0\]: ENOENT/],
      [{ images: [Buffer.from('text')] }, 'E_INVALID_ARGUMENT', /images\[0\]: it is no picture/],
      [{ images: [5] }, 'E_CONFIG', /images.0 of start: must be/],
      [{ signal: 'stop' }, 'E_INVALID_ARGUMENT', /not an AbortSignal/],
      [{ timeout_ms: -1 }, 'E_INVALID_ARGUMENT', /timeout_ms is -1/],
      [{ timeout_ms: '5' }, 'E_INVALID_ARGUMENT', /timeout_ms is '5'/],
      [{ id: '' }, 'E_INVALID_ARGUMENT', /id must be a text/],
      [{ model: 'nobody/x' }, 'E_MODEL_UNKNOWN', /nobody/],
    ] as const)
      await assert.rejects(start(wrong), { name: 'CoppiceError', code, message });
    await assert.rejects(coppice.workflow('x', 1, { images: [] } as never), {
      ...{ code: 'E_CONFIG', message: /workflow has no option "images"/ },
    });
    const agent = await coppice.start({ prompt: 'x' });
    const circle: Record<string, unknown> = {};
    circle.itself = circle;
    await assert.rejects(agent.result({ timeout_ms: 0 }), { code: 'E_INVALID_ARGUMENT' });
    for (const [wrong, code] of [
      [() => coppice.start(null as never), 'E_INVALID_ARGUMENT'],
      [() => coppice.find(undefined as never), 'E_INVALID_ARGUMENT'],
      [() => coppice.find('x'.repeat(300)), 'E_AGENT_NOT_FOUND'],
      [() => agent.send(undefined as never), 'E_INVALID_ARGUMENT'],
      [() => agent.result(5 as never), 'E_INVALID_ARGUMENT'],
      [() => agent.fork({ prompt: 'x', id: 5 as never }), 'E_INVALID_ARGUMENT'],
      [() => coppice.trees({ limit: 'x' as never }), 'E_CONFIG'],
      [() => coppice.agents({ al: true } as never), 'E_CONFIG'],
      [() => coppice.messages(agent.id, { tail: -1 }), 'E_CONFIG'],
      [() => coppice.approvals({ open: true } as never), 'E_CONFIG'],
      [() => coppice.resume(agent.id, { rtry: true } as never), 'E_CONFIG'],
      [() => coppice.find(agent.id, { outptu: {} } as never), 'E_CONFIG'],
      [() => coppice.kill([agent.id] as never), 'E_INVALID_ARGUMENT'],
      [async () => coppice.subscribe(5 as never), 'E_INVALID_ARGUMENT'],
      [async () => agent.text({ afer: '1:0' } as never), 'E_CONFIG'],
      [async () => agent.events(null as never), 'E_CONFIG'],
      [async () => agent.events({ after: `{"${agent.id}":"x"}` }), 'E_INVALID_ARGUMENT'],
      [() => agent.fork({ prompt: 'x', signal: AbortSignal.abort() }), 'E_ABORTED'],
      [async () => (await coppice.workflow(async () => 1)).rerun({ arg: 2 } as never), 'E_CONFIG'],
      [() => coppice.workflow(async () => 1, 1n), 'E_INVALID_ARGUMENT'],
      [() => coppice.workflow(async () => 1, circle), 'E_INVALID_ARGUMENT'],
      [() => coppice.workflow(async () => 1, undefined, null as never), 'E_INVALID_ARGUMENT'],
      [() => agent.spawn({ prompt: 'x', turns: 0 }), 'E_INVALID_ARGUMENT'],
      [() => openCoppice(null as never), 'E_CONFIG'],
    ] as const)
      await assert.rejects(wrong, { name: 'CoppiceError', code });
    await assert.rejects(agent.result({ timout_ms: 5 } as never), { message: /no option "timout_ms"/ });
    await coppice.close();
    await assert.rejects(coppice.trees(), { name: 'CoppiceError', code: 'E_CLOSED' });
  });

  it('handles reject once the coppice is closed, and wait for nothing', async () => {
    const { coppice } = await stage();
    const agent = await coppice.start({ prompt: 'x' });
    const run = await coppice.workflow(async () => 1);
    const late = agent.text();
    await Promise.all([agent.result(), run.result({ timeout_ms: 600_000 })]);
    await coppice.close();
    for (const call of [
      ...[() => agent.result(), () => agent.send('x'), () => agent.kill(), () => agent.interrupt()],
      ...[() => agent.fork({ prompt: 'x' }), () => agent.spawn({ prompt: 'x' })],
      ...[() => late[Symbol.asyncIterator]().next(), () => agent.events()[Symbol.asyncIterator]().next()],
      ...[() => run.result(), () => run.outcome(), () => run.pause(), () => run.stop(), () => run.resume()],
      ...[() => run.skip('x'), () => run.retry('x'), () => run.rerun(), () => run.message('x')],
    ])
      await assert.rejects(call, { name: 'CoppiceError', code: 'E_CLOSED' }, String(call));
  });
});

it('a listener that throws or rejects ends nothing, is called again, and its first error is told once', async () => {
  const warnings: string[] = [];
  const hear = (warning: Error & { code?: string }) => warnings.push(`${warning.code} ${warning.message}`);
  process.on('warning', hear);
  const { coppice } = await stage();
  const [heard, called] = [[] as string[], { throws: 0, rejects: 0 }];
  coppice.subscribe(() => {
    called.throws += 1;
    throw new Error('no such socket');
  });
  coppice.subscribe(async () => {
    called.rejects += 1;
    throw new Error('no such queue');
  });
  coppice.subscribe(({ type }) => heard.push(type));
  const agent = await coppice.start({ prompt: 'x' });
  assert.equal((await agent.result()).reply, 'said');
  await until(() => warnings.length === 2, 'both warnings');
  process.off('warning', hear);
  assert.match(
    warnings[0] ?? '',
    /^COPPICE_CALLBACK the callback of subscribe failed: Error: no such socket/,
  );
  assert.match(warnings[1] ?? '', /^COPPICE_CALLBACK the callback of subscribe failed: Error: no such queue/);
  assert.ok(heard.length > 1);
  assert.deepEqual(called, { throws: heard.length, rejects: heard.length });
});

it('two calls at once with one id make one agent; with another task the second is refused', async () => {
  // In memory, both orders are in one step of the parent.
  const coppice = await openTest({ rules: [...RULES] });
  closeLater(() => coppice.close());
  const parent = await coppice.start({ prompt: 'x' });
  await parent.result();
  for (const method of ['fork', 'spawn'] as const) {
    const child = () => parent[method]({ prompt: 'x', id: method });
    const [one, two] = await Promise.all([child(), child()]);
    assert.equal(one.id, two.id);
    assert.equal((await one.result({ timeout_ms: 10_000 })).reply, 'said');
  }
  const { agents } = await parent.result({ timeout_ms: 10_000 });
  assert.equal(agents.length, 3);
  const { messages } = await coppice.messages(parent.id);
  const made = messages.filter((one) => one.kind === 'event' && one.content.event === 'forked');
  assert.equal(made.length, 2, 'each was created once');
  const both = await Promise.allSettled(
    ['x', 'y'].map((prompt) => coppice.start({ prompt, id: 'the same' })),
  );
  assert.deepEqual(
    both.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
});
