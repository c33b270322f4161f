// Proves what the tool registry accepts and refuses, what it lists, how a program calls its tools, and that agents have them.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { z } from 'zod';
import {
  createToolRegistry,
  defineTool,
  openCoppice,
  registerSubagentTools,
  type Tool,
  type ToolDefinition,
} from '../../src/coppice.ts';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { libraryStage } from './library-stage.ts';

afterEach(closeOpened);

const SHOUT: ToolDefinition = {
  name: 'shout',
  description: 'Says it louder.',
  parameters: {
    text: { type: 'string', description: 'What to say', required: true },
    times: { type: 'integer', description: 'How often', minimum: 1 },
    tone: { type: 'string', enum: ['glad', 'cross'] },
    marks: { type: 'array', items: { type: 'string' } },
  },
  category: 'other',
};

const shout = (args: Readonly<Record<string, unknown>>) =>
  `${String(args.text).toUpperCase()}!`.repeat((args.times as number | undefined) ?? 1);

const half = defineTool({
  name: 'half',
  description: 'Half of a number.',
  input: z.strictObject({ number: z.number().describe('Any number') }),
  run: ({ number }) => String(number / 2),
}) as Tool;

it('lists registered tools in order, with their categories', () => {
  const registry = createToolRegistry();
  registry.register(SHOUT, shout);
  registry.registerTool(half);
  const [first, second, ...others] = registry.getToolDefinitions();
  assert.deepEqual(first, SHOUT);
  assert.deepEqual(second, {
    name: 'half',
    description: 'Half of a number.',
    parameters: { number: { type: 'number', description: 'Any number', required: true } },
    category: 'other',
  });
  assert.equal(others.length, 0);
  assert.deepEqual(
    [registry.has('shout'), registry.has('half'), registry.has('whisper')],
    [true, true, false],
  );
});

it('refuses definitions that no provider accepts, and duplicate names', () => {
  const registry = createToolRegistry();
  registry.register(SHOUT, shout);
  const bad = (definition: unknown, message: RegExp) =>
    assert.throws(() => registry.register(definition as ToolDefinition, shout), message);
  bad({ ...SHOUT, name: 'no spaces' }, /a name has 1 to 64 letters/);
  bad({ ...SHOUT, name: '' }, /a name has 1 to 64 letters/);
  bad({ ...SHOUT, name: 'odd', parameters: { x: { type: 'colour' } } }, /cannot be used/);
  bad(undefined, /field "name": missing/);
  bad({ name: 'odd', description: 'Odd.' }, /field "parameters": missing/);
  bad({ ...SHOUT, parameters: { x: 'string' } }, /field "parameters.x": expected object, received string/);
  assert.throws(() => registry.register({ ...SHOUT, name: 'odd' }, undefined as never), /field "handler"/);
  bad(SHOUT, /"shout": it is already registered/);
  assert.throws(
    () => registry.registerTool({ ...half, spec: { ...half.spec, name: 'shout' } }),
    /already registered/,
  );
  assert.equal(registry.getToolDefinitions().length, 1);
});

it('a call by the program resolves to the output or to an error result; it never rejects', async () => {
  const registry = createToolRegistry();
  registry.register(SHOUT, shout);
  registry.registerTool(half);
  const fails = (name: string, failure: () => string) =>
    registry.register({ name, description: name, parameters: {} }, failure);
  fails('throws', () => {
    throw new Error('no luck');
  });
  fails('throws_text', () => {
    throw 'just text';
  });
  fails('no_text', () => ({ a: 1 }) as unknown as string);
  const run = async (name: string, args: unknown = {}) =>
    registry.execute({ id: 'c1', name, arguments: args as Record<string, unknown> });
  assert.deepEqual(await run('shout', { text: 'hey', times: 2 }), {
    id: 'c1',
    name: 'shout',
    output: 'HEY!HEY!',
    isError: false,
  });
  assert.equal((await run('half', { number: 5 })).output, '2.5');
  const errors: readonly (readonly [string, unknown, RegExp])[] = [
    ['shout', {}, /field "text": missing/],
    ['shout', { text: 7 }, /field "text": expected string/],
    ['shout', { text: 'x', times: 0 }, /field "times"/],
    ['shout', { text: 'x', tone: 'dull' }, /field "tone"/],
    [
      'shout',
      { text: 'x', volume: 11 },
      /field "volume": not known; the fields are: text, times, tone, marks/,
    ],
    ['shout', 'text', /expected object/],
    ['shout', null, /expected object/],
    ['half', { number: 'five' }, /field "number"/],
    ['throws', {}, /^no luck$/],
    ['throws_text', {}, /^just text$/],
    ['whisper', {}, /there is no tool "whisper"\. Tools: shout, half/],
  ];
  for (const [name, args, message] of errors) {
    const result = await run(name, args);
    assert.deepEqual([result.id, result.name, result.isError], ['c1', name, true]);
    assert.match(result.output, message);
  }
  assert.deepEqual(await run('no_text'), { id: 'c1', name: 'no_text', output: '{"a":1}', isError: false });
});

it('agents have the tools of the registry and use them without approval', async () => {
  const registry = createToolRegistry();
  const agents: string[] = [];
  registry.register(SHOUT, (args, context) => {
    agents.push(context.agent.name);
    return shout(args);
  });
  const on = await libraryStage(
    [{ when: { step: 0 }, calls: [{ name: 'shout', input: { text: 'hey' } }] }, { say: 'heard {{result}}' }],
    { registry, subagents: null },
  );
  assert.equal(await on.ask(), 'heard HEY!');
  assert.deepEqual(agents, ['main']);
  const [request] = on.requests;
  const told = request?.tools.find((tool) => tool.name === 'shout')?.input as Record<string, unknown>;
  assert.deepEqual(told.required, ['text']);
  assert.equal(
    request?.tools.some((tool) => tool.name.startsWith('subagent_')),
    false,
  );
});

it('a registry belongs to one open coppice and accepts no new tools while that is open', async () => {
  const registry = createToolRegistry();
  registry.register(SHOUT, shout);
  const on = await libraryStage([{ say: 'x' }], { registry, subagents: null });
  const again = { database: `sqlite:${on.folder}/other.db`, model: 'x', models: {}, registry };
  await assert.rejects(openCoppice(again), { code: 'E_INVALID_ARGUMENT', message: /another open coppice/ });
  assert.throws(() => registry.registerTool(half), { code: 'E_INVALID_ARGUMENT', message: /in use/ });
  await on.coppice.close();
  registry.registerTool(half);
  await libraryStage([{ say: 'x' }], { registry, subagents: null });
  // Closing the first one again must not release the registry that the second one uses.
  await on.coppice.close();
  assert.throws(() => registry.register({ ...SHOUT, name: 'late' }, shout), { code: 'E_INVALID_ARGUMENT' });
});

it('programs of an open coppice go on when another one is closed', async () => {
  const waits = [
    { when: { step: 0 }, calls: [{ name: 'bash', input: { command: 'touch begun; sleep 1; echo whole' } }] },
    { say: 'heard {{result}}' },
  ];
  const terms = {
    builtInTools: ['bash'],
    sandbox: { mode: 'off' },
    permissions: { allow: ['bash'] },
  } as const;
  const [one, other] = [
    await libraryStage(waits, { subagents: null, coppice: terms }),
    await libraryStage([{ say: 'x' }], { subagents: null }),
  ];
  const heard = one.ask();
  await until(() => existsSync(join(one.folder, 'begun')), 'the command runs');
  await other.coppice.close();
  assert.equal((await heard).trim(), 'heard whole');
});

it('a coppice that could not be opened leaves the registry free; refuses what is not a registry', async () => {
  const registry = createToolRegistry();
  await assert.rejects(openCoppice({ database: 'sqlite:/dev/null/x.db', model: 'x', registry }));
  registry.registerTool(half);
  const posing = { ...registry } as typeof registry;
  await assert.rejects(
    openCoppice({ database: 'sqlite::memory:', model: 'x', registry: posing }),
    /createToolRegistry/,
  );
});

it('toolsets come from the agent, else from its profile, else from the coppice', async () => {
  const registry = createToolRegistry();
  registry.register(SHOUT, shout);
  registry.registerTool(half);
  const on = await libraryStage([{ say: '{{agent.name}}' }], {
    registry,
    subagents: null,
    coppice: {
      toolsets: ['sessions'],
      system: 'of the house',
      profiles: [
        { name: 'quiet', deny_tools: ['shout'], system: 'of the profile', toolsets: ['fanout'] },
        { name: 'plain' },
      ],
    },
  });
  const seen = async (options: object) => {
    await (await on.coppice.start({ prompt: 'x', ...options })).result();
    const request = on.requests.at(-1);
    return [request?.system.split('\n')[0], request?.tools.map((tool) => tool.name)];
  };
  assert.deepEqual(await seen({}), [
    'of the house',
    ['half', 'sessions_cancel', 'sessions_list', 'sessions_spawn', 'shout'],
  ]);
  assert.deepEqual(await seen({ profile: 'plain' }), [
    'of the house',
    ['half', 'sessions_cancel', 'sessions_list', 'sessions_spawn', 'shout'],
  ]);
  assert.deepEqual(await seen({ profile: 'quiet' }), ['of the profile', ['half', 'spawn_agents']]);
  assert.deepEqual(await seen({ profile: 'quiet', toolsets: [], system: 'own' }), ['own', ['half']]);
  await assert.rejects(on.coppice.start({ prompt: 'x', profile: 'loud' }), {
    code: 'E_CONFIG',
    hint: 'Profiles: quiet, plain',
  });
  await assert.rejects(on.coppice.start({ prompt: 'x', toolsets: ['chess'] as never }), { code: 'E_CONFIG' });
});

it('without an open coppice, the tools fail and say what to do', async () => {
  const registry = createToolRegistry();
  registerSubagentTools(registry);
  const call = { id: '1', name: 'subagent_spawn', arguments: { task: 'x', description: 'x' } };
  const unbound = await registry.execute(call);
  assert.equal(unbound.isError, true);
  assert.match(unbound.output, /openCoppice\(\{ registry/);
  const on = await libraryStage([{ say: 'here' }], { registry, subagents: null });
  assert.equal((await registry.execute(call)).output, 'here');
  await on.coppice.close();
  assert.deepEqual(await registry.execute(call), unbound);
});
