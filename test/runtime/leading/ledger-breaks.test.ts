// Proves that nothing is lost or duplicated if the connection breaks after the ledger has committed and before it has acknowledged: results that
// arrive meanwhile, the end of a child, the creation of a sub-agent, claimed agents, consumed signals.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { z } from 'zod';
import type { Step } from '../../../src/kernel/step.ts';
import type { Model } from '../../../src/models/model.ts';
import type { Tool } from '../../../src/records/tool.ts';
import type { Store } from '../../../src/store/store.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { closeOpened } from '../../close-opened.ts';
import { until } from '../../until.ts';
import { NO_POLLS } from '../no-polls.ts';
import { bare, type Play, setStage } from '../stage.ts';

afterEach(closeOpened);

/** A ledger whose connection breaks after the first call for which `breaks` returns or resolves with true. */
function breaking(method: keyof Store, breaks: (argument: unknown) => Promise<boolean> | boolean) {
  const calls = { broken: 0 };
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const own = target[name as keyof Store] as unknown;
        if (typeof own !== 'function') return own;
        if (name !== method) return own.bind(target);
        return async (...args: unknown[]) => {
          const answer = await (own as (...all: unknown[]) => Promise<unknown>).apply(target, args);
          if (calls.broken > 0 || !(await breaks(args[0]))) return answer;
          calls.broken += 1;
          throw new StoreError('E_DB_UNAVAILABLE', 'the connection broke');
        };
      },
    });
  return { wrap, calls };
}

function inSteps(test: (step: Step) => boolean): (steps: unknown) => boolean {
  return (steps) => (steps as readonly Step[]).some(test);
}

describe('a ledger whose connection breaks before the answer', () => {
  it('a result that arrives while a commit is in doubt is not lost', async () => {
    let second_done = false;
    const tool = (name: string, run: () => Promise<string>) =>
      defineTool({ name, description: name, input: z.strictObject({}), side_by_side: true, run }) as Tool;
    let let_second_go = () => {};
    const gate = new Promise<void>((resolve) => {
      let_second_go = resolve;
    });
    const tools = [
      tool('first', async () => 'one'),
      tool('second', async () => {
        await gate;
        second_done = true;
        return 'two';
      }),
    ];
    const { wrap, calls } = breaking('commit', async (steps) => {
      const settles = (step: Step) =>
        step.messages.some(({ kind, content }) => kind === 'result' && content.name === 'first');
      if (!inSteps(settles)(steps)) return false;
      let_second_go();
      await until(() => second_done, 'the second tool is done');
      await new Promise((resolve) => setImmediate(resolve));
      return true;
    });
    const play: Play = (scene) =>
      scene.step === 0
        ? [
            ['first', {}],
            ['second', {}],
          ]
        : 'both are there';
    const on = await setStage(play, { tools, wrap });
    const { root, reply } = await on.perform();
    assert.equal(reply, 'both are there');
    assert.equal(calls.broken, 1);
    assert.deepEqual(
      (await on.results(root)).map(({ output }) => output),
      ['one', 'two'],
    );
  });

  it('the outcome of a child reaches its parent', async () => {
    const play: Play = (scene) => {
      if (scene.name !== 'main') return [['submit_result', { result: 'found' }]];
      return scene.step === 0 ? [['spawn_agents', { tasks: [{ task: 'look' }] }]] : `heard ${scene.user}`;
    };
    const { wrap, calls } = breaking(
      'commit',
      inSteps((step) => step.state.type === 'completed'),
    );
    const on = await setStage(play, { toolsets: ['fanout'], wrap });
    const { reply } = await on.perform();
    assert.match(reply, /heard .*found/);
    assert.equal(calls.broken, 1);
  });

  it('a sub-agent whose creation is retried is created once', async () => {
    const play: Play = (scene) => {
      if (scene.name !== 'main') return 'done below';
      return scene.step === 0
        ? [['subagent_spawn', { task: 'dig', description: 'dig' }]]
        : `it says ${bare(scene.last[0]?.output ?? '')}`;
    };
    const { wrap, calls } = breaking(
      'commit',
      inSteps((step) => step.create.length > 0),
    );
    const on = await setStage(play, { toolsets: ['delegate'], wrap });
    const { reply, agents } = await on.perform();
    assert.equal(reply, 'it says done below');
    assert.equal(calls.broken, 1);
    assert.equal(agents.length, 2);
  });

  it('agents whose claim lost its acknowledgement are led at the next resume', async () => {
    const play: Play = async (scene) => {
      if (scene.user === 'begin')
        await new Promise((resolve) => scene.request.signal.addEventListener('abort', resolve));
      return `answer to ${scene.user}`;
    };
    const on = await setStage(play);
    const root = await on.start();
    const { wrap, calls } = breaking('claim', () => true);
    const next = await on.reopen((scene) => `answer to ${scene.user}`, { wrap });
    await assert.rejects(next.runtime.resume(root.id), { code: 'E_DB_UNAVAILABLE' });
    const { agents } = await next.runtime.resume(root.id);
    assert.deepEqual(
      agents.map(({ id }) => id),
      [root.id],
    );
    assert.equal((await next.runtime.settled(root.id)).reply, 'answer to begin');
    assert.equal(calls.broken, 1);
  });

  it('a turn for which the size of the newest request cannot be read goes on without it', async () => {
    const model: Model = {
      id: 'play/actor',
      context_window: 10_000,
      tells_cost: true,
      stream: async ({ messages }) => ({
        type: 'answer',
        content: { model: 'play/actor', parts: [{ type: 'text', text: `answer ${messages.length}` }] },
        usage: { input: 4_000, output: 2, cached: 0, reasoning: 0, cost_usd: 0 },
        finish: 'stop',
      }),
    };
    const config = { system: 'word '.repeat(3_000) };
    const on = await setStage(() => 'unused', { models: { 'play/actor': model }, config });
    const { root } = await on.perform();
    const { wrap, calls } = breaking('newestRequests', () => true);
    const next = await on.reopen(undefined, { wrap });
    await next.runtime.resume(root.id);
    await next.runtime.send(root.id, 'more');
    const { reply, failure } = await next.runtime.settled(root.id);
    assert.deepEqual([reply, failure, calls.broken], ['answer 3', null, 1]);
  });

  it('a letter whose signal was consumed and lost is still read', {
    skip: NO_POLLS && 'a read that failed is repeated by the poll',
  }, async () => {
    const { wrap, calls } = breaking('signals', () => true);
    const on = await setStage((scene) => `answer to ${scene.user}`, { wrap });
    const { root } = await on.perform();
    await on.store.send({
      id: 'letter-from-outside',
      root_id: root.id,
      to_id: root.id,
      from_id: null,
      from_name: 'you',
      kind: 'letter',
      body: 'more',
      sent_at: 1,
    });
    await until(
      async () => (await on.store.agent(root.id))?.reply === 'answer to more',
      'the letter is read',
    );
    assert.equal(calls.broken, 1);
  });
});
