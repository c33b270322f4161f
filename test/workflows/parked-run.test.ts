// Proves that a run that waits gives its thread and its interpreter back, and goes on as if it had kept them.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { scriptModel } from '../../src/models/workflow/script-model.ts';
import { onBothDatabases } from '../runtime/both-databases.ts';
import { HandClock } from '../runtime/hand-clock.ts';
import { setStage } from '../runtime/stage.ts';
import { until } from '../until.ts';
import { termsOf, workflowHost } from './staged-workflow.ts';

/** Threads of scripts that live, told from others by their stack; one of them may be kept ready for the next script. */
const threads = new Set<Worker>();
const count = (worker: Worker) => {
  if (worker.resourceLimits?.stackSizeMb !== 8) return;
  threads.add(worker);
  worker.once('exit', () => threads.delete(worker));
};
beforeEach(() => void process.on('worker', count));
afterEach(() => void process.off('worker', count));

onBothDatabases('a workflow that waits', (database) => {
  it('is parked, and replayed when its result comes', async () => {
    const clock = new HandClock();
    const stage = await setStage(({ user }) => `did ${user}`, {
      ...{ database: await database(), clock },
      workflows: {
        ...workflowHost(),
        modelOf: async (agent, terms) => scriptModel(agent, terms, undefined, 0),
      },
      config: {
        workflow: termsOf(
          "const first = await agent('one'); log('asleep'); await sleep(604800); return [first, await agent('two'), Math.random()]",
        ),
      },
    });
    const { id } = await stage.start();
    await until(async () => {
      const history = await stage.store.history(id);
      const sleeps = history.some(({ kind, content }) => kind === 'result' && content.name === 'sleep');
      const state = (await stage.store.agent(id))?.state.type;
      return sleeps && state === 'executing' && threads.size <= 1;
    }, 'its thread has ended');
    clock.pass(604_800_000);
    const parked = (await stage.runtime.settled(id)).reply;
    const other = await setStage(({ user }) => `did ${user}`, {
      ...{ database: await database(), workflows: workflowHost() },
      config: {
        workflow: termsOf("return [await agent('one'), await agent('two'), Math.random()]"),
      },
    });
    assert.equal(parked, (await other.perform()).reply);
    assert.equal(stage.requests.length, 2, 'nobody is asked twice');
  });

  it('keeps nothing once its tree is released', async () => {
    const clock = new HandClock();
    const stage = await setStage(() => 'unused', {
      ...{ database: await database(), clock, workflows: workflowHost() },
      config: { workflow: termsOf("await sleep(604800); return 'awake'") },
    });
    const { id } = await stage.start();
    await until(() => stage.runtime.release(id), 'no process is needed meanwhile');
    await until(() => threads.size <= 1, 'its thread has ended');
    clock.pass(604_800_000);
    await stage.runtime.resume(id, { unattended: true });
    assert.equal((await stage.runtime.settled(id)).reply, 'awake');
  });
});
