// Proves, on both databases, that the `slash` vocabulary loses, duplicates and announces twice no letter: a hundred children, restarts, interrupts, children
// that hang, fail or send huge letters.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import type { Play, Scene, Stage } from '../stage.ts';
import {
  completion,
  forkedIds,
  newest,
  noticesOf,
  reader,
  report,
  shownLetters,
  slash,
  UUID,
} from './slash-stage.ts';

const forks = (count: number) => Array.from({ length: count }, (_, index) => slash(`fork child ${index}`));
const room = (count: number) => ({ children: count, live: count + 1, total: count + 1 });
const never: Promise<string> = new Promise(() => undefined);

/** Asserts that every letter with these summaries was shown once, that none is unread, and that no sender was named in two notices. */
async function allOnce(on: Stage, root_id: string, summaries: readonly string[]): Promise<void> {
  const root = await on.store.agent(root_id);
  assert.ok(root !== null);
  const shown = shownLetters(await on.results(root));
  assert.deepEqual(shown.map((letter) => letter.completion?.summary).sort(), [...summaries].sort());
  const mail = (await on.store.mail(root_id, true)).filter((letter) => letter.from_id !== null);
  assert.equal(mail.length, summaries.length);
  assert.deepEqual(
    shown.map((letter) => letter.from),
    mail.map((letter) => letter.from_id),
    'in the order in which they were written',
  );
  assert.ok(mail.every((letter) => letter.consumed_seq !== null));
  const named = (await noticesOf(on, root_id)).flatMap((notice) => notice.split('\n'));
  assert.equal(new Set(named).size, named.length, 'each sender wrote once, so it is named once');
  for (const line of named) assert.match(line.replace('got mail from ', ''), UUID);
}

onBothDatabases('slash under load', (database) => {
  const stage = stagesOn(database, { toolsets: ['slash'] });

  it('reads the completion messages of a hundred concurrent children', async () => {
    const child = report((scene) => `I am ${scene.name}`);
    const on = await stage((scene) =>
      scene.name !== 'main' ? child(scene) : scene.step === 0 ? forks(100) : reader(scene),
    );
    const { root, agents } = await on.perform('go', room(100));
    assert.equal(agents.length, 101);
    assert.ok(agents.every((agent) => agent.state.type === 'idle'));
    await allOnce(
      on,
      root.id,
      Array.from({ length: 100 }, (_, index) => `I am child-${index}`),
    );
  });

  it('restarts lose and duplicate no letter, and repeat no notice', async () => {
    // Before each restart ten more children answer; the others hang until the next life.
    const life =
      (number: number): Play =>
      (scene) => {
        if (scene.name === 'main') return scene.step === 0 ? forks(40) : reader(scene);
        if (scene.step === 0 && Number(scene.name.split('-')[1]) >= 10 * number) return never;
        return report((one) => `I am ${one.name}`)(scene);
      };
    let on = await stage(life(1));
    const root = await on.start('go', room(40));
    for (let number = 2; number <= 4; number += 1) {
      const written = 10 * (number - 1);
      await until(async () => (await on.store.mail(root.id, true)).length === written, `${written} letters`);
      on = await on.reopen(life(number));
      await on.runtime.resume(root.id);
    }
    await on.runtime.settled(root.id);
    await allOnce(
      on,
      root.id,
      Array.from({ length: 40 }, (_, index) => `I am child-${index}`),
    );
  });

  it('unread mail that was announced is not announced again after a restart, and can still be read', async () => {
    const idle: Play = (scene) =>
      scene.name !== 'main'
        ? report(() => scene.name)(scene)
        : scene.step === 0
          ? forks(3)
          : 'I read nothing';
    const on = await stage(idle);
    const { root } = await on.perform();
    const before = await noticesOf(on, root.id);
    const again = await on.reopen(idle);
    await again.runtime.resume(root.id);
    await again.runtime.settled(root.id);
    assert.equal(again.requests.length, 0, 'nobody has anything to do');
    assert.deepEqual(await noticesOf(again, root.id), before);
    const last = await again.reopen((scene) =>
      newest(scene).includes('read your mail') ? [slash('check-mail')] : 'read',
    );
    await last.runtime.resume(root.id);
    await last.runtime.send(root.id, 'read your mail');
    await last.runtime.settled(root.id);
    assert.deepEqual(await noticesOf(last, root.id), before);
    await allOnce(last, root.id, ['child-0', 'child-1', 'child-2']);
  });

  it('a letter written while no process led the tree is announced after the restart', async () => {
    const on = await stage((scene) =>
      scene.name === 'main' && scene.step === 0 ? [slash('fork child 0')] : 'resting',
    );
    const { root } = await on.perform();
    const [child] = await on.store.agents({ parent_id: root.id });
    await on.store.send({
      id: 'while-away',
      root_id: root.id,
      to_id: root.id,
      from_id: child?.id ?? '',
      from_name: 'child-0',
      kind: 'letter',
      body: JSON.stringify({ status: 'idle', success: true, summary: 'late' }),
      sent_at: 1,
    });
    const next = await on.reopen(reader);
    await next.runtime.resume(root.id);
    await next.runtime.settled(root.id);
    const notice = `got mail from ${child?.id}`;
    assert.deepEqual(
      await noticesOf(next, root.id),
      [notice, notice],
      'of its last words, and of the letter',
    );
    const shown = shownLetters(await next.results(root));
    assert.deepEqual(
      shown.map((letter) => letter.completion?.summary),
      ['resting', 'late'],
    );
  });

  it('when a person interrupts the parent, its children continue, and their letters are announced and read once', async () => {
    const on = await stage((scene) => {
      if (scene.name !== 'main') return report((one) => one.name)(scene);
      if (scene.step === 0) return forks(5);
      return scene.step === 1 && newest(scene).length === 0 ? never : reader(scene);
    });
    const root = await on.start();
    await until(async () => (await on.store.mail(root.id)).length === 5, 'all five have written');
    assert.deepEqual(await noticesOf(on, root.id), [], 'none in the middle of a turn');
    await on.runtime.interrupt(root.id, 'stop thinking');
    await on.runtime.settled(root.id);
    assert.equal((await noticesOf(on, root.id)).length, 1);
    await allOnce(
      on,
      root.id,
      [0, 1, 2, 3, 4].map((index) => `child-${index}`),
    );
  });

  it('when a person interrupts a child, it rests, the others continue, and more work wakes it', async () => {
    const child: Play = (scene: Scene) => {
      if (scene.name !== 'child-1') return report(() => scene.name)(scene);
      if (newest(scene).includes('try again'))
        return [slash(`send ${scene.parent_id} ${completion('child-1')}`)];
      return scene.step === 0 ? never : 'reported';
    };
    const on = await stage((scene) =>
      scene.name !== 'main' ? child(scene) : scene.step === 0 ? forks(3) : reader(scene),
    );
    const root = await on.start();
    await until(async () => {
      const mail = await on.store.mail(root.id, true);
      return mail.length === 2 && mail.every((letter) => letter.consumed_seq !== null);
    }, 'the two others were read');
    const hanging = await on.agent('child-1');
    assert.equal(hanging.state.type, 'requesting');
    await on.runtime.interrupt(hanging.id, 'too slow');
    await on.runtime.settled(root.id);
    assert.equal((await on.store.agent(hanging.id))?.state.type, 'idle');
    await on.runtime.send(hanging.id, 'try again');
    await on.runtime.settled(root.id);
    await allOnce(on, root.id, ['child-0', 'child-1', 'child-2']);
  });

  it('with a child that hangs, one that fails and one that floods, all other mail is read completely, and the hanging child can be killed', async () => {
    const flood = `${'🌳 "it\'s" \\ \n'.repeat(80_000)}end`;
    const child: Play = (scene) => {
      if (scene.name === 'hang') return never;
      if (scene.name === 'fail') throw new Error('no answer from the model');
      const text = scene.name === 'flood' ? flood : completion('fine');
      return scene.step === 0 ? [slash(`send ${scene.parent_id} ${text}`)] : 'reported';
    };
    const on = await stage((scene) => {
      if (scene.name !== 'main') return child(scene);
      if (scene.step === 0) return ['hang', 'fail', 'flood', 'fine'].map((name) => slash(`fork ${name}`));
      if (newest(scene).includes('clean up')) return [slash(`kill ${forkedIds(scene)[0]}`)];
      return reader(scene);
    });
    const root = await on.start();
    await until(async () => {
      const mail = await on.store.mail(root.id, true);
      return mail.length === 3 && mail.every((letter) => letter.consumed_seq !== null);
    }, 'all letters were read');
    const letters = shownLetters(await on.results(root));
    assert.ok(flood.length > 1_000_000);
    assert.ok(letters.some((letter) => letter.message === flood));
    assert.ok(letters.some((letter) => letter.completion?.summary === 'fine'));
    // The failed child could not report by itself, so the runtime did.
    const told = letters.find((letter) => letter.completion?.success === false);
    assert.match(JSON.stringify(told?.completion), /no answer from the model/);
    const failed = await on.agent('fail');
    assert.ok(failed.state.type === 'errored');
    assert.match(failed.state.failure.error, /no answer from the model/);
    assert.equal((await on.agent('hang')).state.type, 'requesting');
    await on.runtime.send(root.id, 'clean up');
    await on.runtime.settled(root.id);
    assert.partialDeepStrictEqual((await on.agent('hang')).state, { type: 'killed', by: 'main' });
  });
});
