import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { letter, newDelivery, newRoot, stepOf } from '../ledger-fixture.ts';

/**
 * Part of the store contract: the keys of the ledger, which the database itself enforces, even against a program without any guards. Rows are
 * copied with plain SQL, with one column changed where a table has two keys.
 */
export function keyContract(
  stores: () => { readonly store: Store; readonly execute: (sql: string) => Promise<void> },
): void {
  const refuses = (sql: string): Promise<void> => assert.rejects(stores().execute(sql), /unique/i, sql);

  it('law 11: no second message with a seq, no second letter with a number or an id', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const mail = letter(root, root);
    await store.commit([stepOf(root, { send: [mail] })]);
    const message = 'agent_id, seq, kind, content, at';
    await refuses(
      `INSERT INTO messages (${message}) SELECT ${message} FROM messages WHERE agent_id = '${root.id}'`,
    );
    const rest = 'root_id, to_id, from_id, from_name, kind, body';
    const copy = (id: string, number: string) =>
      `INSERT INTO mail (id, ${rest}, number, sent_at) SELECT ${id}, ${rest}, ${number}, sent_at FROM mail WHERE id = '${mail.id}'`;
    await refuses(copy("'another'", 'number'));
    await refuses(copy('id', 'number + 1'));
    assert.equal((await store.mail(root.id, true)).length, 1);
    assert.equal((await store.history(root.id)).length, 1);
  });

  it('law F1: no second row for an instant; a manual fire has its own', async () => {
    const { store, execute } = stores();
    const job = randomUUID();
    const fire = (manual: string) =>
      execute(
        `INSERT INTO cron_fires (job_id, instant, manual, outcome, missed, fired_at) VALUES ('${job}', 60000, ${manual}, 'fired', 0, 1)`,
      );
    const [no, yes] = store.kind === 'postgres' ? ['false', 'true'] : ['0', '1'];
    await fire(no);
    await fire(yes);
    await assert.rejects(fire(no), /unique/i);
    assert.equal((await store.fires(job, 10)).length, 2);
  });

  it('no second delivery with an id', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const delivery = newDelivery(root);
    await store.commit([stepOf(root, { deliver: [delivery] })]);
    const columns = 'id, kind, target, channel, root_id, agent_id, body, created_at, next_at';
    await refuses(
      `INSERT INTO deliveries (${columns}) SELECT ${columns} FROM deliveries WHERE id = '${delivery.id}'`,
    );
  });
}
