/** Proves that a summary that hangs, fails or is invalid does no harm: an agent at rest stays so, reports no turn, and answers mail that came meanwhile. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Model, ModelOutcome, ModelRequest } from '../../../src/models/model.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import { type Scene, type Stage, type StageOptions, setStage } from '../stage.ts';

type Lines = (scene: Pick<Scene, 'name' | 'step'>) => string | readonly (readonly [string, unknown])[];
type Summary = (request: ModelRequest, times: number) => Promise<ModelOutcome> | ModelOutcome;

const USAGE = { input: 10, output: 2, cached: 0, reasoning: 0, cost_usd: 0.1 };
const DEEP = 'word '.repeat(8_000);

const answer = (...parts: Extract<ModelOutcome, { type: 'answer' }>['content']['parts']): ModelOutcome => ({
  type: 'answer',
  content: { model: 'play/actor', parts },
  usage: USAGE,
  finish: 'stop',
});
const hangs: Summary = ({ signal }) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve({ type: 'aborted' })));
const outage: Summary = () => ({
  type: 'failure',
  failure: { kind: 'network', error: 'no way there', retryable: true },
});

onBothDatabases('hard summaries', (database) => {
  /** A stage whose model answers requests for summaries by `summary`; `orders` collects the last messages of those requests. */
  async function stage(play: Lines, summary: Summary, options: StageOptions = {}) {
    const orders: string[] = [];
    const model: Model = {
      id: 'play/actor',
      context_window: 10_000,
      tells_cost: true,
      stream: async (request) => {
        const last = request.messages.at(-1);
        if (last?.role === 'user' && /replaced by your summary/.test(last.text)) {
          orders.push(last.text);
          return summary(request, orders.length);
        }
        const own = request.messages.slice(request.shared_prefix);
        const step = own.filter(({ role }) => role === 'assistant').length;
        const line = play({ name: request.agent.name, step });
        if (typeof line === 'string') return answer({ type: 'text', text: line });
        const calls = line.map(([name, input], at) => ({
          ...{ type: 'call' as const, id: `${request.agent.id}-${step}-${at}`, name },
          input: JSON.stringify(input),
        }));
        return answer(...calls);
      },
    };
    const on = await setStage(() => 'unused', {
      ...options,
      models: { ...options.models, 'play/actor': model },
      database: await database(),
    });
    return { on, orders };
  }

  const tail = async (on: Stage, id: string) =>
    (await on.store.history(id)).slice(-1).map(({ content }) => ('text' in content ? content.text : ''))[0];

  for (const [how, summary] of Object.entries({ hangs, outage }))
    it(`of an agent at rest: ${how}; nobody hears of a turn`, async () => {
      const { on, orders } = await stage(
        ({ name, step }) =>
          name === 'main' && step === 0 ? [['fork', { name: 'kid', prompt: 'go' }]] : 'well',
        summary,
      );
      const { root } = await on.perform();
      const kid = await on.agent('kid');
      await on.runtime.send(kid.id, 'and?');
      await on.runtime.settled(root.id);
      const before = await on.agent('kid');
      const letters = (await on.store.mail(root.id, true)).length;
      await on.runtime.compact(kid.id);
      await until(() => orders.length === 1, 'the summary is asked for');
      if (how === 'hangs') await on.runtime.interrupt(kid.id, 'enough');
      await on.runtime.settled(root.id);
      const after = await on.agent('kid');
      assert.deepEqual([after.state, after.reply], [before.state, before.reply]);
      assert.match(
        (await tail(on, kid.id)) ?? '',
        how === 'hangs' ? /^interrupted/ : /^no checkpoint was made: no way/,
      );
      assert.equal((await on.store.mail(root.id, true)).length, letters);
    });

  it('what a person writes meanwhile is answered, two orders at once are one summary, and it can be killed', async () => {
    const { on, orders } = await stage(
      () => 'well',
      (request, times) => (times === 1 ? answer({ type: 'text', text: 'So far.' }) : hangs(request, times)),
    );
    const { root } = await on.perform();
    await Promise.all([
      on.runtime.compact(root.id, 'the names'),
      on.runtime.compact(root.id, 'the numbers'),
      on.runtime.compact(root.id),
      on.runtime.send(root.id, 'still there?'),
    ]);
    await on.runtime.settled(root.id);
    assert.equal(orders.length, 1);
    assert.match(orders[0] ?? '', /the names; the numbers$/);
    assert.deepEqual(
      (await on.store.history(root.id)).map(({ kind, content }) =>
        kind === 'event' ? content.event : 'text' in content ? content.text : kind,
      ),
      ['begin', 'assistant', 'checkpoint', 'still there?', 'assistant'],
    );
    await on.runtime.compact(root.id);
    await until(() => orders.length === 2, 'the second summary is asked for');
    await on.runtime.kill(root.id);
    assert.equal((await on.runtime.settled(root.id)).root.state.type, 'killed');
  });

  it('in a turn: Esc ends it, and so does its time', async () => {
    const clock = new HandClock();
    const { on, orders } = await stage(
      ({ step }) => (step < 90 ? [['wait', { timeout: 0 }]] : 'well'),
      (request, times) => {
        if (times === 2) clock.pass(60_000);
        return hangs(request, times);
      },
      { clock, config: { system: DEEP.slice(0, 20_000), run_ms: 60_000 } },
    );
    const root = await on.start(DEEP.slice(0, 10_000));
    await until(() => orders.length === 1, 'the summary is asked for');
    await on.runtime.interrupt(root.id, 'enough');
    assert.equal((await on.runtime.settled(root.id)).root.state.type, 'idle');
    await on.runtime.send(root.id, 'go on');
    const { failure } = await on.runtime.settled(root.id);
    assert.match(failure?.error ?? '', /run time of 60 s/);
    assert.equal(orders.length, 2);
  });

  it('an agent near its budget is told, and summarises nevertheless', async () => {
    const { on, orders } = await stage(
      () => 'well',
      () => answer({ type: 'text', text: 'So far.' }),
    );
    const { root } = await on.perform('go', { cost_usd: 0.12 });
    await on.runtime.compact(root.id);
    await on.runtime.settled(root.id);
    assert.equal(orders.length, 1);
    assert.equal((await on.store.checkpoint((await on.agent('main')).id))?.summary, 'So far.');
  });

  it('by another model, whose window is too small: its own model writes it, and keeps the window that it has', async () => {
    let refused = 0;
    const small: Model = {
      id: 'play/small',
      context_window: null,
      tells_cost: true,
      stream: async () => {
        refused += 1;
        const error = 'the maximum is 4000 tokens';
        return { type: 'failure', failure: { kind: 'context_overflow', error, retryable: true } };
      },
    };
    const { on, orders } = await stage(
      () => 'well',
      () => answer({ type: 'text', text: 'So far.' }),
      { models: { small }, context: { model: 'small' }, config: { system: DEEP.slice(0, 20_000) } },
    );
    const { root } = await on.perform();
    for (const times of [1, 2]) {
      await on.runtime.compact(root.id);
      await on.runtime.settled(root.id);
      assert.equal((await on.store.checkpoint((await on.agent('main')).id))?.summary, 'So far.');
      await on.runtime.send(root.id, 'go on');
      const { reply, failure } = await on.runtime.settled(root.id);
      assert.deepEqual([reply, failure, orders.length, refused], ['well', null, times, 1]);
    }
  });

  for (const [what, outcome] of Object.entries({
    empty: answer({ type: 'text', text: ' \n ' }),
    'a call': answer({ type: 'call', id: 'x', name: 'wait', input: '{}' }),
    'longer than the window': answer({ type: 'text', text: '\u0000\ud800😀'.repeat(40_000) }),
  }))
    it(`that is ${what}: the checkpoint holds what the runtime knows, and fits`, async () => {
      const { on, orders } = await stage(
        () => 'well',
        () => outcome,
      );
      const { root } = await on.perform('The task.');
      await on.runtime.compact(root.id);
      await on.runtime.settled(root.id);
      await on.runtime.send(root.id, 'go on');
      const { reply } = await on.runtime.settled(root.id);
      assert.deepEqual([reply, orders.length], ['well', 1]);
      const checkpoint = await on.store.checkpoint((await on.agent('main')).id);
      assert.equal(checkpoint?.spoken[0]?.text, 'The task.');
      assert.ok(JSON.stringify(checkpoint).length < 8_000);
    });
});
