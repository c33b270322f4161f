// Proves that a list of trees that is read repeatedly reads only what has changed, and never misses a tree that waits for a person.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { ListedTrees } from '../../../src/trees/answers/listed-trees.ts';
import { approvalStage } from '../../runtime/permissions/approval-stage.ts';
import { until } from '../../until.ts';

it('makes the rows of changed trees again and no others; a tree that waits is listed however old it is', async () => {
  const on = await approvalStage(
    ({ user, step }) => (user === 'ask' && step === 0 ? [['act', { what: 'it' }]] : `answer to ${user}`),
    undefined,
  );
  try {
    const asking = await on.start('ask');
    const [ask] = await on.asked(asking);
    const { root: first } = await on.perform('first');
    const { root: second } = await on.perform('second');
    const titled: string[] = [];
    const { history } = on.store;
    const store: Store = {
      ...on.store,
      history: (...given: Parameters<Store['history']>) => {
        titled.push(given[0]);
        return history(...given);
      },
    };
    const list = new ListedTrees({ store, unled: { env: {}, options: {} } as never });
    const titles = async (limit: number) => (await list.rows(limit)).map(({ title }) => title);
    assert.deepEqual(await titles(3), ['second', 'first', 'ask']);
    titled.length = 0;
    assert.deepEqual(await titles(1), ['second', 'ask']);
    assert.equal(titled.length, 0);
    await on.runtime.send(second.id, 'more');
    await on.runtime.settled(second.id);
    await list.rows(3);
    assert.deepEqual(new Set(titled), new Set([second.id, first.id]), 'the first had left the list');
    titled.length = 0;
    const [waits] = (await list.rows(3)).filter(({ need }) => need === 'approval');
    assert.equal(waits?.asked, 'act it');
    await on.allow(ask);
    await until(
      async () => (await list.rows(3)).every(({ need }) => need === 'done'),
      'it has been answered',
    );
    assert.ok(titled.includes(asking.id) && !titled.includes(first.id));
    assert.deepEqual(await titles(1), ['second']);
  } finally {
    await on.close();
  }
});
