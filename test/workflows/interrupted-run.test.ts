// Proves that orders of people leave nothing behind: the end of an agent that comes while a run rests reaches its script, a run is not forked, and a run that goes on lets
// go on all that works below it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentState } from '../../src/records/agent/state.ts';
import { pauseOf } from '../../src/records/conversation/parked.ts';
import { onBothDatabases } from '../runtime/both-databases.ts';
import { setStage } from '../runtime/stage.ts';
import { until } from '../until.ts';
import { termsOf, workflowHost } from './staged-workflow.ts';

onBothDatabases('a workflow run that a person interrupts', (database) => {
  it('goes on with the end of its agent, and its script gets the result', async () => {
    let answer = () => {};
    const slow = new Promise<void>((done) => {
      answer = done;
    });
    const stage = await setStage(
      async ({ user }) => {
        if (user === 'slow') await slow;
        return `did ${user}`;
      },
      {
        ...{ database: await database(), workflows: workflowHost() },
        config: { workflow: termsOf("return [await agent('slow'), budget.spent(), await agent('next')]") },
      },
    );
    const { id } = await stage.start();
    const state = async () => (await stage.store.agent(id))?.state.type;
    await until(
      async () => stage.requests.length === 1 && (await state()) === 'executing',
      'the script waits for its agent',
    );
    await stage.runtime.fork(id, 'twin', 'go').then(
      () => assert.fail('it was forked'),
      (error: Error) => assert.match(error.message, /fork refused: a workflow run has no fork/),
    );
    await stage.runtime.interrupt(id, 'enough');
    await until(async () => (await state()) === 'idle', 'the run rests');
    answer();
    const [slow_result, spent, next] = JSON.parse((await stage.runtime.settled(id)).reply ?? '');
    assert.deepEqual([slow_result, next], ['did slow', 'did next']);
    assert.ok(spent > 0, 'what the agent has spent is told with its end');
    assert.equal(stage.requests.length, 2, 'nobody is asked twice');
  });

  it('lets go on what works below an agent that has ended', async () => {
    const answers = new Map<string, () => void>();
    const held = (name: string) =>
      new Promise<void>((done) => {
        answers.set(name, done);
      });
    const stage = await setStage(
      async ({ name, step }) => {
        if (step === 0 && name !== 'after') await held(name);
        return name === 'twin' && step === 0 ? [['wait', { timeout: 0 }]] : `done ${name}`;
      },
      {
        ...{ database: await database(), workflows: workflowHost() },
        config: {
          workflow: termsOf(
            "return [await agent('work', { label: 'first' }), await agent('more', { label: 'after' })]",
          ),
        },
      },
    );
    const { id } = await stage.start();
    const named = async (name: string) =>
      (await stage.store.agents({ root_id: id })).find((one) => one.name === name);
    const isAsked = (name: string) => until(async () => answers.has(name), `${name} is asked`);
    await isAsked('first');
    await stage.runtime.fork((await named('first'))?.id ?? '', 'twin', 'go');
    await isAsked('twin');
    await stage.runtime.steerWorkflow(id, 'pause');
    for (const answer of answers.values()) answer();
    const twin = async () => (await named('twin'))?.state as AgentState;
    await until(async () => pauseOf(await twin()) !== null, 'it is held');
    await until(async () => (await named('first'))?.state.type === 'completed', 'its parent has ended');
    await stage.runtime.steerWorkflow(id, 'resume');
    assert.equal((await stage.runtime.settled(id)).reply, '["done first","done after"]');
    assert.equal((await twin()).type, 'idle');
  });

  it('the agents of a run within another one end with it when a person interrupts it', async () => {
    let answer = () => {};
    const held = new Promise<string>((done) => {
      answer = () => done('too late');
    });
    const stage = await setStage(() => held, {
      database: await database(),
      workflows: workflowHost({ inner: "return agent('endless', { label: 'endless' })" }),
      config: { workflow: termsOf("return workflow('inner').catch((error) => error.message)") },
    });
    const { id } = await stage.start();
    await until(async () => stage.requests.length === 1, 'the agent is asked');
    await stage.runtime.interrupt((await stage.agent('inner')).id, 'enough');
    assert.match(String((await stage.runtime.settled(id)).reply), /workflow inner: .*enough/);
    assert.equal((await stage.agent('endless')).state.type, 'killed');
    answer();
  });
});
