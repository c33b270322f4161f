import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Store } from '../../../src/store/store.ts';
import { fresh, letter, newRoot } from '../ledger-fixture.ts';

/** Part of the store contract: letters that are sent at the same time may share a transaction and nothing else. */
export function mailBatchContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  const fromOutside = (to: Agent, body: string) => ({
    ...letter(to, to, body),
    id: randomUUID(),
    from_id: null,
  });

  it('letters sent at once are numbered in order without gaps, whoever else writes meanwhile', async () => {
    const { store, other } = stores();
    const [first, second] = [await newRoot(store), await newRoot(store)];
    const bodies = Array.from({ length: 450 }, (_, n) => `${n} 漢字`);
    const sent = await Promise.all([
      ...bodies.map((body) => store.send(fromOutside(first, body))),
      ...bodies.map((body) => other.send(fromOutside(second, body))),
    ]);
    const numbers = bodies.map((_, n) => n + 1);
    for (const [agent, verdicts] of [
      [first, sent.slice(0, 450)],
      [second, sent.slice(450)],
    ] as const) {
      assert.deepEqual(
        verdicts.map((verdict) => verdict.ok && verdict.mail.number),
        numbers,
      );
      assert.deepEqual(
        (await other.mail(agent.id)).map(({ body, number }) => [body, number]),
        bodies.map((body, n) => [body, n + 1]),
      );
    }
    assert.equal((await fresh(store, first)).mail_count, 450);
  });

  it('a refused or repeated letter does not affect others in its batch', async () => {
    const { store } = stores();
    const [alive, dead] = [await newRoot(store), await newRoot(store)];
    await store.kill(dead.id, 'you', 1);
    const once = fromOutside(alive, 'once');
    const nobody = { ...fromOutside(alive, 'x'), to_id: randomUUID() };
    const sent = await Promise.all(
      [once, fromOutside(dead, 'x'), nobody, once, fromOutside(alive, 'last')].map((mail) =>
        store.send(mail),
      ),
    );
    assert.deepEqual(
      sent.map((verdict) => (verdict.ok ? verdict.mail.number : verdict.refusal)),
      [
        1,
        { reason: 'recipient', agent_id: dead.id, found: 'dead' },
        { reason: 'recipient', agent_id: nobody.to_id, found: 'unknown' },
        1,
        2,
      ],
    );
  });
}
