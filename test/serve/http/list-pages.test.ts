// Proves that the pages of lists have each row once over HTTP, whatever began in the same millisecond, and that pages by time only, as before, still work.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { CONFIG, newDelivery, newRoot } from '../../store/ledger-fixture.ts';
import { setWebStage, type WebStage } from './web-stage.ts';

let web: WebStage;
before(async () => {
  web = await setWebStage(() => 'done');
});
after(() => web.close());

type Row = Readonly<Record<string, string>>;

async function pages(list: string, placeOf: (row: Row) => string): Promise<Row[]> {
  const found: Row[] = [];
  for (let place = '1970-01-01T00:00:01.002Z'; ; ) {
    const { json, text } = await web.ask(`/v1/${list}?limit=2&before=${encodeURIComponent(place)}`);
    const rows: readonly Row[] = json[list] ?? assert.fail(text);
    found.push(...rows);
    const last = rows.at(-1);
    if (last === undefined) return found;
    place = placeOf(last);
  }
}

it('trees and deliveries of one millisecond are each listed once', async () => {
  const { store } = web.stage;
  const ids: string[] = [];
  for (const created_at of [1_000, 1_001, 1_001, 1_001, 1_001, 1_001]) {
    const { id, root_id } = await newRoot(store, {}, { created_at, config: CONFIG });
    await store.enterDelivery(newDelivery({ id, root_id }, { id: `reply-${id}`, created_at }));
    ids.unshift(id);
  }
  const trees = await pages('trees', ({ started_at, root_id }) => `${started_at},${root_id}`);
  assert.deepEqual(
    trees.map(({ root_id }) => root_id),
    ids,
  );
  const deliveries = await pages('deliveries', ({ created_at, id }) => `${created_at},${id}`);
  assert.deepEqual(
    deliveries.map(({ id }) => id),
    ids.map((id) => `reply-${id}`),
  );
  const old = await web.ask('/v1/trees?before=1970-01-01T00:00:01.001Z');
  assert.deepEqual(
    old.json.trees.map((tree: Row) => tree.root_id),
    ids.slice(-1),
  );
  assert.deepEqual((await web.ask('/v1/runs?before=1970-01-01T00:00:01Z,x')).json.runs, []);
});

for (const place of [
  '',
  'x',
  ',',
  '1',
  ',x',
  '2026-11-27',
  'Nov 27 2026',
  '2026-11-27T00:00:00Z,',
  '9999-99-99T00:00Z',
])
  it(`${JSON.stringify(place)} is no place`, async () => {
    for (const list of ['trees', 'runs', 'deliveries'])
      assert.equal((await web.ask(`/v1/${list}?before=${encodeURIComponent(place)}`)).status, 400);
  });
