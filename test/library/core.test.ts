/**
 * Proves that the engine alone takes a program's own tools, models, ledger and toolset, that it refuses options which cannot be meant, that two of
 * them share a ledger, and that what it leaves out is refused with a reason.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import * as z from 'zod';
import {
  CoppiceError,
  type Core,
  type CoreOptions,
  defineTool,
  defineToolsetTool,
  forkAgent,
  type ModelRequest,
  openCore,
  openSqlite,
  type Store,
  StoreError,
  type Tool,
  type Toolset,
} from '../../src/core.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Answer, newest, ownModel } from './own-model.ts';

const ledger = () => join(temporaryFolder(), 'ledger.db');

async function openWith(
  t: TestContext,
  answer: (request: ModelRequest) => Answer | Promise<Answer>,
  options: Partial<CoreOptions> = {},
): Promise<Core & { readonly store: Store }> {
  const store = options.store ?? (await openSqlite(ledger()));
  const core = await openCore({
    store,
    models: { own: ownModel('own', answer) },
    folder: temporaryFolder(),
    ...options,
  });
  t.after(async () => {
    await core.close();
    if (options.store === undefined) await store.close();
  });
  return { ...core, store };
}

/** Calls the tool, then answers with its result. */
const calls = (name: string, input: object) => (request: ModelRequest) =>
  request.messages.at(-1)?.role === 'results' ? newest(request) : [{ name, input }];

const rings = defineTool<{ tree: string }>({
  name: 'rings',
  description: 'Counts rings.',
  input: { type: 'object', properties: { tree: { type: 'string' } }, required: ['tree'] },
  run: ({ tree }) => `${tree}: 30`,
}) as Tool;

const code = (expected: string) => (error: unknown) => {
  assert.ok(error instanceof CoppiceError || error instanceof StoreError, String(error));
  return error.code === expected;
};

describe('tools', () => {
  it('of the program may be used without approval, unless a rule denies them', async (t) => {
    const core = await openWith(t, calls('rings', { tree: 'oak' }), { tools: [rings] });
    const reply = async (deny: readonly string[]) =>
      (await (await core.start({ prompt: 'x', model: 'own', permissions: { deny } })).result()).reply;
    assert.equal(await reply([]), 'oak: 30');
    assert.match(await reply(['rings']), /denied/);
  });

  it('that a rule misspells make the rule an error, not without effect', async (t) => {
    const core = await openWith(t, () => 'x', { tools: [rings] });
    for (const deny of ['ringz', 'bash', 'rings:', 'send'])
      await assert.rejects(core.start({ prompt: 'x', model: 'own', permissions: { deny: [deny] } }), {
        code: 'E_CONFIG',
        message: /permissions\.deny of start: invalid rule/,
      });
  });

  it('are those that the agent names, and an unknown one is refused', async (t) => {
    const core = await openWith(t, calls('rings', { tree: 'oak' }), { tools: [rings] });
    const without = await core.start({ prompt: 'x', model: 'own', tools: [] });
    assert.match((await without.result()).reply, /rings/);
    assert.doesNotMatch((await without.result()).reply, /oak: 30/);
    const wrong = core.start({ prompt: 'x', model: 'own', tools: ['ringz'] });
    await assert.rejects(wrong, { code: 'E_CONFIG', hint: /Did you mean rings\?/ });
  });

  it('that were built in are not there', async (t) => {
    const core = await openWith(t, calls('bash', { command: 'echo hello' }));
    assert.match((await (await core.start({ prompt: 'x', model: 'own' })).result()).reply, /bash/);
    await assert.rejects(core.start({ prompt: 'x', model: 'own', tools: ['bash'] }), code('E_CONFIG'));
  });
});

describe('models', () => {
  it('are opened by name, once, by a function; its refusal is that of the start', async (t) => {
    const asked: string[] = [];
    const models = (name: string) => {
      asked.push(name);
      if (name === 'none') throw new CoppiceError('E_MODEL_UNKNOWN', 'no such model here');
      return ownModel(name, () => `I am ${name}`);
    };
    const core = await openWith(t, () => '', { models });
    for (const model of ['one', 'two', 'one'])
      assert.equal((await (await core.start({ prompt: 'x', model })).result()).reply, `I am ${model}`);
    await assert.rejects(core.start({ prompt: 'x', model: 'none' }), code('E_MODEL_UNKNOWN'));
    assert.deepEqual(asked, ['one', 'two', 'none']);
  });

  it('of an unknown name, or with that of a property of every object, are refused', async (t) => {
    const core = await openWith(t, () => 'x');
    await assert.rejects(core.start({ prompt: 'x', model: 'owm' }), {
      code: 'E_MODEL_UNKNOWN',
      hint: /Did you mean own\?/,
    });
    await assert.rejects(core.start({ prompt: 'x', model: 'constructor' }), code('E_MODEL_UNKNOWN'));
  });

  it('that throw fail the turn, and the next one works', async (t) => {
    let tries = 0;
    const core = await openWith(t, () => {
      tries += 1;
      if (tries === 1) throw new Error('out of order');
      return 'better';
    });
    const agent = await core.start({ prompt: 'x', model: 'own' });
    const { failure } = await agent.result();
    assert.match(failure?.error ?? '', /out of order/);
    await agent.send('again');
    assert.equal((await agent.result()).reply, 'better');
  });

  it('cannot be agent programs, which need the library', async (t) => {
    const model = ownModel('acp:x', ({ host }) => (host === undefined ? 'no host' : 'a host'));
    const core = await openWith(t, () => '', { models: { 'acp:x': model } });
    assert.equal((await (await core.start({ prompt: 'x', model: 'acp:x' })).result()).reply, 'no host');
  });
});

describe('ledgers', () => {
  it('of the program take every step; what they refuse to write is tried again', async (t) => {
    const store = await openSqlite(ledger());
    t.after(() => store.close());
    let broken = 2;
    let committed = 0;
    const own: Store = {
      ...store,
      async commit(steps) {
        broken -= 1;
        if (broken >= 0) throw new StoreError('E_DB_UNAVAILABLE', 'the network is away');
        committed += steps.length;
        return store.commit(steps);
      },
    };
    const core = await openWith(t, newest, { store: own });
    const agent = await core.start({ prompt: 'written down', model: 'own' });
    assert.equal((await agent.result()).reply, 'written down');
    assert.ok(committed > 0 && broken < 0);
  });

  it('are left open by close, and another core continues the tree on them', async (t) => {
    const store = await openSqlite(ledger());
    t.after(() => store.close());
    const first = await openWith(t, () => 'one', { store });
    const { id, result } = await first.start({ prompt: 'x', model: 'own' });
    await result();
    await first.close();
    assert.equal((await store.agent(id))?.id, id);
    await assert.rejects(first.start({ prompt: 'x', model: 'own' }), code('E_CLOSED'));
    const second = await openWith(t, () => 'two', { store });
    const again = await second.resume(id);
    assert.equal(again.report.agents.length, 1);
    await again.send('go on');
    assert.equal((await again.result()).reply, 'two');
  });

  it('are shared by two cores at once, each of which leads its own trees', async (t) => {
    const file = ledger();
    const stores = [await openSqlite(file), await openSqlite(file)];
    t.after(() => Promise.all(stores.map((store) => store.close())));
    const [one, two] = await Promise.all(
      stores.map((store, at) => openWith(t, (request) => `${at}: ${newest(request)}`, { store })),
    );
    const agents = await Promise.all(
      [one, two].map((core) => core?.start({ prompt: 'hello', model: 'own' })),
    );
    const replies = await Promise.all(agents.map(async (agent) => (await agent?.result())?.reply));
    assert.deepEqual(replies, ['0: hello', '1: hello']);
  });

  it('that cannot be opened are refused', async () => {
    await assert.rejects(
      openSqlite(join(import.meta.dirname, 'core.test.ts')),
      (error) => error instanceof StoreError,
    );
  });
});

describe('toolsets', () => {
  const toolset = (name: string, tool: string, asked?: (text: string) => void): Toolset => ({
    name,
    guidance: `Guidance of ${name}.`,
    tools: [
      defineToolsetTool({
        name: tool,
        description: 'Asks an agent.',
        schema: z.strictObject({ question: z.string() }),
        creates: true,
        decode({ question }, call, view) {
          asked?.(question);
          const plan = { id: view.newId(), name: 'expert', key: call.id, terms: {}, inherits: false };
          return forkAgent(view, { ...plan, prompt: question, text: String, output: () => 'asked' });
        },
      }),
    ],
  });

  it('of the program create agents within the limits of the tree', async (t) => {
    const core = await openWith(
      t,
      (request) => {
        if (request.agent.parent_id !== null) return `to ${newest(request)}: yes`;
        return request.messages.length === 1
          ? ['a', 'b', 'c'].map((question) => ({ name: 'ask', input: { question } }))
          : newest(request);
      },
      { toolsets: [toolset('panel', 'ask')] },
    );
    const agent = await core.start({ prompt: 'x', model: 'own', toolsets: ['panel'], limits: { total: 3 } });
    const { agents, root } = await agent.result();
    assert.equal(root.config.toolsets.join(), 'panel');
    assert.equal(agents.length, 3);
    const results = (await core.store.history(agent.id)).flatMap(({ kind, content }) =>
      kind === 'result' ? [content.output] : [],
    );
    assert.deepEqual(results.slice(0, 2), ['asked', 'asked']);
    assert.match(results[2] ?? '', /LIMIT_REACHED.*"total\\?"/);
  });

  it('are bound by rules about agents like the built-in ones, also if they do not say that they create some', async (t) => {
    const { tools, ...panel } = toolset('panel', 'ask');
    const silent = { ...panel, tools: tools.map(({ creates: _, ...tool }) => tool) };
    const core = await openWith(t, calls('ask', { question: 'x' }), { toolsets: [silent] });
    const permissions = { deny: ['ask'] };
    const agent = await core.start({ prompt: 'x', model: 'own', toolsets: ['panel'], permissions });
    const { reply, agents } = await agent.result();
    assert.match(reply, /denied/);
    assert.equal(agents.length, 1);
  });

  it('stand beside the built-in ones; arguments are checked before they decide', async (t) => {
    const asked: string[] = [];
    const own = toolset('panel', 'ask', (question) => asked.push(question));
    let offered: readonly string[] = [];
    const core = await openWith(
      t,
      (request) => {
        offered = request.tools.map(({ name }) => name);
        assert.match(request.system, /Guidance of panel\./);
        return calls('ask', { questoin: 'x' })(request);
      },
      { toolsets: [own] },
    );
    const agent = await core.start({ prompt: 'x', model: 'own', toolsets: ['panel', 'process'] });
    assert.match((await agent.result()).reply, /INVALID_ARG.*question/);
    assert.deepEqual(offered, ['ask', 'fork', 'kill', 'send', 'wait']);
    assert.deepEqual(asked, []);
    await assert.rejects(core.start({ prompt: 'x', model: 'own', toolsets: ['pannel'] }), code('E_CONFIG'));
  });

  it('and tools of one name, also of that of a built-in toolset, are refused', async (t) => {
    const { store } = await openWith(t, () => '');
    const open = (options: Partial<CoreOptions>) => openCore({ store, models: {}, ...options });
    for (const [options, name] of [
      [{ toolsets: [toolset('process', 'ask')] }, 'process'],
      [{ toolsets: [toolset('one', 'ask'), toolset('two', 'ask')] }, 'ask'],
      [{ toolsets: [toolset('one', 'fork')] }, 'fork'],
      [{ tools: [rings, rings] }, 'rings'],
      [{ tools: [rings], toolsets: [toolset('one', 'rings')] }, 'rings'],
    ] as const)
      await assert.rejects(open(options), {
        code: 'E_CONFIG',
        message: new RegExp(`the name "${name}" is taken`),
      });
  });
});

it('refuses options that are missing or unknown', async (t) => {
  const core = await openWith(t, () => 'x');
  const { store } = core;
  const untyped = (options: object) => openCore(options as CoreOptions);
  await assert.rejects(untyped({ store }), { code: 'E_CONFIG', message: /models of openCore/ });
  await assert.rejects(untyped({ models: {} }), { code: 'E_CONFIG', message: /store of openCore/ });
  await assert.rejects(untyped({ store, models: {}, tool: [] }), {
    code: 'E_CONFIG',
    message: /no option "tool"/,
  });
  const start = (options: object) => core.start(options as { prompt: string; model: string });
  await assert.rejects(start({ model: 'own' }), code('E_INVALID_ARGUMENT'));
  await assert.rejects(start({ prompt: 'x' }), code('E_INVALID_ARGUMENT'));
  await assert.rejects(start({ prompt: 'x', model: 'own', toolset: [] }), {
    code: 'E_CONFIG',
    message: /no option "toolset"/,
  });
});

it('a tool that asks for approval is denied, since nobody can give one', async (t) => {
  const asking = defineTool({
    ...{ name: 'asking', description: 'x', input: z.strictObject({}), permission: { default: 'ask' } },
    run: () => 'ran',
  }) as Tool;
  const core = await openWith(t, calls('asking', {}), { tools: [asking] });
  const { reply } = await (await core.start({ prompt: 'x', model: 'own' })).result();
  assert.match(reply, /needs approval .* nobody can give it/);
});

it('a model that breaks its contract fails its request under its name', async (t) => {
  const usage = { input: 0, output: 0, cached: 0, reasoning: 0, cost_usd: null };
  const call = { type: 'call', id: 'c', name: 'x', input: { x: 1 } };
  const failureOf = async (stream: () => unknown) => {
    const own = { ...ownModel('broken', () => ''), stream } as never;
    const core = await openWith(t, () => '', { models: { own } });
    const { failure } = await (await core.start({ prompt: 'x', model: 'own' })).result();
    return `${failure?.kind}: ${failure?.error}`;
  };
  for (const [stream, told] of [
    [() => null, 'gave no outcome as the type Model demands'],
    [() => 'said', 'gave no outcome as the type Model demands'],
    [() => ({ type: 'answer', usage, finish: 'stop' }), 'gave no outcome as the type Model demands'],
    [() => ({ type: 'failure' }), 'gave no outcome as the type Model demands'],
    [
      () => ({ type: 'answer', usage, finish: 'calls', content: { model: 'x', parts: [call] } }),
      'gave a call whose "input" is not the text of JSON',
    ],
  ] as const)
    assert.equal(await failureOf(stream), `internal: the model broken ${told}`);
  for (const [thrown, told] of [
    [new TypeError('x is not a function'), 'TypeError: x is not a function'],
    ['words', 'words'],
    [undefined, 'undefined'],
  ] as const) {
    const throws = () => {
      throw thrown;
    };
    assert.equal(await failureOf(throws), `internal: the model broken threw ${told}`);
    assert.equal(await failureOf(() => Promise.reject(thrown)), `internal: the model broken threw ${told}`);
  }
});

it('a tool of a toolset whose decode gives no decision is an error for the model, not a call without end', async (t) => {
  for (const decision of [undefined, 'done', Promise.resolve({ type: 'settle' })]) {
    const act = defineToolsetTool({
      ...{ name: 'act', description: 'x', schema: z.strictObject({}) },
      decode: () => decision as never,
    });
    const own: Toolset = { name: 'own', tools: [act], guidance: '' };
    const core = await openWith(t, calls('act', {}), { toolsets: [own] });
    const agent = await core.start({ prompt: 'x', model: 'own', toolsets: ['own'] });
    assert.match(
      (await agent.result()).reply,
      /decode.* of act gave no decision \(settle, refuse, park, delegate\)/,
    );
  }
});
