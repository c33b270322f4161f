// Proves, on both databases, that a person can move a tree to another model: every agent that had the root's model uses the new one from then on.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Model, ModelOutcome, ModelRequest } from '../../src/models/model.ts';
import { onBothDatabases } from './both-databases.ts';
import { type Stage, type StageOptions, setStage } from './stage.ts';

const BROKEN = { kind: 'bad_request', error: '400: no', retryable: false } as const;

/** A model that forks `b` when told to `fork`, else answers with the agent's name. If `broken`, it refuses every request but a `fork`. */
function model(id: string, asked: string[], broken: boolean): Model {
  return {
    id,
    context_window: null,
    tells_cost: false,
    async stream({ messages, agent }: ModelRequest): Promise<ModelOutcome> {
      asked.push(`${agent.name} ${id}`);
      const last = messages.at(-1);
      const forks = last?.role === 'user' && last.text === 'fork';
      if (broken && !forks) return { type: 'failure', failure: BROKEN };
      const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null };
      const input = JSON.stringify({ name: 'b', prompt: 'hello' });
      return {
        type: 'answer',
        content: {
          model: id,
          parts: forks
            ? [{ type: 'call', id: 'c1', name: 'fork', input }]
            : [{ type: 'text', text: `${agent.name} says so` }],
        },
        usage,
        finish: 'stop',
      };
    },
  };
}

onBothDatabases('another model', (database) => {
  async function stage(asked: string[], more: Partial<StageOptions> = {}): Promise<Stage> {
    return setStage(() => 'nobody plays', {
      models: { 'p/old': model('p/old', asked, true), 'p/new': model('p/new', asked, false) },
      missing_models: ['p/none'],
      config: { model: 'p/old' },
      database: await database(),
      ...more,
    });
  }

  it('retries failed agents, root and fork, with it; and applies after a restart and to new forks', async () => {
    const asked: string[] = [];
    const first = await stage(asked);
    const { root, agents } = await first.perform('fork');
    assert.deepEqual(
      agents.map(({ state }) => state.type),
      ['errored', 'errored'],
    );
    const second = await first.reopen();
    asked.length = 0;
    await second.runtime.resume(root.id, { model: 'p/new' });
    const { reply, failure } = await second.runtime.settled(root.id);
    assert.deepEqual([reply, failure], ['main says so', null]);
    assert.deepEqual([...new Set(asked)].sort(), ['b p/new', 'main p/new']);
    const third = await second.reopen();
    asked.length = 0;
    await third.runtime.resume(root.id);
    await third.runtime.send(root.id, 'fork');
    await third.runtime.settled(root.id);
    assert.deepEqual([...new Set(asked)].sort(), ['b p/new', 'main p/new']);
    const all = await third.store.agents({ root_id: root.id });
    assert.deepEqual(
      all.map(({ config }) => config.model),
      ['p/new', 'p/new', 'p/new'],
    );
    const told = (await third.store.history(root.id)).flatMap((one) =>
      one.kind === 'event' && one.content.event === 'notice' ? [one.content.text] : [],
    );
    assert.deepEqual(told, ['uses p/new from now on']);
  });

  it('is refused, if it does not exist, before anything changes', async () => {
    const asked: string[] = [];
    const on = await stage(asked);
    const { root } = await on.perform('hello');
    const again = await on.reopen();
    await assert.rejects(again.runtime.resume(root.id, { model: 'p/none' }), { code: 'E_MODEL_UNKNOWN' });
    assert.equal((await again.store.agent(root.id))?.config.model, 'p/old');
  });

  it('does not apply to agents with a model of their own', async () => {
    const asked: string[] = [];
    const on = await stage(asked, {
      toolsets: ['sessions'],
      models: {
        'p/old': {
          ...model('p/old', asked, false),
          async stream({ messages }) {
            const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null };
            const input = JSON.stringify({ task: 'x', model: 'p/own' });
            const parts =
              messages.length === 1
                ? [{ type: 'call' as const, id: 'c1', name: 'sessions_spawn', input }]
                : [{ type: 'text' as const, text: 'ok' }];
            return { type: 'answer', content: { model: 'p/old', parts }, usage, finish: 'stop' };
          },
        },
        'p/own': { ...model('p/own', asked, false), stream: () => new Promise(() => undefined) },
        'p/new': model('p/new', asked, false),
      },
    });
    const root = await on.start('begin');
    await on.runtime.settled(root.id, 'root');
    const again = await on.reopen();
    await again.runtime.resume(root.id, { model: 'p/new' });
    await again.runtime.send(root.id, 'hello');
    assert.equal((await again.runtime.settled(root.id, 'root')).reply, 'main says so');
    const all = await again.store.agents({ root_id: root.id });
    assert.deepEqual(all.map(({ config }) => config.model).sort(), ['p/new', 'p/own']);
  });

  it('can be chosen for one agent, which asks it from its next request on, also after a restart', async () => {
    const asked: string[] = [];
    const first = await stage(asked);
    const { root, agents } = await first.perform('fork');
    await first.runtime.switchModel(root.id, 'p/new');
    await assert.rejects(first.runtime.switchModel(root.id, 'p/none'), { code: 'E_MODEL_UNKNOWN' });
    await first.runtime.retry(root.id);
    assert.equal((await first.runtime.settled(root.id, 'root')).reply, 'main says so');
    const second = await first.reopen();
    asked.length = 0;
    await second.runtime.resume(root.id);
    await second.runtime.send(root.id, 'hello');
    await second.runtime.settled(root.id, 'root');
    assert.deepEqual(asked, ['main p/new']);
    const child = agents.find(({ id }) => id !== root.id);
    assert.equal((await second.store.agent(child?.id ?? ''))?.config.model, 'p/old');
  });
});
