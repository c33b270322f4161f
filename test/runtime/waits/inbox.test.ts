/**
 * Proves that consumed mail is not delivered again by a read of the ledger that began before. The step that consumed it again would be refused,
 * and the agent reloaded as after a crash, its running calls reported as interrupted.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, it } from 'node:test';
import type { Mail } from '../../../src/records/conversation/mail.ts';
import { Inbox } from '../../../src/runtime/executor/inbox.ts';
import type { Store } from '../../../src/store/store.ts';
import { closeOpened } from '../../close-opened.ts';
import { until } from '../../until.ts';
import { approvalStage } from '../permissions/approval-stage.ts';

afterEach(closeOpened);

function letter(id: string, number: number, from_id: string | null = 'kid'): Mail {
  const text = { kind: 'letter', body: id, from_name: 'kid' } as const;
  return { id, root_id: 'r', to_id: 'a', from_id, number, sent_at: 1, consumed_seq: null, ...text };
}

it('a letter counts once, in order, even if it is reported again after it was consumed', () => {
  const inbox = new Inbox([letter('two', 2)]);
  inbox.add(letter('one', 1));
  inbox.add(letter('two', 2));
  assert.deepEqual(
    inbox.all().map(({ id }) => id),
    ['one', 'two'],
  );
  inbox.remove(new Set(['two']));
  inbox.add(letter('two', 2));
  assert.deepEqual(
    inbox.all().map(({ id }) => id),
    ['one'],
  );
  inbox.remove(new Set(['one']));
  assert.deepEqual([inbox.isEmpty, inbox.hasLetterFrom('kid'), inbox.hasNews(0)], [true, false, false]);
});

it('of two letters from one sender the second still counts when the first was read, and one from another sender', () => {
  const inbox = new Inbox([letter('one', 1), letter('two', 2), letter('three', 3, 'other')]);
  inbox.remove(new Set(['one']));
  inbox.remove(new Set(['one', 'nothing']));
  assert.deepEqual([inbox.hasLetterFrom('kid'), inbox.hasLetterFrom('other')], [true, true]);
  inbox.remove(new Set(['two']));
  assert.deepEqual([inbox.hasLetterFrom('kid'), inbox.hasLetterFrom('other')], [false, true]);
});

it('whoever listens hears of each letter once, also of those that came while nobody listened', () => {
  const inbox = new Inbox([letter('one', 1)]);
  let heard = 0;
  const listen = () =>
    inbox.listen(() => {
      heard += 1;
    });
  const first = listen();
  assert.equal(heard, 1);
  inbox.add({ ...letter('not waking', 2), kind: 'control' });
  inbox.add(letter('two', 3));
  inbox.add(letter('two', 3));
  assert.equal(heard, 2);
  first();
  const second = listen();
  assert.equal(heard, 2, 'the next one hears of no letter that the first one heard of');
  second();
  inbox.add(letter('three', 4));
  assert.equal(heard, 2);
  listen();
  assert.equal(heard, 3);
});

it('an answer that a slow read of the ledger returns again does not stop the call that it allowed', async () => {
  const on = await approvalStage(
    (scene) => (scene.step === 0 ? [['act', { what: 'hang on' }]] : 'done'),
    undefined,
  );
  const root = await on.start();
  const [ask] = await on.asked(root);
  // The commit that consumes the answer is held until a read has seen the answer pending; that read is held until the call runs.
  const store: { -readonly [Key in 'mail' | 'commit']: Store[Key] } = on.store;
  const [look, commit] = [store.mail.bind(on.store), store.commit.bind(on.store)];
  const [seen, running] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const returned: string[] = [];
  store.commit = async (steps) => {
    await seen.promise;
    return commit(steps);
  };
  store.mail = async (to_id, all) => {
    const pending = await look(to_id, all);
    seen.resolve();
    await running.promise;
    returned.push(...pending.map(({ id }) => id));
    return pending;
  };
  await on.allow(ask);
  // Any write of another process makes this one read the mailbox.
  await (await on.elsewhere()).heartbeat({ id: randomUUID(), host: 'elsewhere', pid: 1 });
  await until(() => on.deeds.length === 1, 'it runs');
  running.resolve();
  await until(() => returned.length > 0, 'the look came back with the answer');
  await on.runtime.send(root.id, 'meanwhile');
  await on.runtime.interrupt(root.id, 'enough');
  await on.runtime.settled(root.id);
  const [result] = await on.results(root);
  assert.deepEqual([result?.status, on.deeds.length], ['cancelled', 1]);
});
