// Proves that callbacks arrive in order for each sub-agent, including nested ones, with one start and one end each, and that no callback harms the run.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, it } from 'node:test';
import {
  createToolRegistry,
  type SubagentCallbacks,
  type SubagentInfo,
  type SubagentResult,
  type ToolRegistry,
} from '../../src/coppice.ts';
import { closeOpened } from '../close-opened.ts';
import { fixedModel } from '../runtime/toolsets/delegate-play.ts';
import { until } from '../until.ts';
import { libraryStage, recorder, spawnCall, stories, type Told } from './library-stage.ts';

afterEach(closeOpened);

function looking(): ToolRegistry {
  const registry = createToolRegistry();
  registry.register(
    { name: 'look', description: 'Looks.', parameters: { at: { type: 'string', required: true } } },
    ({ at }) => {
      if (at === 'the sun') throw new Error('too bright');
      return `${String(at)} is there`;
    },
  );
  return registry;
}

/** A registry with a tool that runs until its turn is stopped, and the number of such calls that have begun. */
function hanging(): { readonly registry: ToolRegistry; readonly running: () => number } {
  const registry = createToolRegistry();
  let running = 0;
  registry.register({ name: 'hang', description: 'Hangs.', parameters: {} }, async (_args, { signal }) => {
    running += 1;
    await once(signal, 'abort');
    return 'stopped';
  });
  return { registry, running: () => running };
}

const ends = (told: readonly Told[]) =>
  told.filter((one) => one.name === 'onSubagentComplete' || one.name === 'onSubagentError');

const resultOf = (one: Told | undefined) => one?.told as SubagentResult;
const errorOf = (one: Told | undefined) => one?.told as Error;

it('reports the start, the streamed text, each call with arguments and output, and the result', async () => {
  const { callbacks, told } = recorder();
  const on = await libraryStage(
    [
      { when: { root: true, step: 0 }, calls: [spawnCall('scout')] },
      { when: { root: true }, say: 'done' },
      {
        when: { step: 0 },
        say: 'looking',
        calls: [
          { name: 'look', input: { at: 'the tree' } },
          { name: 'look', input: { at: 'the sun' } },
          { name: 'nothing', input: {} },
        ],
      },
      { say: 'there is a tree, and that is all there is to see', chunk_ms: 1 },
    ],
    { registry: looking(), subagents: { callbacks } },
  );
  await on.ask();
  const id = told[0]?.id;
  assert.ok(told.every((one) => one.id === id));
  assert.deepEqual(told[0]?.told, { id, description: 'scout', mode: 'spawn' });
  const calls = told
    .filter((one) => one.name.includes('ToolCall'))
    .map(({ name, told: what }) => {
      const { id: call_id, ...others } = what as { id: string };
      assert.match(call_id, /^call_/);
      return [name.replace('onSubagentToolCall', ''), others];
    });
  assert.deepEqual(calls.slice(0, 4), [
    ['Start', { name: 'look', arguments: { at: 'the tree' } }],
    ['End', { name: 'look', output: 'the tree is there', isError: false }],
    ['Start', { name: 'look', arguments: { at: 'the sun' } }],
    ['End', { name: 'look', output: 'too bright', isError: true }],
  ]);
  assert.equal(calls.length, 6);
  assert.match(JSON.stringify(calls[5]), /there is no tool \\"nothing/);
  const texts = told.filter((one) => one.name === 'onSubagentStreamDelta').map((one) => one.told);
  assert.equal(texts[0], 'looking');
  assert.ok(texts.length > 2, 'the text comes in pieces');
  assert.equal(texts.slice(1).join(''), 'there is a tree, and that is all there is to see');
  const last = told.at(-1);
  assert.equal(last?.name, 'onSubagentComplete');
  const { text, turns, durationMs } = resultOf(last);
  assert.deepEqual([text, turns], ['there is a tree, and that is all there is to see', 2]);
  assert.ok(durationMs >= 0);
});

it('concurrent and nested sub-agents are each reported completely under their own ids, inner ones within outer ones', async () => {
  const { callbacks, told } = recorder();
  const on = await libraryStage(
    [
      { when: { root: true, step: 0 }, calls: [spawnCall('left'), spawnCall('right'), spawnCall('outer')] },
      { when: { root: true }, say: 'done' },
      { when: { agent: 'outer', step: 0 }, calls: [spawnCall('inner')] },
      { say: 'this is {{agent.name}} speaking at some length', chunk_ms: 1 },
    ],
    { subagents: { callbacks } },
  );
  await on.ask();
  const lives = stories(told);
  assert.deepEqual(Object.keys(lives).sort(), ['inner', 'left', 'outer', 'right']);
  for (const [name, life] of Object.entries(lives)) {
    assert.equal(life[0], 'Start', name);
    assert.equal(life.at(-1), 'Complete', name);
    assert.equal(life.filter((one) => ['Start', 'Complete', 'Error'].includes(one)).length, 2, name);
  }
  const names = new Map(
    told.flatMap(({ name, told: info }) =>
      name === 'onSubagentStart' ? [[(info as SubagentInfo).id, (info as SubagentInfo).description]] : [],
    ),
  );
  for (const [id, name] of names) {
    const deltas = told.filter((one) => one.name === 'onSubagentStreamDelta' && one.id === id);
    assert.equal(deltas.map((one) => one.told).join(''), `this is ${name} speaking at some length`);
  }
  const place = (callback: Told['name'], who: string) =>
    told.findIndex((one) => one.name === callback && names.get(one.id) === who);
  assert.ok(place('onSubagentToolCallStart', 'outer') < place('onSubagentStart', 'inner'));
  assert.ok(place('onSubagentComplete', 'inner') < place('onSubagentToolCallEnd', 'outer'));
});

it('a delegation reports its mode, one turn and a result; a failed one reports only an error', async () => {
  const { callbacks, told } = recorder();
  const failure = { kind: 'network' as const, error: 'the stream broke', retryable: true };
  const on = await libraryStage([{ say: 'unused' }], {
    subagents: { callbacks, serverName: 'good' },
    coppice: {
      models: {
        'acp:good': fixedModel('acp:good', 'an answer'),
        'acp:bad': fixedModel('acp:bad', { type: 'failure', failure }),
      },
    },
  });
  for (const serverName of ['good', 'bad'])
    await on.registry.execute({
      id: '1',
      name: 'subagent_delegate',
      arguments: { task: 'x', description: serverName, serverName },
    });
  assert.deepEqual(stories(told), { good: ['Start', 'Complete'], bad: ['Start', 'Error'] });
  assert.equal((told[0] as Told & { told: SubagentInfo }).told.mode, 'delegate');
  const { text, turns } = resultOf(told[1]);
  assert.deepEqual([text, turns], ['an answer', 1]);
  assert.equal(errorOf(told[3]).message, 'the stream broke');
});

it('an interrupted or killed sub-agent reports one error and nothing after it', async () => {
  for (const how of ['interrupt', 'kill'] as const) {
    const { callbacks, told } = recorder();
    const { registry, running } = hanging();
    const on = await libraryStage(
      [
        { when: { root: true, step: 0 }, calls: [spawnCall('one'), spawnCall('two')] },
        { when: { step: 0 }, calls: [{ name: 'hang', input: {} }] },
        { say: 'late' },
      ],
      { registry, subagents: { callbacks } },
    );
    const agent = await on.coppice.start({ prompt: 'begin' });
    await until(() => running() === 2, 'both are at work');
    await (how === 'kill' ? agent.kill() : agent.interrupt());
    const { outcome, outcome_text, failure } = await agent.result();
    assert.deepEqual(
      [outcome, outcome_text, failure?.kind],
      how === 'kill'
        ? ['stopped', 'stopped: killed by you', 'killed']
        : ['stopped', 'stopped by you', 'interrupted'],
    );
    await until(() => ends(told).length === 2, 'both have ended');
    await on.coppice.close();
    for (const life of Object.values(stories(told))) {
      assert.deepEqual(
        life.filter((one) => !one.startsWith('ToolCall')),
        ['Start', 'Error'],
      );
      assert.equal(life.at(-1), 'Error');
    }
    const [first] = ends(told);
    assert.match(errorOf(first).message, how === 'kill' ? /killed by you/ : /by the program/);
  }
});

it('closing ends the reports of every sub-agent; a resumed tree reports them again to their real end', async () => {
  const { callbacks, told } = recorder();
  const { registry, running } = hanging();
  const rules = [
    { when: { root: true, step: 0 }, calls: [spawnCall('one')] },
    { when: { step: 0 }, calls: [{ name: 'hang', input: {} }] },
    { say: 'went on' },
  ];
  const on = await libraryStage(rules, { registry, subagents: { callbacks } });
  const agent = await on.coppice.start({ prompt: 'begin' });
  await until(() => running() === 1, 'it is at work');
  await on.coppice.close();
  assert.deepEqual(stories(told), { one: ['Start', 'ToolCallStart', 'Error'] });
  assert.equal((errorOf(ends(told)[0]) as Error & { code?: string }).code, 'E_CLOSED');
  const next = await libraryStage(rules, {
    registry,
    subagents: null,
    coppice: { database: `sqlite:${on.folder}/ledger.db` },
  });
  const resumed = await next.coppice.resume(agent.id);
  assert.equal((await resumed.result()).reply, 'went on');
  const again = told.slice(3);
  assert.equal(again[0]?.name, 'onSubagentStart');
  assert.equal(again[0]?.id, told[0]?.id);
  assert.equal(again.at(-1)?.name, 'onSubagentComplete');
  assert.equal(resultOf(again.at(-1)).turns, 2);
  assert.equal(ends(again).length, 1);
});

it('a callback that throws or rejects causes a warning; the run and the other callbacks continue', async () => {
  const { callbacks: kept, told } = recorder();
  const warnings: string[] = [];
  const onWarning = (warning: Error & { code?: string }) => {
    if (warning.code === 'COPPICE_CALLBACK') warnings.push(warning.message);
  };
  process.on('warning', onWarning);
  const fail = () => {
    throw new Error('a fault of the program');
  };
  const callbacks: SubagentCallbacks = {
    ...kept,
    onSubagentStart: (info) => {
      kept.onSubagentStart?.(info);
      fail();
    },
    onSubagentStreamDelta: async () => fail(),
    onSubagentToolCallStart: fail,
    onSubagentToolCallEnd: async () => fail(),
    onSubagentComplete: (id, result) => {
      kept.onSubagentComplete?.(id, result);
      return Promise.reject(new Error('a fault of the program'));
    },
  };
  const on = await libraryStage(
    [
      { when: { root: true, step: 0 }, calls: [spawnCall('one')] },
      { when: { agent: 'one', step: 0 }, calls: [{ name: 'look', input: { at: 'it' } }] },
      { say: 'fine' },
    ],
    { registry: looking(), subagents: { callbacks } },
  );
  assert.equal(await on.ask(), 'fine');
  await until(() => new Set(warnings).size >= 5, 'each fault is a warning');
  process.off('warning', onWarning);
  assert.deepEqual(stories(told), { one: ['Start', 'Complete'] });
  for (const name of ['Start', 'StreamDelta', 'ToolCallStart', 'ToolCallEnd', 'Complete'])
    assert.ok(
      warnings.some(
        (text) => text.includes(`onSubagent${name} failed`) && text.includes('a fault of the program'),
      ),
      name,
    );
});

it('callbacks may be methods of an object', async () => {
  class Story implements SubagentCallbacks {
    readonly lines: string[] = [];
    onSubagentStart(info: SubagentInfo): void {
      this.lines.push(`+ ${info.description}`);
    }
    onSubagentComplete(_id: string, { text }: SubagentResult): void {
      this.lines.push(`= ${text}`);
    }
  }
  const story = new Story();
  const on = await libraryStage([{ say: 'hello' }], { subagents: { callbacks: story } });
  await on.spawn({ task: 'x', description: 'one' });
  assert.deepEqual(story.lines, ['+ one', '= hello']);
});

it('a root that is woken by a letter after its task is not reported again', async () => {
  const { callbacks, told } = recorder();
  const on = await libraryStage([{ when: { user: 'hello' }, say: 'woken' }, { say: 'done' }], {
    subagents: { callbacks },
  });
  await on.spawn({ task: 'x', description: 'one' });
  const id = told[0]?.id as string;
  await on.coppice.send(id, 'hello');
  await until(() => on.requests.length === 2, 'it is asked again');
  await on.coppice.close();
  assert.equal(told.filter((one) => one.name === 'onSubagentStart').length, 1);
  assert.equal(ends(told).length, 1);
});
