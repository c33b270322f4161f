/**
 * Proves that what a program without types gets wrong is a `CoppiceError` or a `StoreError` at once, with a code, on every face of the library: values of another
 * kind in every place, options that there are not, promises that were not awaited. None is a TypeError from within, and none is taken silently.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import {
  CoppiceError,
  createScriptedModel,
  createToolRegistry,
  defineTool,
  openClient,
  openCoppice,
  registerSubagentTools,
} from '../../src/coppice.ts';
import { defineToolsetTool, openCore, openSqlite, StoreError } from '../../src/core.ts';
import { expectTree, FakeClock, openTest, recordRun } from '../../src/testing.ts';
import { closeLater, closeOpened } from '../close-opened.ts';
import { temporaryFolder } from '../temporary-folder.ts';

after(closeOpened);

type Untyped = (...given: unknown[]) => unknown;

/** Of every kind. A place takes one or the other of them, and says so. */
const KINDS: readonly unknown[] = [
  ...[undefined, null, 42, Number.NaN, -1, 10n, true, 'xyzzy', Symbol('s')],
  ...[[], ['xyzzy', 3], {}, { xyzzy: 1 }, () => undefined, Promise.resolve('late')],
];

const inWords = (error: unknown) =>
  error instanceof CoppiceError || error instanceof StoreError
    ? ''
    : String((error as Error)?.stack ?? error).slice(0, 300);

/** Every kind is taken, or refused in words; all but those that `fitting` says are refused. */
async function refusesAll(place: string, call: Untyped, fitting: (value: unknown) => boolean): Promise<void> {
  for (const [at, value] of KINDS.entries()) {
    const said = `${place}, kind ${at}`;
    let error: unknown = null;
    try {
      const given = (await call(value)) as { readonly close?: () => Promise<void> } | undefined;
      await given?.close?.();
    } catch (thrown) {
      error = thrown ?? new Error('nothing was thrown');
    }
    if (error !== null) assert.equal(inWords(error), '', said);
    assert.equal(error === null, fitting(value), `${said}: ${error === null ? 'taken' : String(error)}`);
  }
}

const of =
  (...types: readonly string[]) =>
  (value: unknown) =>
    types.includes(value === null ? 'null' : typeof value);
const absent = of('undefined');
const text = of('undefined', 'string');
const isPlain = (value: unknown) => isDeepStrictEqual(value, {});
const blank = (value: unknown) => value === undefined || isPlain(value);
const list = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);
const never = () => false;

const model = () => createScriptedModel({ rules: [{ say: 'done' }] }, 'own');
function kept<Opened extends { close(): Promise<void> }>(opened: Opened): Opened {
  closeLater(() => opened.close());
  return opened;
}

const untyped = (call: unknown) => call as Untyped;

describe('coppice/core', () => {
  it('openCore and openSqlite', async () => {
    const store = kept(await openSqlite(join(temporaryFolder(), 'ledger.db')));
    const open = (more: object) => untyped(openCore)({ store, models: { own: model() }, ...more });
    await refusesAll('openCore', untyped(openCore), never);
    await refusesAll('store', (value) => open({ store: value }), never);
    const models = (value: unknown) => value !== undefined && (typeof value === 'function' || isPlain(value));
    await refusesAll('models', (value) => open({ models: value }), models);
    await refusesAll('a model', (value) => open({ models: { own: value } }), never);
    await refusesAll('tools', (value) => open({ tools: value }), list);
    await refusesAll('toolsets', (value) => open({ toolsets: value }), list);
    await refusesAll('folder', (value) => open({ folder: value }), text);
    await refusesAll(
      'openSqlite',
      (path) => untyped(openSqlite)(path === 'xyzzy' ? 'mysql:xyzzy' : path),
      never,
    );
    await assert.rejects(open({ store: openSqlite(join(temporaryFolder(), 'late.db')) }) as Promise<void>, {
      ...{ code: 'E_CONFIG', message: /store of openCore: must be an open ledger: await openSqlite/ },
    });
    await assert.rejects(open({ modles: {} }) as Promise<void>, { hint: /Did you mean models\?/ });
  });

  it('start, resume, send, kill and interrupt', async () => {
    const store = kept(await openSqlite(join(temporaryFolder(), 'ledger.db')));
    const core = kept(await openCore({ store, models: (name) => (name === 'own' ? model() : (7 as never)) }));
    const start = (more: object) => untyped(core.start)({ prompt: 'x', model: 'own', ...more });
    await refusesAll('start', untyped(core.start), never);
    await refusesAll('prompt', (value) => start({ prompt: value }), of('string'));
    await refusesAll('model', (value) => start({ model: value }), never);
    for (const name of ['name', 'system']) await refusesAll(name, (value) => start({ [name]: value }), text);
    for (const name of ['thinking', 'cwd'])
      await refusesAll(name, (value) => start({ [name]: value }), absent);
    for (const name of ['tools', 'toolsets'])
      await refusesAll(name, (value) => start({ [name]: value }), list);
    for (const name of ['permissions', 'limits'])
      await refusesAll(name, (value) => start({ [name]: value }), blank);
    const agent = await core.start({ prompt: 'x', model: 'own' });
    await agent.result();
    await refusesAll('resume', untyped(core.resume), never);
    await refusesAll('resume how', (value) => untyped(core.resume)(agent.id, value), blank);
    await refusesAll('send to', (value) => untyped(core.send)(value, 'x'), never);
    await refusesAll('send', untyped(agent.send), of('string'));
    await refusesAll('kill', untyped(core.kill), never);
    await refusesAll('subscribe', untyped(core.subscribe), of('function'));
    await refusesAll('interrupt', untyped(agent.interrupt), text);
  });

  it('defineTool and defineToolsetTool', async () => {
    await refusesAll('defineTool', untyped(defineTool), never);
    await refusesAll('defineToolsetTool', untyped(defineToolsetTool), never);
  });
});

describe('coppice/testing', () => {
  it('openTest', async () => {
    await refusesAll('openTest', untyped(openTest), blank);
    await refusesAll('clock', (clock) => untyped(openTest)({ clock }), absent);
    await refusesAll('rules', (rules) => untyped(openTest)({ rules }), absent);
    await refusesAll('models', (models) => untyped(openTest)({ models }), blank);
    await refusesAll(
      'env',
      (env) => untyped(openTest)({ env }),
      (value) =>
        value === undefined ||
        (Object(value) === value && typeof value === 'object' && !Array.isArray(value)),
    );
    await refusesAll('database', (database) => untyped(openTest)({ database }), absent);
    await refusesAll(
      'pass',
      untyped((ms: number) => new FakeClock().pass(ms)),
      (ms) => ms === 42,
    );
  });

  it('expectTree takes the run of a workflow, too', async () => {
    const coppice = kept(await openTest({ rules: [{ say: 'helped' }] }));
    const run = await coppice.workflow(async ({ agent }) => agent('help'));
    await expectTree(run, { outcome: 'done', children: [{ reply: 'helped' }] });
  });

  it('expectTree and recordRun', async () => {
    const coppice = kept(await openTest());
    const agent = await coppice.start({ prompt: 'x' });
    await refusesAll('expectTree', (value) => untyped(expectTree)(value, {}), never);
    await refusesAll('expected', (value) => untyped(expectTree)(agent, value), isPlain);
    await assert.rejects(untyped(expectTree)(agent, { childrn: [] }) as Promise<void>, {
      ...{ code: 'E_CONFIG', message: /expectTree has no option "childrn"/, hint: /Did you mean children\?/ },
    });
    await assert.rejects(untyped(expectTree)(agent, { children: [{ outcom: 'done' }] }) as Promise<void>, {
      ...{ code: 'E_CONFIG', message: /"children\.0\.outcom" of expectTree/ },
    });
    await refusesAll('recordRun', (value) => untyped(recordRun)(value, agent.id), never);
    const file = join(temporaryFolder(), 'record.db');
    await kept(await openSqlite(file));
    await refusesAll('the root of recordRun', (value) => untyped(recordRun)(file, value), never);
  });
});

describe('the library', () => {
  it('a registry', async () => {
    const registry = createToolRegistry();
    await refusesAll(
      'registerTool',
      untyped((tool: never) => registry.registerTool(tool)),
      never,
    );
    await refusesAll(
      'register',
      untyped((tool: never) => registry.register(tool, () => '')),
      never,
    );
    await refusesAll(
      'execute',
      untyped((call: never) => registry.execute(call)),
      () => true,
    );
    await refusesAll(
      'subagents',
      (value) => untyped(registerSubagentTools)(createToolRegistry(), value),
      blank,
    );
    for (const name of ['serverName', 'agentId', 'systemPrompt'])
      await refusesAll(
        name,
        (value) => untyped(registerSubagentTools)(createToolRegistry(), { [name]: value }),
        text,
      );
  });

  it('its options and its agents', async () => {
    const database = join(temporaryFolder(), 'ledger.db');
    const open = (more: object) =>
      untyped(openCoppice)({ database, model: 'own', models: { own: model() }, ...more });
    await refusesAll('openCoppice', untyped(openCoppice), never);
    await refusesAll('tools', (tools) => open({ tools }), list);
    const coppice = kept((await open({})) as Awaited<ReturnType<typeof openCoppice>>);
    const agent = await coppice.start({ prompt: 'x' });
    await agent.result();
    await refusesAll('interrupt', untyped(agent.interrupt), text);
    await refusesAll('result', untyped(agent.result), blank);
    const hello = { id: 'chat', messages: [{ id: 'a', role: 'user', parts: [{ type: 'text', text: 'x' }] }] };
    await refusesAll('chat', (value) => untyped(coppice.chat)(hello, value), blank);
  });

  it('a client', async () => {
    const open = (more: object) => untyped(openClient)({ url: 'http://127.0.0.1:1', token: 'x', ...more });
    await refusesAll('openClient', untyped(openClient), never);
    await refusesAll('url', (url) => open({ url }), never);
    await refusesAll('token', (token) => open({ token }), of('string'));
    await refusesAll(
      'tries',
      (tries) => open({ tries }),
      (value) => value === undefined || value === 42,
    );
    await refusesAll('an option', (fetch) => open({ fetch }), never);
    const client = openClient({ url: 'http://127.0.0.1:1', token: 'x', tries: 1 });
    for (const call of [client.agent, client.trees, client.kill, client.startTree])
      await assert.rejects((call as Untyped)(null) as Promise<void>, { code: 'E_INVALID_ARGUMENT' });
    for (const call of [client.agent, client.kill])
      for (const id of [undefined, '', {}, 7n])
        await assert.rejects((call as Untyped)(id) as Promise<void>, {
          code: 'E_INVALID_ARGUMENT',
          message: /needs "agent"/,
        });
    await assert.rejects(client.trees({}, null as never), { code: 'E_INVALID_ARGUMENT' });
    await assert.rejects(client.events(null as never).next(), { code: 'E_INVALID_ARGUMENT' });
  });
});
