// Proves what a person is promised of a tree that is taken back: calls that had begun are interrupted and never run again, ids of the old tree reach agents of
// the new one, budgets count what was spent up to the cut, a moment before a cut is one of the other tree, the same order makes one tree, and the rows that
// a cut holds are not removed before it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { it } from 'node:test';
import * as z from 'zod';
import type { Agent, Tree } from '../../../src/records/agent/agent.ts';
import { removeOld } from '../../../src/store/remove-old.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { rowsOf } from '../../../src/trees/answers/tree-list-rows.ts';
import { rewindTree } from '../../../src/trees/rewind/rewind-tree.ts';
import { onBothDatabases, stagesOn } from '../../runtime/both-databases.ts';
import { assertLawful, rewound, story } from './cut-trees.ts';

const shot: string[] = [];
const shoot = defineTool({
  name: 'bash',
  description: 'Acts on the world.',
  input: z.strictObject({ at: z.string() }),
  side_by_side: false,
  idempotent: false,
  subject: ({ at }) => at,
  run: async ({ at }) => {
    shot.push(at);
    // So that no two requests end in one millisecond.
    await new Promise((resolve) => setTimeout(resolve, 3));
    return `shot ${at}`;
  },
});

onBothDatabases('a tree that is taken back', (database) => {
  const setStage = stagesOn(database, { tools: [shoot] as never });

  it('never runs a call again that had begun, and runs those that had not', async () => {
    const { store, runtime, perform } = await setStage(({ step }) =>
      step > 0
        ? 'done'
        : [
            ['bash', { at: 'a' }],
            ['bash', { at: 'b' }],
          ],
    );
    const { root } = await perform();
    shot.length = 0;
    // The answer stands alone in its transaction: neither call has a result.
    const [cut] = (await rewound(store, root.id, '2')) as [Agent];
    assert.equal(cut.state.type, 'executing');
    await runtime.resume(cut.id);
    await runtime.settled(cut.id);
    const results = (await store.history(cut.id)).flatMap(({ kind, content }) =>
      kind === 'result' ? [content.status] : [],
    );
    assert.deepEqual(results, ['interrupted', 'ok']);
    assert.deepEqual(shot, ['b']);
    await assertLawful(store, cut.id);
    const call = (await store.history(root.id)).find(({ kind }) => kind === 'result');
    assert.ok(call?.kind === 'result');
    const [earlier] = (await rewound(store, root.id, `before ${call.content.call_id}`)) as [Agent];
    assert.deepEqual([earlier.state.type, earlier.last_seq], ['requesting', 1]);
  });

  it('rests where it was cut, which is told without alarm, until it is let go on', async () => {
    const { store, runtime, perform } = await setStage(({ step }) =>
      step > 0 ? 'done' : [['bash', { at: 'a' }]],
    );
    const { root } = await perform();
    const [cut] = (await rewound(store, root.id, '2')) as [Agent];
    const row = async () => {
      const [one] = await rowsOf({ store, unled: { env: {}, options: {} } }, [
        (await store.agent(cut.id)) as Agent,
      ]);
      return [one?.status, one?.outcome, one?.need, one?.unled?.why ?? null];
    };
    assert.deepEqual(await row(), ['unled', 'unled', 'done', 'it rests where it was cut']);
    await runtime.resume(cut.id);
    await runtime.settled(cut.id);
    assert.deepEqual(await row(), ['idle', 'done', 'done', null]);
  });

  it('understands ids of the old tree, in trees that were cut from cuts, too', async () => {
    const { store, runtime, perform } = await setStage((scene) => {
      if (scene.name !== 'main') return 'hello';
      if (scene.step === 0) return [['fork', { name: 'a', prompt: 'wait' }]];
      const { agent_id } = JSON.parse(scene.results[0]?.output ?? '') as { agent_id: string };
      if (scene.step === 1) return [['bash', { at: 'x' }]];
      return scene.step === 2 ? [['send', { to: agent_id.slice(0, 8), message: 'more' }]] : 'sent';
    });
    const { root } = await perform();
    const [again] = (await rewound(store, root.id, '3')) as [Agent];
    await runtime.resume(again.id);
    await runtime.settled(again.id);
    const [cut, a] = (await rewound(store, again.id, '5')) as readonly [Agent, Agent];
    assert.deepEqual(a.was?.length, 2);
    await runtime.resume(cut.id);
    await runtime.settled(cut.id);
    const letters = await store.mail(a.id, true);
    assert.deepEqual(
      letters.map(({ body }) => body),
      ['more'],
    );
    assert.equal(await story(store, cut.id), await story(store, root.id));
  });

  it('may spend what the old one could have spent from there', async () => {
    const { store, runtime, perform } = await setStage(({ step }) =>
      step < 3 ? [['bash', { at: String(step) }]] : 'done',
    );
    const { root } = await perform();
    const tokens = async (id: string) => (await store.tree(id))?.tokens;
    const before = await tokens(root.id);
    const [cut] = (await rewound(store, root.id, '3')) as [Agent];
    assert.equal(await tokens(cut.id), 12, 'one request of twelve tokens');
    await runtime.resume(cut.id);
    await runtime.settled(cut.id);
    assert.equal(await tokens(cut.id), before);

    // Of a free model, whose tokens the default limits do not count.
    const { limits } = (await store.tree(root.id)) as Tree;
    await store.setLimits(root.id, { ...limits, usual: true, free: before } as Tree['limits']);
    const [free] = (await rewound(store, root.id, '3')) as [Agent];
    assert.equal((await store.tree(free.id))?.limits.free, 12);
  });

  it('has no message of a person on its way when it goes back to before it, of the first one neither', async () => {
    const { store, runtime, perform } = await setStage(() => 'done');
    const { root } = await perform();
    await runtime.send(root.id, 'more');
    await runtime.settled(root.id);
    const own = (await store.history(root.id)).filter(({ kind }) => kind === 'user').map(({ seq }) => seq);
    assert.equal(own.length, 2);
    for (const seq of own) {
      const [cut] = (await rewound(store, root.id, `before ${seq}`)) as [Agent];
      assert.deepEqual([cut.last_seq, await store.mail(cut.id, true)], [seq - 1, []]);
      await runtime.resume(cut.id);
      await runtime.settled(cut.id);
      assert.equal((await store.agent(cut.id))?.last_seq, seq - 1, 'it rests');
    }
  });

  it('is made once by an order that is repeated, and a moment before it is one of the old tree', async () => {
    const { store, perform } = await setStage(({ step }) => (step < 2 ? [['bash', { at: 'x' }]] : 'done'));
    const { root } = await perform();
    const id = randomUUID();
    const order = { to: 'before 4' };
    const done = await rewindTree(store, root, order, id, tmpdir());
    await rewindTree(store, root, order, id, tmpdir());
    assert.equal((await store.agents({ root_id: id })).length, 1);
    const cut = (await store.agent(id)) as Agent;
    assert.deepEqual((await store.tree(id))?.cut, {
      ...{ of: root.id, at: Date.parse(done.at) },
      ...{ agent_id: root.id, seq: 3 },
    });
    const earlier = await rewindTree(store, cut, { to: '1' }, randomUUID(), tmpdir());
    assert.equal(earlier.of, root.id);
    const shown = await rewindTree(store, root, { to: '1', dry_run: true }, randomUUID(), tmpdir());
    assert.equal(shown.root_id, null);
    assert.equal((await store.agents({ roots: true })).length, 3);
    for (const to of ['99', 'before 99', 'tomorrow', 'before nothing', '2999-01-01'])
      await assert.rejects(
        rewindTree(store, root, { to }, randomUUID(), tmpdir()),
        { name: 'CoppiceError' },
        to,
      );
  });

  it('keeps the tree that it was cut from in the ledger, as long as it is there itself', async () => {
    const { store, runtime, perform } = await setStage(() => 'done');
    const { root } = await perform();
    const [cut] = (await rewound(store, root.id, '2')) as [Agent];
    await runtime.release(root.id);
    const before = (await store.now()) + 60_000;
    const options = { terms: { before, idle: true }, runs: true, dry_run: false, archive: null };
    assert.deepEqual(
      (await removeOld(store, options)).trees.map(({ root_id }) => root_id),
      [cut.id],
    );
    assert.deepEqual(
      (await removeOld(store, options)).trees.map(({ root_id }) => root_id),
      [root.id],
    );
  });
});
