// Proves `registerSubagentTools` (docs/library.md): loops, nested loops and single requests, by agents and by the program itself, down to the allowed depth.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import {
  createScriptedModel,
  createToolRegistry,
  type ModelRequest,
  registerSubagentTools,
  type SubagentInfo,
} from '../../src/coppice.ts';
import { closeOpened } from '../close-opened.ts';
import { fixedModel } from '../runtime/toolsets/delegate-play.ts';
import { libraryStage, recorder, spawnCall, stories } from './library-stage.ts';

afterEach(closeOpened);

const toolsOf = (request: ModelRequest | undefined) => (request?.tools ?? []).map((tool) => tool.name);

it('registers both tools in the category subagent; the description states the default of maxTurns', () => {
  const registry = createToolRegistry();
  registerSubagentTools(registry, { defaultMaxTurns: 7 });
  const [spawn, delegate, ...others] = registry.getToolDefinitions();
  assert.deepEqual(
    [spawn?.name, spawn?.category, Object.keys(spawn?.parameters ?? {})],
    ['subagent_spawn', 'subagent', ['task', 'description', 'maxTurns', 'systemPrompt']],
  );
  assert.deepEqual(
    [delegate?.name, delegate?.category, Object.keys(delegate?.parameters ?? {})],
    ['subagent_delegate', 'subagent', ['task', 'description', 'serverName', 'agentId']],
  );
  assert.match(spawn?.parameters.maxTurns?.description ?? '', /default: 7/);
  assert.equal(others.length, 0);
  const again = { code: 'E_INVALID_ARGUMENT', message: /already registered/ };
  assert.throws(() => registerSubagentTools(registry), again);
  const none = createToolRegistry();
  registerSubagentTools(none, { maxDepth: 0 });
  assert.throws(() => registerSubagentTools(none), again);
});

it('refuses invalid numbers; a depth of 0 registers nothing', async () => {
  for (const defaultMaxTurns of [0, -1, 2.5, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => registerSubagentTools(createToolRegistry(), { defaultMaxTurns }), {
      code: 'E_CONFIG',
    });
  for (const maxDepth of [-1, 0.5, Number.NaN])
    assert.throws(() => registerSubagentTools(createToolRegistry(), { maxDepth }), {
      code: 'E_CONFIG',
    });
  const on = await libraryStage([{ say: 'alone' }], { subagents: { maxDepth: 0 } });
  assert.deepEqual(on.registry.getToolDefinitions(), []);
  assert.equal(await on.ask(), 'alone');
  assert.equal(
    toolsOf(on.requests[0]).some((name) => name.startsWith('subagent_')),
    false,
  );
});

it('a depth of 0 applies whatever toolsets are configured', async () => {
  const on = await libraryStage([{ say: 'alone' }], {
    subagents: { maxDepth: 0 },
    coppice: { toolsets: ['process', 'delegate'] },
  });
  await on.ask();
  assert.deepEqual(toolsOf(on.requests[0]), ['fork', 'kill', 'send', 'wait']);
});

it('refuses unknown options, unknown callbacks and callbacks that are not functions', () => {
  const refused = (options: object, message: RegExp) =>
    assert.throws(() => registerSubagentTools(createToolRegistry(), options), {
      code: 'E_CONFIG',
      message,
    });
  refused({ callbacks: { onSubagentStart: 'yes' } }, /onSubagentStart .*: expected a function/);
  refused({ callbacks: { onSubagentError: null } }, /onSubagentError .*: expected a function/);
  refused({ callbacks: { onSubagentStrat: () => undefined } }, /no "onSubagentStrat"/);
  refused({ maxDept: 0 }, /no option "maxDept"/);
});

it('reads a call of the program as it is meant, and shows a right one otherwise', async () => {
  const on = await libraryStage([{ say: 'done: {{user}}' }]);
  for (const args of [{ task: 'look' }, { prompt: 'look', description: 'x', maxTurns: '3' }])
    assert.match((await on.spawn(args)).output, /^done: look/);
  const { output, isError } = await on.spawn({ task: 'look', description: 'x', colour: 'red' });
  assert.equal(isError, true);
  assert.match(output, /subagent_spawn: field "colour": not known.* For example: subagent_spawn /);
});

it('an agent’s spawn runs a child loop with inherited tools and returns the final text', async () => {
  const registry = createToolRegistry();
  registry.register(
    { name: 'look', description: 'Looks.', parameters: {}, category: 'read' },
    (_args, { agent }) => `seen by ${agent.name}`,
  );
  const on = await libraryStage(
    [
      { when: { root: true, step: 0 }, calls: [spawnCall('scout')] },
      { when: { root: true }, say: 'got: {{result}}' },
      { when: { step: 0 }, calls: [{ name: 'look', input: {} }] },
      { say: '{{result}}' },
    ],
    { registry },
  );
  assert.match(
    await on.ask('a prompt of the root'),
    /^got: seen by scout\n\n\[Did: 1 tool call \(look 1\); .*\]$/,
  );
  const scout = on.requests.find((request) => request.agent.name === 'scout');
  assert.deepEqual(scout?.messages, [{ role: 'user', text: 'do scout' }]);
  assert.deepEqual(toolsOf(scout), ['look', 'subagent_spawn']);
  assert.deepEqual(toolsOf(on.requests[0]), ['fork', 'kill', 'look', 'send', 'subagent_spawn', 'wait']);
});

it('the system prompt is that of the call, else the registered one, else that of the parent', async () => {
  const systems = async (systemPrompt: string | undefined, more: Record<string, unknown>) => {
    const on = await libraryStage(
      [{ when: { root: true, step: 0 }, calls: [spawnCall('child', more)] }, { say: 'x' }],
      { subagents: systemPrompt === undefined ? {} : { systemPrompt }, coppice: { system: 'of the parent' } },
    );
    await on.ask();
    await on.spawn({ task: 'x', description: 'host', ...more });
    const [child, host] = ['child', 'host'].map(
      (name) => on.requests.find((request) => request.agent.name === name)?.system,
    );
    await on.coppice.close();
    assert.equal(child, host);
    return child;
  };
  assert.equal(await systems(undefined, {}), 'of the parent');
  assert.equal(await systems('registered', {}), 'registered');
  assert.equal(await systems('registered', { systemPrompt: 'of the call' }), 'of the call');
});

it('a spawn by the program runs the task as a root and returns its final text', async () => {
  const on = await libraryStage([
    { when: { step: 0, user: 'first' }, calls: [spawnCall('below')] },
    { when: { agent: 'below' }, say: 'deep' },
    { say: 'heard {{result}}' },
  ]);
  const spawned = await on.spawn({ task: 'the first task', description: 'top' });
  assert.deepEqual(
    { ...spawned, output: spawned.output.split('\n')[0] },
    {
      id: 'host-1',
      name: 'subagent_spawn',
      output: 'heard deep',
      isError: false,
    },
  );
  const request = (name: string) => on.requests.find((one) => one.agent.name === name);
  assert.equal(request('top')?.agent.parent_id, null);
  // `top` is the first of two allowed levels, so `below` is the last.
  assert.deepEqual(toolsOf(request('top')), ['subagent_spawn']);
  assert.deepEqual(toolsOf(request('below')), []);
});

it('calls by the program are checked like those of an agent', async () => {
  const on = await libraryStage([{ say: 'x' }]);
  for (const [args, message] of [
    [{ description: 'x' }, /"task"/],
    [{ task: ' ', description: 'x' }, /"task"/],
    ...[-1, 1.5, Number.NaN].map(
      (maxTurns) => [{ task: 'x', description: 'x', maxTurns }, /"maxTurns"/] as const,
    ),
    [{ task: 'x', description: 'x', worktree: true }, /worktree/],
  ] as const) {
    const result = await on.spawn(args);
    assert.equal(result.isError, true, JSON.stringify(args));
    assert.match(result.output, message);
  }
  assert.equal(on.requests.length, 0);
});

it('an agent has maxTurns or the registered default of turns, then one last answer', async () => {
  const registry = createToolRegistry();
  registry.register({ name: 'look', description: 'Looks.', parameters: {} }, () => 'nothing yet');
  const on = await libraryStage(
    [{ when: { user: 'Finish now' }, say: 'what I have' }, { calls: [{ name: 'look', input: {} }] }],
    { registry, subagents: { defaultMaxTurns: 3 } },
  );
  const turns = async (more: object) => {
    const before = on.requests.length;
    const { output } = await on.spawn({ task: 'x', description: 'x', ...more });
    assert.match(
      output,
      /^the sub-agent was cut short: limit reached: .*\n\nWhat it had by then:\nwhat I have$/,
    );
    return on.requests.length - before;
  };
  assert.deepEqual([await turns({}), await turns({ maxTurns: 1 }), await turns({ maxTurns: 5 })], [4, 2, 6]);
});

it('delegates to the server and agent of the call, else to the registered ones', async () => {
  const seen: ModelRequest[] = [];
  const names = ['acp:home', 'acp:home/wren', 'acp:far', 'acp:far/owl'];
  const models = Object.fromEntries(names.map((name) => [name, fixedModel(name, `${name} says`, seen)]));
  const on = await libraryStage(
    [
      {
        when: { step: 0 },
        calls: [
          { name: 'subagent_delegate', input: { task: 'sum up', description: 'a' } },
          { name: 'subagent_delegate', input: { task: 'sum up', description: 'b', serverName: 'far' } },
          { name: 'subagent_delegate', input: { task: 'x', description: 'c', serverName: 'nowhere' } },
        ],
      },
      {
        say: '{{results.subagent_delegate.0}}, {{results.subagent_delegate.1}}, {{results.subagent_delegate.2}}',
      },
    ],
    { subagents: { serverName: 'home', agentId: 'wren' }, coppice: { models } },
  );
  assert.match(
    await on.ask(),
    /^acp:home\/wren says\n\n.*, acp:far says\n\n.*, .*NOT_AVAILABLE.*no ACP server .*nowhere.*Servers: home, far/,
  );
  const own = (args: object) =>
    on.registry.execute({
      id: '1',
      name: 'subagent_delegate',
      arguments: { task: 'x', description: 'd', ...args },
    });
  assert.equal((await own({})).output, 'acp:home/wren says');
  assert.equal((await own({ serverName: 'far', agentId: 'owl' })).output, 'acp:far/owl says');
  assert.match((await own({ serverName: 'nowhere' })).output, /no ACP server "nowhere"/);
  assert.equal(seen.length, 4);
  assert.ok(seen.every((request) => request.tools.length === 0 && request.system === ''));
});

it('a delegation without a server fails and says why', async () => {
  const { callbacks, told } = recorder();
  const on = await libraryStage([{ say: 'x' }], { subagents: { callbacks } });
  const result = await on.registry.execute({
    id: '1',
    name: 'subagent_delegate',
    arguments: { task: 'x', description: 'x' },
  });
  assert.equal(result.isError, true);
  assert.match(result.output, /no ACP server is configured/);
  assert.deepEqual(told, []);
});

it('nests exactly as deep as allowed, even deeper than the default of the tree', async () => {
  for (const maxDepth of [1, 2, 5]) {
    const { callbacks, told } = recorder();
    const on = await libraryStage([{ when: { step: 0 }, calls: [spawnCall('deeper')] }, { say: 'back' }], {
      subagents: { maxDepth, callbacks },
    });
    assert.equal(await on.ask(), 'back');
    const started = told.filter((one) => one.name === 'onSubagentStart');
    assert.equal(started.length, maxDepth);
    const last = on.requests.findLast((request) => toolsOf(request).length === 0);
    assert.equal(
      last?.messages.some((message) => JSON.stringify(message).includes('LIMIT_REACHED')),
      true,
    );
  }
});

it('ids are unique across concurrent and successive spawns', async () => {
  const infos: SubagentInfo[] = [];
  const on = await libraryStage(
    [
      { when: { agent: 'main', step: 0 }, calls: [spawnCall('a'), spawnCall('b'), spawnCall('c')] },
      { when: { agent: 'main', step: 1 }, calls: [spawnCall('d')] },
      { say: 'done' },
    ],
    { subagents: { callbacks: { onSubagentStart: (info) => infos.push(info) } } },
  );
  await on.ask();
  await on.spawn({ task: 'x', description: 'e' });
  assert.deepEqual(infos.map((info) => info.description).sort(), ['a', 'b', 'c', 'd', 'e']);
  assert.equal(new Set(infos.map((info) => info.id)).size, 5);
});

it('a failing child loop is an error result for its parent and calls onSubagentError', async () => {
  const { callbacks, told } = recorder();
  const on = await libraryStage(
    [
      { when: { root: true, step: 0, user: 'begin' }, calls: [spawnCall('weak')] },
      { when: { root: true, user: 'begin' }, say: 'got: {{result}}' },
    ],
    { subagents: { callbacks } },
  );
  assert.match(
    await on.ask(),
    /got: the sub-agent failed \(bad_request\): no rule of library test matches agent "weak"/,
  );
  const host = await on.spawn({ task: 'x', description: 'alone' });
  assert.equal(host.isError, true);
  assert.match(host.output, /the sub-agent failed \(bad_request\).*"alone"/);
  assert.deepEqual(stories(told), { weak: ['Start', 'Error'], alone: ['Start', 'Error'] });
  const [, error] = told;
  assert.ok(error?.told instanceof Error);
  assert.equal((error.told.cause as { kind: string }).kind, 'bad_request');
});

it('an unknown model is an error; a child may have a model of its own', async () => {
  const other = createScriptedModel({ rules: [{ say: 'from the other model' }] }, 'other');
  const on = await libraryStage(
    [
      {
        when: { root: true, step: 0 },
        calls: [spawnCall('p', { profile: 'far' }), spawnCall('q', { profile: 'lost' })],
      },
      { say: '{{results.subagent_spawn.0}} | {{results.subagent_spawn.1}}' },
    ],
    {
      coppice: {
        models: { other },
        profiles: [
          { name: 'far', model: 'other' },
          { name: 'lost', model: 'nowhere/at-all' },
        ],
      },
    },
  );
  assert.match(await on.ask(), /^from the other model\n\n\[Did: .*\] \| .*NOT_AVAILABLE/);
});
