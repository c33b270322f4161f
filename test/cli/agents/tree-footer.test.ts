// Proves, on both databases, that the last line of `coppice tree` matches its rows and the counters that limits are checked against.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import { onBothDatabases } from '../../runtime/both-databases.ts';
import { child, fresh, newRoot, said, stepOf } from '../../store/ledger-fixture.ts';
import { makeHome } from '../run-cli.ts';

const usage = { input: 1000, output: 200, cached: 0, reasoning: 0, cost_usd: 0.25 };
const request = { model: 'fake/m', usage, started_at: 1, duration_ms: 1 };

onBothDatabases('the footer of a tree', (database) => {
  it('counts the time of agents at work, and the usage of deleted ones', async () => {
    const home = makeHome();
    const url = (await database()) ?? `sqlite:${home.database}`;
    const store = await openStore(url);
    const root = await newRoot(store, {}, { created_at: Date.now() - 65_000 });
    const gone = await child(store, root, { name: 'gone' });
    await store.commit([stepOf(await fresh(store, root), { messages: [said('x')], requests: [request] })]);
    await store.commit([stepOf(await fresh(store, gone), { messages: [said('x')], requests: [request] })]);
    await store.kill(gone.id, 'you', Date.now());
    const [removed] = await store.commit([stepOf(await fresh(store, root), { remove: [gone.id] })]);
    assert.equal(removed?.ok, true);
    const tree = await store.tree(root.id);
    await store.close();
    assert.equal(tree?.tokens, 2400);
    const { stdout } = await home.run(['tree', root.id], { env: { DATABASE_URL: url } });
    const [, row = '', footer] = stdout.split('\n');
    const time = / (1m\S*)/.exec(row)?.[1];
    assert.ok(time, row);
    assert.match(footer ?? '', /^1 agent, 1 deleted, 0 at work, 0 calls, 2k tokens, \$0\.5000, 1m/);
  });
});
