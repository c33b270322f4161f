// Proves over real HTTP that an account's limit, a refused key and a model that is gone pause the agents of a tree in the ledger, and that nothing is lost.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pauseOf } from '../../../src/records/conversation/parked.ts';
import { outcomeOf, outcomeOfTree } from '../../../src/records/run/outcome.ts';
import { answerFor, forkingBrain } from '../../servers/forking-brain.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import { type Stage, setStage } from '../stage.ts';
import { echoTool, limitedServer, REFUSALS } from './limited-server.ts';

const CHILDREN = 12;
const HOUR_MS = 3_600_000;
/** Refusals that name no time. After a bare one the gate asks a few times more by the real clock, which takes 10 to 20 s. */
const NAMES_NO_TIME: readonly ('credit' | 'bare')[] =
  process.env.COPPICE_TEST_LONG === '1' ? ['credit', 'bare'] : ['credit'];
const NONE = { allow: [], ask: [], deny: [] };
const TERMS = {
  ...{ thinking: 'off' as const, system: '', tools: ['bash'], cwd: process.cwd() },
  permissions: { cli: { ...NONE, allow: ['*'] }, config: NONE },
};

onBothDatabases('a provider that takes no requests', (database) => {
  async function play(config: object = {}, brain?: Parameters<typeof limitedServer>[0], attempts?: number) {
    const server = await limitedServer(brain);
    const clock = new HandClock();
    const effects: string[] = [];
    const stage = await setStage(() => 'unused', {
      ...{
        database: await database(),
        models: await server.models(clock.now, 'key-one', attempts),
        tools: [echoTool(effects)],
        clock,
      },
      config: { model: 'one/any', ...config },
    });
    return { server, clock, effects, stage };
  }

  /** Waits until nothing of the tree is at work but waits for the provider; returns how the tree then stands. */
  async function standstill(stage: Stage, root_id: string): Promise<string> {
    let text = '';
    await until(async () => {
      const agents = await stage.store.agents({ root_id });
      text = outcomeOfTree(root_id, agents).outcome_text;
      return (
        agents.every((agent) => outcomeOf(agent).outcome !== 'working') &&
        /quota|credit|a key|the model|to answer/.test(text)
      );
    }, 'waits for the provider');
    return text;
  }

  const eachOnce = (effects: readonly string[]) => {
    const wanted = Array.from({ length: CHILDREN }, (_, index) =>
      [0, 1, 2].map((step) => `c${index}-${step}`),
    ).flat();
    assert.deepEqual([...effects].sort(), wanted.sort(), 'each call ran exactly once');
  };

  it('stops everything in the middle, and after an hour one request tries it before all others', async () => {
    const { server, clock, effects, stage } = await play();
    server.refuse('key-one', REFUSALS.hour, 20);
    const { id } = await stage.start(`FORK ${CHILDREN}`);
    assert.match(await standstill(stage, id), /^waiting for one's quota until \d\d:\d\d$/);
    const sent = server.asked.length;
    clock.pass(HOUR_MS / 2);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(server.asked.length, sent, 'nothing is sent meanwhile');
    // The limit goes on: one request finds out, and everything waits again.
    clock.pass(HOUR_MS / 2 + 2_000);
    await until(() => server.asked.length === sent + 1, 'one request tries it');
    await until(async () => {
      const pauses = (await stage.store.agents({ root_id: id })).flatMap(({ state }) => pauseOf(state) ?? []);
      return pauses.length > 0 && pauses.every(({ opens_at }) => (opens_at ?? 0) > clock.now());
    }, 'all wait for as long as it says now');
    assert.equal(server.asked.length, sent + 1);
    server.allow('key-one');
    clock.pass(HOUR_MS + 2_000);
    const { reply, agents } = await stage.runtime.settled(id);
    assert.equal(reply, answerFor(CHILDREN));
    eachOnce(effects);
    assert.ok(
      agents.every(({ state }) => state.type === 'idle'),
      'nobody has failed',
    );
  });

  it('holds after a restart of the process, which waits for the same time', async () => {
    const { server, clock, effects, stage } = await play();
    server.refuse('key-one', REFUSALS.hour, 8);
    const { id } = await stage.start(`FORK ${CHILDREN}`);
    await standstill(stage, id);
    const sent = server.asked.length;
    const next = await stage.reopen(undefined, { models: await server.models(clock.now) });
    await next.runtime.resume(id, { unattended: true });
    assert.match(await standstill(next, id), /until/);
    assert.equal(server.asked.length, sent);
    await until(() => next.runtime.release(id), 'no process is needed meanwhile');
    await next.runtime.resume(id, { unattended: true });
    server.allow('key-one');
    clock.pass(HOUR_MS + 2_000);
    assert.equal((await next.runtime.settled(id)).reply, answerFor(CHILDREN));
    eachOnce(effects);
  });

  it('closes at once for what a dead process had under way, from what the ledger says of the others; one request tries it', async () => {
    const [held, over] = [/"c[0-5]"/, Promise.withResolvers<void>()];
    let holds = true;
    const { server, clock, effects, stage } = await play({}, async (exchange) => {
      if (holds && held.test(exchange.messages.at(-1)?.text ?? '')) await over.promise;
      return forkingBrain(exchange);
    });
    server.refuse('key-one', REFUSALS.hour, 10);
    const { id } = await stage.start(`FORK ${CHILDREN}`);
    await until(async () => {
      const agents = await stage.store.agents({ root_id: id });
      const working = agents.filter((agent) => outcomeOf(agent).outcome === 'working');
      return agents.length > CHILDREN && working.every(({ name }) => held.test(`"${name}"`));
    }, 'the others are refused while half of them wait for their answers');
    const next = await stage.reopen(undefined, { models: await server.models(clock.now) });
    holds = false;
    over.resolve();
    const sent = server.asked.length;
    await next.runtime.resume(id, { unattended: true });
    await standstill(next, id);
    assert.equal(server.asked.length, sent, 'nothing is sent');
    clock.pass(HOUR_MS + 2_000);
    await until(async () => {
      const pauses = (await next.store.agents({ root_id: id })).flatMap(({ state }) => pauseOf(state) ?? []);
      return pauses.every(({ opens_at }) => (opens_at ?? 0) > clock.now());
    }, 'it is tried');
    assert.equal(server.asked.length, sent + 1);
    server.allow('key-one');
    clock.pass(HOUR_MS + 2_000);
    assert.equal((await next.runtime.settled(id)).reply, answerFor(CHILDREN));
    eachOnce(effects);
  });

  it('stays closed for other trees, which a server that starts takes over before those that wait', async () => {
    const { server, clock, stage } = await play();
    const config = { ...TERMS, model: 'one/any', toolsets: ['process'] };
    server.refuse('key-one', REFUSALS.hour);
    const waits = await stage.runtime.enter({ prompt: 'FORK 2', config }, []);
    await stage.runtime.resume(waits, { unattended: true });
    await standstill(stage, waits);
    await until(() => stage.runtime.release(waits), 'it is released');
    const begins = await stage.runtime.enter({ prompt: 'FORK 2', config }, []);
    const sent = server.asked.length;
    const next = await stage.reopen(undefined, { models: await server.models(clock.now) });
    assert.deepEqual(await next.store.unledTrees(10), [begins]);
    await next.runtime.resume(begins, { unattended: true });
    assert.match(await standstill(next, begins), /until/);
    assert.equal(server.asked.length, sent);
    server.allow('key-one');
    clock.pass(HOUR_MS + 2_000);
    assert.equal((await next.runtime.settled(begins)).reply, answerFor(2));
  });

  it('is asked again by itself after one stray refusal of a key or a model that worked', async () => {
    for (const refusal of ['key', 'model'] as const) {
      const { server, clock, effects, stage } = await play();
      server.refuse('key-one', REFUSALS[refusal], 20, 1);
      const { id } = await stage.start(`FORK ${CHILDREN}`);
      assert.match(
        await standstill(stage, id),
        /^waiting for (a key that one accepts|the model one\/any) \(next try at/,
      );
      clock.pass(3_000);
      assert.equal((await stage.runtime.settled(id)).reply, answerFor(CHILDREN));
      eachOnce(effects);
    }
  });

  it('stays closed where the request that tries it reaches nobody', async () => {
    const { server, clock, stage } = await play();
    server.refuse('key-one', REFUSALS.hour, 6);
    const { id } = await stage.start('FORK 3');
    await standstill(stage, id);
    server.refuse('key-one', { status: 503, message: 'away' });
    const sent = server.asked.length;
    clock.pass(HOUR_MS + 2_000);
    await until(async () => {
      const agents = await stage.store.agents({ root_id: id });
      return agents.some(({ state }) => pauseOf(state)?.tries === 1);
    }, 'it is tried');
    // The others learn of it one after the other.
    const isTold = (text: string) => /^waiting for one's quota \(next try at/.test(text);
    await until(async () => isTold(await standstill(stage, id)), 'it waits for the next try');
    assert.equal(server.asked.length, sent + 1);
    server.allow('key-one');
    clock.pass(62_000);
    assert.equal((await stage.runtime.settled(id)).reply, answerFor(3));
  });

  it('is tried after seconds where nobody answers any more, and nobody fails', async () => {
    // The first tries may find connections that the server has just ended.
    const { server, clock, effects, stage } = await play({}, undefined, 6);
    const { id } = await stage.start(`FORK ${CHILDREN}`);
    await until(() => server.answers() > CHILDREN, 'everybody is at work');
    await server.close();
    const told = /^waiting for one to answer \(next try at/;
    assert.match(await standstill(stage, id), told);
    const tries = async (many: number) =>
      (await stage.store.agents({ root_id: id })).every(
        ({ state }) => (pauseOf(state)?.tries ?? many) === many,
      );
    assert.ok(await tries(1), 'one pause for all');
    clock.pass(6_000);
    await until(() => tries(2), 'the next pause is longer');
    assert.match(await standstill(stage, id), told);
    await server.reopen();
    clock.pass(11_000);
    const { reply, agents } = await stage.runtime.settled(id);
    assert.equal(reply, answerFor(CHILDREN));
    eachOnce(effects);
    assert.ok(agents.every(({ state }) => state.type === 'idle'));
  });

  it('waits for one that has too much to do, and opens to any other answer', async () => {
    const { server, clock, stage } = await play();
    server.refuse('key-one', REFUSALS.busy, 3);
    const { id } = await stage.start('FORK 2');
    assert.match(await standstill(stage, id), /^waiting for one to answer \(next try at/);
    server.refuse('key-one', { status: 400, message: 'what is that?' }, 0, 1);
    clock.pass(6_000);
    await until(async () => {
      const agents = await stage.store.agents({ root_id: id });
      return agents.some(({ state }) => state.type === 'errored' || state.type === 'failed');
    }, 'one agent is refused, the others go on');
    await stage.runtime.settled(id);
    const { length } = (await stage.store.agents({ root_id: id })).filter(({ state }) => pauseOf(state));
    assert.equal(length, 0);
  });

  it('opens in two seconds by itself', async () => {
    const { server, effects, stage } = await play();
    server.refuse('key-one', REFUSALS.soon, 20);
    const { id } = await stage.start(`FORK ${CHILDREN}`);
    await standstill(stage, id);
    server.allow('key-one');
    assert.equal((await stage.runtime.settled(id)).reply, answerFor(CHILDREN));
    eachOnce(effects);
  });

  for (const refusal of NAMES_NO_TIME)
    it(`is tried after a minute, then two, where no time is named: ${refusal}`, async () => {
      const { server, clock, stage } = await play();
      server.refuse('key-one', REFUSALS[refusal], 3);
      const { id } = await stage.start('FORK 2');
      assert.match(
        await standstill(stage, id),
        /^waiting for (credit at one|one\/any's quota) \(next try at/,
      );
      for (const [index, minutes] of [1, 2, 4].entries()) {
        const tries = (await stage.store.agents({ root_id: id })).flatMap(({ state }) =>
          state.type === 'requesting' && state.paused ? [state.paused.tries] : [],
        );
        assert.ok(
          tries.every((one) => one === index + 1),
          `${tries}`,
        );
        clock.pass(minutes * 60_000 + 1_000);
        await until(async () => {
          const agents = await stage.store.agents({ root_id: id });
          return agents.every(
            ({ state }) => state.type !== 'requesting' || state.paused?.tries === index + 2,
          );
        }, 'the next pause is longer');
      }
      server.allow('key-one');
      clock.pass(8 * 60_000 + 1_000);
      assert.equal((await stage.runtime.settled(id)).reply, answerFor(2));
    });

  it('asks for a person where a key or a model was refused in the middle, tries it at intervals, and goes on with one order', async () => {
    for (const refusal of ['key', 'model'] as const) {
      const { server, clock, effects, stage } = await play();
      server.refuse('key-one', REFUSALS[refusal], 20);
      const { id } = await stage.start(`FORK ${CHILDREN}`);
      await standstill(stage, id);
      const before = server.asked.length;
      clock.pass(3_000);
      await until(
        async () => (await standstill(stage, id)).startsWith('waiting for you'),
        'it is tried once',
      );
      assert.match(
        await standstill(stage, id),
        /^waiting for you: (a key that one accepts|the model one\/any) \(.*; next try at /,
      );
      const sent = server.asked.length;
      assert.equal(sent, before + 1);
      clock.pass(58_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(server.asked.length, sent);
      clock.pass(4_000);
      const allTold = async () => {
        const agents = await stage.store.agents({ root_id: id });
        const pauses = agents.flatMap(({ state }) => pauseOf(state) ?? []);
        return pauses.length > 0 && pauses.every(({ tries }) => tries === 2);
      };
      await until(allTold, 'one tries it');
      assert.equal(server.asked.length, sent + 1);
      server.allow('key-one');
      const paused = (await stage.store.agents({ root_id: id })).find(
        ({ state }) => state.type === 'requesting',
      );
      await stage.runtime.retry(paused?.id ?? '');
      const done = await stage.runtime.settled(id);
      assert.equal(done.reply, answerFor(CHILDREN));
      eachOnce(effects);
    }
  });

  it('is waited for by a new tree, too, where it has answered this process', async () => {
    const { server, clock, stage } = await play({}, undefined, 6);
    await stage.perform('FORK 1');
    await server.close();
    const { id } = await stage.start('FORK 2');
    assert.match(await standstill(stage, id), /^waiting for one to answer \(next try at/);
    await server.reopen();
    clock.pass(6_000);
    assert.equal((await stage.runtime.settled(id)).reply, answerFor(2));
  });

  it('fails where nobody answers the first request of a tree', async () => {
    const { server, stage } = await play();
    await server.close();
    const { outcome: word, failure } = await stage.perform('FORK 1');
    assert.deepEqual([word, failure?.kind], ['failed', 'network']);
  });

  it('fails at once where the first request of a tree shows that the key or the model is wrong', async () => {
    for (const refusal of ['key', 'model'] as const) {
      const { server, stage } = await play();
      server.refuse('key-one', REFUSALS[refusal]);
      const { outcome: word, failure } = await stage.perform('FORK 1');
      assert.deepEqual([word, failure?.kind], ['failed', refusal === 'key' ? 'auth' : 'no_model']);
      server.allow('key-one');
      await stage.runtime.retry((await stage.agent('main')).id);
      await until(async () => (await stage.agent('main')).reply === answerFor(1), 'a retry is sent');
    }
  });

  it('goes on with another model or at once, as a person says', async () => {
    const { server, stage } = await play();
    server.refuse('key-one', REFUSALS.hour, 1);
    const { id } = await stage.start('FORK 2');
    await standstill(stage, id);
    for (const agent of await stage.store.agents({ root_id: id }))
      await stage.runtime.switchModel(agent.id, 'two/any');
    assert.equal((await stage.runtime.settled(id)).reply, answerFor(2));
  });

  it('goes on at once in a process with another key', async () => {
    const { server, clock, stage } = await play();
    server.refuse('key-one', REFUSALS.hour, 8);
    const { id } = await stage.start('FORK 2');
    await standstill(stage, id);
    const next = await stage.reopen(undefined, { models: await server.models(clock.now, 'key-new') });
    await next.runtime.resume(id, { unattended: true });
    assert.equal((await next.runtime.settled(id)).reply, answerFor(2));
    assert.ok(server.asked.includes('key-new'));
  });

  it('leaves another key alone', async () => {
    const { server, stage } = await play();
    server.refuse('key-one', REFUSALS.hour);
    const one = await stage.start('FORK 2');
    await standstill(stage, one.id);
    const config = { ...(await stage.agent('main')).config, model: 'two/any' };
    const two = await stage.runtime.start({ prompt: 'FORK 2', config });
    assert.equal((await stage.runtime.settled(two.id)).reply, answerFor(2));
    assert.equal(
      server.asked.filter((key) => key === 'key-one').length,
      1,
      'nothing more is sent with the other',
    );
  });

  it('is answered by a fallback meanwhile', async () => {
    const { server, effects, stage } = await play({ fallback: ['two/any'] });
    server.refuse('key-one', REFUSALS.hour, 20);
    const { reply, root } = await stage.perform(`FORK ${CHILDREN}`);
    assert.equal(reply, answerFor(CHILDREN));
    eachOnce(effects);
    assert.equal(root.config.model, 'one/any');
    assert.ok(server.asked.includes('key-two'));
  });

  it('stops the clocks of those that wait for a paused agent', async () => {
    const { server, clock, stage } = await play();
    server.refuse('key-one', REFUSALS.hour, 6);
    const { id } = await stage.start(`FORK 3`, { run_ms: 10 * 60_000 });
    await standstill(stage, id);
    server.allow('key-one');
    clock.pass(HOUR_MS + 2_000);
    const { outcome: word, reply } = await stage.runtime.settled(id);
    assert.deepEqual([word, reply], ['done', answerFor(3)]);
  });
});
