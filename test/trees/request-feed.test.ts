// Proves that the feed returns each new request once, also when the ledger uses the places of removed requests again.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, it } from 'node:test';
import type { LoadReads, PlacedRequest } from '../../src/store/load-ledger.ts';
import { openStore } from '../../src/store/open-store.ts';
import { RequestFeed } from '../../src/trees/request-feed.ts';
import { closeLater, closeOpened } from '../close-opened.ts';
import { newRoot } from '../store/ledger-fixture.ts';
import { temporaryFolder } from '../temporary-folder.ts';

afterEach(closeOpened);

it('a feed that goes on from a place returns what has come at the places that it had missed, and those only, once', async () => {
  const placed = (place: number) =>
    ({ place, agent_id: `a${place}`, started_at: place, root_id: 'r' }) as unknown as PlacedRequest;
  const places = [1, 3, 4, 6];
  const store = {
    lastRequest: async () => 6,
    requestsAfter: async (after: number) => places.filter((place) => place > after).map(placed),
  } as unknown as LoadReads;
  const first = new RequestFeed(store);
  assert.deepEqual(await first.next(), []);
  const { place } = first;
  assert.deepEqual(place, { newest: 6, missing: [2, 5] });
  places.push(2, 7);
  places.sort();
  for (const feed of [first, new RequestFeed(store, place), new RequestFeed(store, place)]) {
    assert.deepEqual(
      (await feed.next()).map((one) => one.place),
      [2, 7],
    );
    assert.deepEqual(await feed.next(), []);
    assert.deepEqual(feed.place, { newest: 7, missing: [5] });
  }
});

for (const left of [0, 100, 1_500, 2_900])
  it(`${left} of 3000 requests are left, and later ones get the places of those removed`, async () => {
    const file = join(temporaryFolder(), 'ledger.db');
    const store = await openStore(file);
    closeLater(() => store.close());
    const { id } = await newRoot(store);
    const beside = new DatabaseSync(file);
    closeLater(async () => beside.close());
    const insert = beside.prepare(`INSERT INTO requests
      (agent_id, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, started_at, duration_ms)
      VALUES (?, 'fake/m', 1, 1, 0, 0, NULL, ?, 500)`);
    let at = 0;
    const add = (count: number) => {
      beside.exec('BEGIN');
      for (let added = 0; added < count; added += 1) {
        at += 1;
        insert.run(id, at);
      }
      beside.exec('COMMIT');
    };
    add(3_000);
    const feed = new RequestFeed(store);
    assert.deepEqual(await feed.next(), []);
    beside.exec(`DELETE FROM requests WHERE id > ${left}`);
    assert.deepEqual(await feed.next(), []);
    for (const count of [1, 3]) {
      add(count);
      const times = (await feed.next()).map(({ started_at }) => started_at);
      assert.deepEqual(
        times,
        Array.from({ length: count }, (_, index) => at - count + 1 + index),
      );
      assert.deepEqual(await feed.next(), []);
    }
  });
