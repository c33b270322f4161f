// Proves how mail works in the `slash` vocabulary, on both databases: one notice for each batch, whose letters are read at once without a request, and each once.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import type { Line, Play, Scene } from '../stage.ts';
import {
  completion,
  forkedIds,
  newest,
  noticesOf,
  reader,
  report,
  shownLetters,
  slash,
} from './slash-stage.ts';

const say = (scene: Scene, text: string) => slash(`send ${scene.parent_id} ${text}`);

/** A play in which the root follows `lines`, then reads its mail at each notice; all others follow `child`. */
function play(lines: readonly ((scene: Scene) => Line | Promise<Line>)[], child: Play): Play {
  return (scene) => {
    if (scene.name !== 'main') return child(scene);
    return (lines[scene.step] ?? reader)(scene) as ReturnType<Play>;
  };
}

onBothDatabases('mail of slash', (database) => {
  const stage = stagesOn(database, { toolsets: ['slash'] });

  it('check-mail returns all letters at once, oldest first, marks completions, and consumes each once', async () => {
    const { promise: written, resolve: wrote } = Promise.withResolvers<Line>();
    const failed = JSON.stringify({ status: 'idle', success: false, error: 'no key', partial: 'half' });
    const on = await stage(
      play(
        [
          () => [slash('check-mail'), slash('fork talk')],
          () => written,
          () => [slash('check-mail'), slash('check-mail')],
          () => [slash('check-mail')],
        ],
        (scene) => {
          if (scene.step > 0) {
            wrote([slash('check-mail "not now"')]);
            return 'said';
          }
          const letters = [say(scene, 'one'), say(scene, 'two\n"2"'), say(scene, failed)];
          return [...letters, slash(`send ${scene.parent_id} ${completion('all of it')}`)];
        },
      ),
    );
    const { root } = await on.perform();
    const [none, forked, , read, again, last] = await on.results(root);
    for (const one of [none, again, last]) assert.match(one?.output ?? '', /^no mail: .*mail wakes you$/);
    const letters = shownLetters(read === undefined ? [] : [read]);
    assert.deepEqual(
      letters.map(({ message, completion }) => message ?? completion),
      [
        'one',
        'two\n"2"',
        { status: 'idle', success: false, error: 'no key', partial: 'half' },
        { status: 'idle', success: true, summary: 'all of it' },
      ],
    );
    for (const letter of letters) {
      assert.deepEqual([letter.from, letter.name], [forked?.output, 'talk']);
      assert.match(letter.sent_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    }
    const mail = await on.store.mail(root.id, true);
    assert.equal(mail.length, 4);
    assert.equal(new Set(mail.map((letter) => letter.consumed_seq)).size, 1, 'consumed by one message');
    assert.notEqual(mail[0]?.consumed_seq, null);
    assert.deepEqual(await noticesOf(on, root.id), [], 'what was read during the turn needs no notice');
  });

  it('an agent that goes idle with pending mail gets one notice for the batch and reads it without being asked, and so new letters', async () => {
    const { promise: written, resolve: wrote } = Promise.withResolvers<string>();
    let said = 0;
    const on = await stage(
      play([() => [slash('fork ann'), slash('fork bob')], () => written], (scene) => {
        if (scene.step === 0) return [say(scene, `1 of ${scene.name}`), say(scene, `2 of ${scene.name}`)];
        said += 1;
        if (said === 2) wrote('going idle');
        return scene.user === 'write again' && newest(scene).length > 0
          ? [say(scene, `3 of ${scene.name}`)]
          : 'said';
      }),
    );
    const { root } = await on.perform();
    const [ann, bob] = [await on.agent('ann'), await on.agent('bob')];
    const first = (await noticesOf(on, root.id)).join();
    assert.deepEqual(first.split('\n').sort(), [`got mail from ${ann.id}`, `got mail from ${bob.id}`].sort());
    assert.deepEqual(await on.store.mail(root.id), [], 'what a notice tells of is read');
    assert.equal((await on.store.agent(root.id))?.reply, 'resting');
    await on.runtime.send(bob.id, 'write again');
    await on.runtime.settled(root.id);
    assert.deepEqual(await noticesOf(on, root.id), [first, `got mail from ${bob.id}`]);
    const asked = on.requests.filter(({ messages }) => JSON.stringify(messages).includes('fork ann'));
    assert.equal(asked.length, 3, 'no request of the root does nothing but read');
    const letters = shownLetters(await on.results(root)).map((letter) => letter.message);
    assert.equal(letters.length, 5);
    assert.equal(letters.at(-1), '3 of bob');
    for (const name of ['ann', 'bob'])
      assert.deepEqual(letters.filter((text) => text?.endsWith(`of ${name}`)).slice(0, 2), [
        `1 of ${name}`,
        `2 of ${name}`,
      ]);
  });

  it('the notice is a separate user message: "got mail from UUID", and the letter the result of a call', async () => {
    const on = await stage(
      play(
        [() => [slash('fork worker')]],
        report(() => 'done'),
      ),
    );
    const { root } = await on.perform();
    const worker = await on.agent('worker');
    assert.deepEqual(await noticesOf(on, root.id), [`got mail from ${worker.id}`]);
    const told = on.requests.find((request) =>
      request.messages.some((message) => message.role === 'user' && message.text.startsWith('got mail')),
    );
    const [notice, call, letter] = told?.messages.slice(-3) ?? [];
    assert.deepEqual(notice, { role: 'user', text: `got mail from ${worker.id}` });
    assert.deepEqual([call?.role, letter?.role], ['assistant', 'results']);
  });

  it('a child rests when its work is done and can get more', async () => {
    const rounds: string[][] = [];
    const on = await stage(
      play(
        [
          () => [slash('fork worker')],
          reader,
          reader,
          (scene) => [slash(`send ${forkedIds(scene)[0]} do\n more`)],
        ],
        (scene) => {
          const told = newest(scene);
          const is_more = scene.last.some((result) => result.output.includes('do\\n more'));
          const work = told.length > 0 || is_more;
          if (work) rounds.push(is_more ? [scene.user] : told);
          return work
            ? [slash(`send ${scene.parent_id} ${completion(`round ${rounds.length}`)}`)]
            : 'resting';
        },
      ),
    );
    const { root } = await on.perform();
    const worker = await on.agent('worker');
    assert.equal(worker.state.type, 'idle');
    assert.deepEqual(rounds.slice(1), [[`got mail from ${root.id}`]]);
    assert.equal(shownLetters(await on.results(worker))[0]?.message, 'do\n more');
    assert.deepEqual(
      shownLetters(await on.results(root)).map((letter) => letter.completion?.summary),
      ['round 1', 'round 2'],
    );
  });

  it('siblings that know of each other write to each other', async () => {
    const on = await stage(
      play(
        [
          () => [slash('fork schema')],
          (scene) => [slash(`fork "api. Sibling UUID: ${forkedIds(scene)[0]}"`)],
        ],
        (scene) => {
          if (newest(scene).some((text) => text.startsWith('got mail'))) return [slash('check-mail')];
          const sibling = /Sibling UUID: (\S+)$/.exec(scene.user)?.[1];
          if (sibling !== undefined && scene.step === 0) return [slash(`send ${sibling} which tables?`)];
          const [question] = shownLetters(scene.last);
          if (question?.message === 'which tables?') return [slash(`send ${question.from} two tables`)];
          if (question?.message === 'two tables')
            return [slash(`send ${scene.parent_id} ${completion(`asked, heard: ${question.message}`)}`)];
          return 'resting';
        },
      ),
    );
    const { root } = await on.perform();
    const heard = shownLetters(await on.results(root)).flatMap((letter) => letter.completion ?? []);
    assert.deepEqual(
      heard.map(({ summary }) => summary).filter((summary) => summary !== 'resting'),
      ['asked, heard: two tables'],
    );
  });

  it('letters of a person arrive complete, during a turn and at rest, without check-mail', async () => {
    const { promise: going, resolve: go } = Promise.withResolvers<Line>();
    const seen: string[][] = [];
    const on = await stage((scene) => {
      seen.push(newest(scene));
      return scene.step === 0 ? going : 'heard';
    });
    const root = await on.start('begin');
    await until(() => seen.length === 1, 'it asks');
    await on.runtime.send(root.id, 'while you\n "work"');
    go([slash('check-mail')]);
    await on.runtime.settled(root.id);
    await on.runtime.send(root.id, 'while you rest');
    await on.runtime.settled(root.id);
    assert.deepEqual(seen, [['begin'], ['while you\n "work"'], ['while you rest']]);
    assert.deepEqual(await noticesOf(on, root.id), []);
    assert.deepEqual(await on.store.mail(root.id), []);
  });

  it('a notice and a simultaneous letter of a person are two messages, and the letter of the agent is read', async () => {
    const { promise: written, resolve: wrote } = Promise.withResolvers<Line>();
    const on = await stage(
      play(
        [() => [slash('fork worker')], () => written],
        report(() => 'done'),
      ),
    );
    const root = await on.start();
    await until(async () => (await on.store.mail(root.id)).length === 1, 'the worker has written');
    await on.runtime.send(root.id, 'and from me');
    wrote('going idle');
    await on.runtime.settled(root.id);
    assert.equal((await noticesOf(on, root.id)).length, 1);
    const texts = (await on.store.history(root.id)).flatMap((message) =>
      message.kind === 'user' ? [`${message.content.origin}: ${message.content.text}`] : [],
    );
    assert.deepEqual(texts.slice(1).sort(), ['human: and from me', `mail: ${await noticesOf(on, root.id)}`]);
    assert.deepEqual(
      shownLetters(await on.results(root)).map((letter) => letter.completion?.summary),
      ['done'],
    );
  });
});
