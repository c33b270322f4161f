// Proves, on both databases, that a tree survives its process: waits keep their remaining time, interrupted calls are reported, idempotent ones are repeated,
// and only one process leads at a time.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import type { Tool } from '../../../src/records/tool.ts';
import type { Store } from '../../../src/store/store.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import { besideWorker, forked, type Play, parsed, setStage } from '../stage.ts';

function hanging(name: string, idempotent: boolean, runs: string[]): Tool {
  return defineTool({
    name,
    description: 'Hangs the first time.',
    input: z.strictObject({}),
    side_by_side: true,
    idempotent,
    run: async (_input, { signal }) => {
      runs.push(name);
      if (runs.filter((one) => one === name).length > 1) return 'second run';
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'stopped';
    },
  }) as Tool;
}

onBothDatabases('recovery', (database) => {
  const stage = stagesOn(database);

  it('a running call is reported as interrupted, an idempotent one is repeated, and the request is sent again', async () => {
    const runs: string[] = [];
    const tools = [hanging('once', false, runs), hanging('again', true, runs)];
    const play: Play = (scene) =>
      scene.step === 0
        ? [
            ['once', {}],
            ['again', {}],
          ]
        : 'recovered';
    const on = await stage(play, { tools });
    const root = await on.start();
    await until(() => runs.length === 2, 'both tools run');
    const next = await on.reopen();
    const report = await next.runtime.resume(root.id);
    assert.deepEqual(
      report.agents.map((agent) => agent.id),
      [root.id],
    );
    const { reply } = await next.runtime.settled(root.id);
    assert.equal(reply, 'recovered');
    const [once, again] = await next.results(root);
    assert.equal(once?.status, 'interrupted');
    assert.match(once?.output ?? '', /Check before you repeat it/);
    assert.equal(again?.output, 'second run');
    assert.deepEqual(runs, ['once', 'again', 'again']);
    assert.deepEqual((await next.runtime.resume(root.id)).agents, [], 'it is led here already');
  });

  it('a wait continues with its remaining time and gets mail that came meanwhile', async () => {
    const play: Play = (scene) => {
      if (scene.name === 'kid') return new Promise(() => undefined);
      if (scene.step === 0) return [['fork', { name: 'kid', prompt: 'sit' }]];
      if (scene.step === 1) return [['wait', { timeout: 4, from_agents: forked(scene) }]];
      if (scene.step === 2) return [['wait', { timeout: 600 }]];
      return `heard ${parsed(scene.last[0]).message}`;
    };
    const on = await stage(play);
    const root = await on.start();
    await until(async () => (await on.store.agent(root.id))?.doing === 'wait 1 agent', 'the root waits');
    const deadline = JSON.stringify((await on.store.agent(root.id))?.state).match(/"deadline":(\d+)/)?.[1];
    const next = await on.reopen();
    await next.runtime.resume(root.id);
    assert.equal(
      JSON.stringify((await next.store.agent(root.id))?.state).match(/"deadline":(\d+)/)?.[1],
      deadline,
    );
    await until(
      async () => (await next.store.agent(root.id))?.doing === 'wait for a message',
      'the first wait ran out',
    );
    const last = await next.reopen();
    await last.store.send({
      id: 'letter-1',
      root_id: root.id,
      to_id: root.id,
      from_id: null,
      from_name: 'you',
      kind: 'letter',
      body: 'hello',
      sent_at: 1,
    });
    await last.runtime.resume(root.id);
    await until(async () => (await last.store.agent(root.id))?.reply === 'heard hello', 'the letter arrived');
    assert.equal(parsed((await last.results(root))[1]).timed_out, true);
  });

  it('forks of forks replay their prompts exactly after a restart', async () => {
    const seen: string[] = [];
    const play: Play = (scene) => {
      if (scene.name === 'leaf') {
        seen.push(JSON.stringify(scene.request.messages));
        return new Promise(() => undefined);
      }
      if (scene.step > 0) return [['wait', { timeout: 600 }]];
      return [['fork', { name: scene.name === 'main' ? 'middle' : 'leaf', prompt: `from ${scene.name}` }]];
    };
    const on = await stage(play);
    const root = await on.start('the root task');
    await until(() => seen.length === 1, 'the leaf asks');
    const next = await on.reopen();
    await next.runtime.resume(root.id);
    await until(() => seen.length === 2, 'the leaf asks again');
    assert.equal(seen[1], seen[0]);
    assert.match(seen[0] ?? '', /the root task.*from main.*from middle/);
  });

  it('an agent that cannot be read is reported with the reason, and the others resume', async () => {
    const on = await stage(({ user }) => user);
    const { root } = await on.perform();
    const child = await on.runtime.fork(root.id, 'kid', null);
    const wrap = (store: Store): Store =>
      Object.assign(Object.create(store) as Store, {
        conversations: (ids: readonly string[]) =>
          ids.includes(child.id) ? Promise.reject(new Error('a page is torn')) : store.conversations(ids),
      });
    const next = await on.reopen(undefined, { wrap });
    const { broken } = await next.runtime.resume(root.id);
    assert.deepEqual(
      broken.map(({ agent, reason }) => [agent.id, reason]),
      [[child.id, 'a page is torn']],
    );
    await next.runtime.send(root.id, 'once more');
    assert.equal((await next.runtime.settled(root.id, 'root')).reply, 'once more');
  });

  it('a tree led by another living process is not taken over', async () => {
    const url = await database();
    const on = await setStage(
      besideWorker((scene) => (scene.step === 0 ? [['wait', { timeout: 600 }]] : 'done')),
      { database: url },
    );
    const root = await on.start();
    await until(async () => (await on.store.agent(root.id))?.doing === 'wait for a message', 'it waits');
    const { openRuntime } = await import('../../../src/runtime/open-runtime.ts');
    const { openStore } = await import('../../../src/store/open-store.ts');
    const store = await openStore(url ?? `sqlite:${on.store.location}`);
    const other = await openRuntime({
      store,
      openModel: () => Promise.reject(new Error('unused')),
      tools: [],
      spill_dir: '/tmp',
      env_allow: [],
    });
    const report = await other.resume(root.id);
    assert.deepEqual([report.agents.length, report.elsewhere], [0, 2]);
    // The leader receives what another process writes.
    await other.send(root.id, 'from elsewhere');
    assert.equal((await on.runtime.settled(root.id, 'root')).reply, 'done');
    await other.close();
    await store.close();
  });

  it('a failed turn is retried only by a person', async () => {
    let broken = true;
    const play: Play = () => {
      if (broken) throw new Error('the model is away');
      return 'back';
    };
    const on = await stage(play);
    const first = await on.perform();
    assert.equal(first.failure?.kind, 'no_model');
    broken = false;
    const next = await on.reopen();
    await next.runtime.resume(first.root.id);
    assert.equal((await next.runtime.settled(first.root.id)).failure?.kind, 'no_model');
    const last = await next.reopen();
    await last.runtime.resume(first.root.id, { retry: true });
    assert.equal((await last.runtime.settled(first.root.id)).reply, 'back');
  });
});
