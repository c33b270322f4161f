import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Store } from '../../../src/store/store.ts';
import { CONFIG, child, fresh, newRoot, stepOf } from '../ledger-fixture.ts';

interface Stores {
  readonly store: Store;
  readonly other: Store;
  readonly execute: (sql: string) => Promise<void>;
}

const TEXT = `# How it is built\n${'Run the "tests" first. 漢字\n'.repeat(200)}`;
const WITH = { ...CONFIG, instructions: TEXT };
const WORKER = { id: 'taker', host: 'elsewhere', pid: 1 };

/** Part of the store contract: instructions are stored once per tree, and every read of an agent includes them. */
export function instructionsContract(stores: () => Stores): void {
  const told = (agent: Agent | null | undefined) => agent?.config.instructions;

  it('every read gives them to the agents that have them, and a new configuration keeps them', async () => {
    const { store, other } = stores();
    const root = await newRoot(store, {}, { config: WITH, name: 'instructed', worker: null });
    const kid = await child(store, root, { config: WITH });
    const plain = await child(store, root, { config: CONFIG });
    for (const one of [store, other]) {
      assert.deepEqual((await one.agent(root.id))?.config, WITH);
      assert.deepEqual((await one.agent(plain.id))?.config, CONFIG);
      assert.deepEqual((await one.agents({ root_id: root.id })).map(told), [undefined, TEXT, TEXT]);
      assert.equal(told((await one.find('instructed'))[0]), TEXT);
    }
    const config = { ...WITH, model: 'another/model' };
    await store.commit([stepOf(await fresh(store, kid), { config })]);
    assert.deepEqual((await other.agent(kid.id))?.config, config);
    const archived: (string | undefined)[] = [];
    for await (const entry of other.treeEntries(root.id))
      if (entry.type === 'agent') archived.push(told(entry.agent));
    assert.deepEqual(archived.toSorted(), [TEXT, TEXT, undefined]);
    await store.heartbeat(WORKER);
    assert.equal(told((await store.claim(root.id, WORKER)).find(({ id }) => id === root.id)), TEXT);
  });

  it('a ledger in which each agent has its own copy is read as before, and goes on', async () => {
    const { store, other, execute } = stores();
    const root = await newRoot(store, {}, { config: WITH });
    const copy = JSON.stringify(WITH).replaceAll("'", "''");
    await execute(`UPDATE agents SET config = '${copy}' WHERE id = '${root.id}'`);
    await execute(`DELETE FROM instructions WHERE root_id = '${root.id}'`);
    const old = (await other.agent(root.id)) as Agent;
    assert.deepEqual(old.config, WITH);
    const kid = await child(store, old, { config: old.config });
    assert.deepEqual((await other.agent(kid.id))?.config, WITH);
    assert.deepEqual((await other.agent(root.id))?.config, WITH);
  });

  it('they stand there once, and go with the tree', async () => {
    const { store, execute } = stores();
    const root = await newRoot(store, {}, { config: WITH });
    const kid = await child(store, root, { config: WITH });
    for (const { id } of [root, kid])
      await execute(
        `UPDATE agents SET name = CASE WHEN length(config) < 1000 THEN 'short' ELSE 'long' END WHERE id = '${id}'`,
      );
    assert.deepEqual(
      (await store.agents({ root_id: root.id })).map(({ name }) => name),
      ['short', 'short'],
    );
    await execute(`UPDATE trees SET removal = 'closed' WHERE root_id = '${root.id}'`);
    assert.ok((await store.removeTreeRows(root.id, 100, true)).done);
    // A new tree with the same id does not show the removed instructions.
    const again = await newRoot(
      store,
      {},
      { id: root.id, root_id: root.id, config: { ...CONFIG, instructions: 'new' } },
    );
    assert.equal(told(await stores().other.agent(again.id)), 'new');
  });
}
