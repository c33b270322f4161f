import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { ArchiveEntry, RetentionTerms } from '../../../src/store/retention-ledger.ts';
import type { Store } from '../../../src/store/store.ts';
import { fresh, letter, said, stepOf } from '../ledger-fixture.ts';
import { askOf, ENDED, endLongAgo, OLD, oldChild, oldRun, oldTree, TERMS } from '../retention-fixture.ts';

const IDLE: RetentionTerms = { ...TERMS, idle: true };

/** Part of the store contract: archiving and removing a closed tree. */
export function removalContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  const remove = async (root_id: string, most: number, runs = false) => {
    const total = { agents: 0, messages: 0, mail: 0, requests: 0, asks: 0, runs: 0 };
    for (let pieces = 1; ; pieces += 1) {
      const { removed, done } = await stores().store.removeTreeRows(root_id, most, runs);
      const rows = Object.entries(removed) as [keyof typeof total, number][];
      assert.ok(rows.reduce((sum, [, n]) => sum + n, 0) <= most);
      for (const [name, n] of rows) total[name] += n;
      if (done) return { total, pieces };
    }
  };
  const entriesOf = async (root_id: string): Promise<ArchiveEntry[]> => {
    const entries: ArchiveEntry[] = [];
    for await (const entry of stores().other.treeEntries(root_id)) entries.push(entry);
    return entries;
  };

  it('an archive holds all of a tree; its removal goes in batches and leaves other trees alone', async () => {
    const { store, other } = stores();
    const [root, neighbour] = [await oldTree(store, { type: 'idle' }), await oldTree(store, ENDED)];
    const kids = [
      await oldChild(store, root, { type: 'idle' }),
      await oldChild(store, root, { type: 'idle' }),
    ];
    const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: 0.5 };
    const request = { model: 'm', usage, started_at: 1, duration_ms: 1 };
    await oldRun(store, root);
    const { epoch } = await fresh(store, root);
    await store.changeTasks(
      { agent_id: root.id, root_id: root.id, epoch, call_id: 'add' },
      { action: 'add', title: 'tidy up', depends_on: [], blocks: [] },
    );
    await store.commit([
      stepOf(await fresh(store, root), {
        at: OLD,
        messages: Array.from({ length: 450 }, (_, n) => said(`text ${n} 漢字 🎋`)),
        send: kids.map((kid) => letter(root, kid)),
        requests: [request, request],
        asks: [askOf(root), askOf(root)],
        waits_for: kids.map(({ id }) => id),
      }),
    ]);
    for (const kid of kids) {
      const [mail] = await store.mail(kid.id);
      await store.commit([
        stepOf(await fresh(store, kid), {
          at: OLD,
          messages: [said('read')],
          consume: [{ mail_id: mail?.id ?? '', seq: kid.last_seq + 1 }],
        }),
      ]);
    }
    const told = {
      agents: await other.agents({ root_id: root.id }),
      history: await other.history(root.id),
      mail: await other.mail((kids[0] as Agent).id, true),
      asks: await other.asks({ root_id: root.id }),
      runs: await other.runs({ root_id: root.id }),
    };
    const size = await other.treeSize(root.id);
    assert.deepEqual(size, { agents: 4, messages: 459, mail: 2, requests: 2, asks: 2, runs: 1 });
    assert.deepEqual(await store.closeTrees([root.id], IDLE), [root.id]);
    const entries = await entriesOf(root.id);
    const only = <T extends ArchiveEntry['type']>(type: T) =>
      entries.filter((entry): entry is Extract<ArchiveEntry, { type: T }> => entry.type === type);
    assert.deepEqual(
      only('agent')
        .map(({ agent }) => agent.id)
        .toSorted(),
      told.agents.map(({ id }) => id).toSorted(),
    );
    assert.deepEqual(
      only('message')
        .map(({ message }) => message)
        .filter(({ agent_id }) => agent_id === root.id),
      told.history,
    );
    assert.deepEqual(
      only('mail')
        .map(({ mail }) => mail)
        .filter(({ to_id }) => to_id === kids[0]?.id),
      told.mail,
    );
    assert.deepEqual(new Set(only('ask').map(({ ask }) => ask)), new Set(told.asks));
    assert.deepEqual(
      only('run').map((one) => one.run),
      told.runs,
    );
    assert.deepEqual(
      only('request').map((one) => [one.agent_id, one.request]),
      [
        [root.id, request],
        [root.id, request],
      ],
    );
    assert.equal(only('edge').length, 2);
    assert.deepEqual(
      only('task').map(({ task }) => [task.title, task.state]),
      [['tidy up', 'open']],
    );
    assert.equal(only('tree')[0]?.tree.total, 4);
    const { total, pieces } = await remove(root.id, 50);
    assert.deepEqual(total, { ...size, runs: 0 });
    assert.ok(pieces >= 9);
    assert.equal(await other.tree(root.id), null);
    assert.deepEqual(await other.agents({ root_id: root.id }), []);
    assert.deepEqual(
      (await entriesOf(root.id)).map(({ type }) => type),
      ['run'],
      'the run history stays',
    );
    assert.equal((await other.history(neighbour.id)).length, 1);
    assert.ok(await other.tree(neighbour.id));
    assert.deepEqual((await other.waiters((kids[0] as Agent).id)).length, 0);
  });

  it('a removal that has begun cannot be reversed, and continues where it stopped; runs go on request', async () => {
    const { store, other } = stores();
    const root = await oldTree(
      store,
      { type: 'idle' },
      { messages: Array.from({ length: 30 }, () => said('x')) },
    );
    const { run } = await oldRun(store, root);
    await endLongAgo(store, root);
    await store.closeTrees([root.id], TERMS);
    const first = await store.removeTreeRows(root.id, 10, true);
    assert.deepEqual([first.removed.messages, first.done], [10, false]);
    await store.reopenTrees([root.id]);
    assert.ok((await other.closedTrees(10_000)).includes(root.id));
    const { total } = await remove(root.id, 10, true);
    assert.equal(total.runs, 1);
    assert.deepEqual(await entriesOf(root.id), []);
    assert.deepEqual(await other.findRuns(run.id), []);
    assert.deepEqual(await store.removeTreeRows(root.id, 10, true), {
      removed: { agents: 0, messages: 0, mail: 0, requests: 0, asks: 0, runs: 0 },
      done: true,
    });
    const open = await oldTree(store, ENDED);
    assert.equal((await store.removeTreeRows(open.id, 10, true)).removed.messages, 0, 'it was not closed');
    assert.ok(await other.agent(open.id));
  });
}
