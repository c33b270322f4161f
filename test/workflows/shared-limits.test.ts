// Proves that the agents of a workflow count towards the calls of its run, which nested runs share, and not towards the limits on agents of the tree.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import { onBothDatabases } from '../runtime/both-databases.ts';
import { setStage } from '../runtime/stage.ts';
import { until } from '../until.ts';
import { META } from './played-script.ts';
import { stagedWorkflowTool, termsOf, workflowHost } from './staged-workflow.ts';

const TIGHT = { live: 4, total: 5, children: 3 };

onBothDatabases('agents of a workflow', (database) => {
  it('take no place of the tree, at work or ended', async () => {
    let runtime: RuntimeFace | null = null;
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const script = `${META}return parallel([...Array(12).keys()].map((n) => () => agent('do ' + n))).then((all) => all.length)`;
    const stage = await setStage(
      async ({ name, user, step, last, results, request }) => {
        if (user.startsWith('do ')) {
          await held;
          return 'done';
        }
        if (name !== 'main') return 'forked';
        if (step === 0) return [['workflow', { script }]];
        const wanted = JSON.stringify(request.messages).split('fork now').length - 1;
        if (results.filter((one) => one.name === 'fork').length < wanted)
          return [['fork', { name: 'one', prompt: 'x' }]];
        return last.map(({ output }) => output).join() || user;
      },
      {
        ...{ database: await database(), workflows: workflowHost(), toolsets: ['process', 'workflow'] },
        tools: [stagedWorkflowTool(() => runtime as RuntimeFace)],
      },
    );
    runtime = stage.runtime;
    const { id } = await stage.start('begin', TIGHT);
    const asked = () => stage.requests.filter(({ messages }) => JSON.stringify(messages[0]).includes('"do '));
    await until(() => asked().length === 12, 'all work');
    const forks = async () =>
      (await stage.store.agents({ root_id: id })).filter(({ origin }) => origin === 'fork').length;
    await stage.runtime.send(id, 'fork now');
    await until(async () => (await forks()) === 1, 'a fork beside them');
    release();
    await stage.runtime.settled(id);
    await stage.runtime.send(id, 'fork now again');
    await until(async () => (await forks()) === 2, 'a fork after them');
    await stage.runtime.settled(id);
    // Root, run and two forks are counted: there is place for one more.
    await stage.runtime.send(id, 'fork now, third');
    await until(async () => (await forks()) === 3, 'a third one');
    await stage.runtime.settled(id);
    await stage.runtime.send(id, 'fork now, fourth');
    const { reply } = await stage.runtime.settled(id);
    assert.match(String(reply), /LIMIT_REACHED.*total/);
    assert.equal(await forks(), 3);
  });

  it('share the calls of the run with those of a workflow within it', async () => {
    const stage = await setStage(() => 'done', {
      database: await database(),
      workflows: workflowHost({
        inner: "const all = []; for (let n = 0; n < 4; n++) all.push(await agent('x' + n)); return all",
      }),
      config: {
        workflow: termsOf(
          "return [await agent('a'), await workflow('inner'), await agent('b'), agent.failures().map((one) => one.reason)]",
          { calls: 4 },
        ),
      },
    });
    const text = String((await stage.perform('begin', TIGHT)).reply);
    const [first, inner, last, reasons] = JSON.parse(text.slice(text.indexOf('\n\n')));
    assert.deepEqual([first, last], ['done', null]);
    assert.deepEqual(inner, ['done', 'done', 'done', null]);
    assert.match(reasons[0], /this run and those within it may call agent\(\) 4 times at most/);
  });
});
