/**
 * Proves, on both databases, what happens to a call that waits for approval when something else comes first: an interrupt, a kill, a
 * restart, the run time, or text that is no answer.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import type { Line, Play, Scene } from '../stage.ts';
import { approvalStage, withApprovals } from './approval-stage.ts';

const act = (what: string) => ['act', { what }] as const;
const look = (what: string) => ['look', { what }] as const;

/** A play in which the root follows `lines`, then replies with the output of its last call. */
function solo(...lines: readonly ((scene: Scene) => Line)[]): Play {
  return (scene) => (lines[scene.step] ?? (() => scene.last.at(-1)?.output ?? 'done'))(scene);
}

function suite(database: () => Promise<string | undefined>): void {
  it('an interrupt during a question removes the question and ends the turn; nothing runs', async () => {
    const on = await approvalStage(
      solo(() => [act('one'), act('two')]),
      await database(),
    );
    const root = await on.start();
    const [ask] = await on.asked(root);
    await on.runtime.interrupt(root.id, 'stop that');
    await on.runtime.settled(root.id);
    assert.equal((await on.store.findAsks(ask?.id ?? ''))[0]?.verdict, 'void');
    await assert.rejects(on.allow(ask), { code: 'E_ASK_ANSWERED' });
    assert.deepEqual(
      (await on.results(root)).map(({ status, output }) => [status, output]),
      [
        ['cancelled', 'Cancelled: stop that'],
        ['cancelled', 'Cancelled: stop that'],
      ],
    );
    assert.equal((await on.agent('main')).state.type, 'idle');
    assert.deepEqual(on.deeds, []);
  });

  it('after a kill during a question, no answer counts', async () => {
    const on = await approvalStage(
      (scene) =>
        scene.name === 'main'
          ? scene.step === 0
            ? [['fork', { name: 'kid', prompt: 'be kid' }]]
            : 'done'
          : [act('never')],
      await database(),
    );
    const root = await on.start();
    const [ask] = await on.asked(root);
    await on.runtime.kill(ask?.agent_id ?? '');
    await assert.rejects(on.allow(ask), { code: 'E_ASK_ANSWERED' });
    await on.runtime.settled(root.id);
    assert.equal((await on.store.findAsks(ask?.id ?? ''))[0]?.verdict, 'void');
    assert.deepEqual(on.deeds, []);
  });

  it('a restart keeps the question; the successor follows an answer given in between, once', async () => {
    const url = await database();
    const deeds: { agent: string; what: string }[] = [];
    const play = solo(
      () => [look('one'), look('two')],
      () => 'done',
    );
    const on = await approvalStage(play, url, { deeds });
    const root = await on.start();
    const asks = await on.asked(root, 2);
    const again = withApprovals(await on.reopen(), deeds);
    const one = asks.find(({ subject }) => subject === 'one');
    const answer = { verdict: 'allow', scope: 'once', note: '', by: 'you', at: Date.now() } as const;
    assert.ok((await again.store.answer(one?.id ?? '', answer)).ok);
    assert.deepEqual(deeds, []);
    await again.runtime.resume(root.id);
    await until(() => deeds.length === 1, 'what was allowed runs');
    const open = await again.asked(root);
    assert.deepEqual(
      open.map(({ id, subject }) => [id, subject]),
      [[asks.find(({ subject }) => subject === 'two')?.id, 'two']],
    );
    await again.deny(open[0], 'no');
    await again.runtime.settled(root.id);
    assert.deepEqual(
      (await again.results(root)).map(({ status }) => status),
      ['ok', 'denied'],
    );
    assert.deepEqual(deeds, [{ agent: 'main', what: 'one' }]);
  });

  it('a successor that cannot ask follows given answers, keeps open questions open, and denies new ones', async () => {
    const deeds: { agent: string; what: string }[] = [];
    const play = solo(
      () => [look('one'), look('two'), look('three')],
      () => [look('four')],
      () => 'done',
    );
    const on = await approvalStage(play, await database(), { deeds });
    const root = await on.start();
    const by_subject = new Map((await on.asked(root, 3)).map((ask) => [ask.subject, ask.id]));
    // The first two answers are given while no process leads the tree.
    const again = withApprovals(await on.reopen(play, { can_ask: false }), deeds);
    const answer = { scope: 'once', note: '', by: 'you', at: Date.now() } as const;
    await again.store.answer(by_subject.get('one') ?? '', { ...answer, verdict: 'allow' });
    await again.store.answer(by_subject.get('two') ?? '', { ...answer, verdict: 'deny' });
    await again.runtime.resume(root.id);
    await until(() => deeds.length === 1, 'what was allowed runs');
    const [open] = await again.asked(root);
    assert.equal(open?.subject, 'three');
    await again.allow(open);
    await again.runtime.settled(root.id);
    assert.deepEqual(
      (await again.results(root)).map(({ status, output }) => [status, output.slice(0, 30)]),
      [
        ['ok', 'did one'],
        ['denied', 'look was denied by the user. D'],
        ['ok', 'did three'],
        ['denied', 'look needs approval (ask(look)'],
      ],
    );
    assert.deepEqual(
      deeds.map(({ what }) => what),
      ['one', 'three'],
    );
  });

  it('a permission for the lifetime of the agent also counts with a successor that cannot ask', async () => {
    const deeds: { agent: string; what: string }[] = [];
    const play = solo(
      () => [act('one')],
      () => [act('two')],
      () => [look('three')],
      () => 'done',
    );
    const on = await approvalStage(play, await database(), { deeds });
    const root = await on.start();
    const [ask] = await on.asked(root);
    const again = withApprovals(await on.reopen(play, { can_ask: false }), deeds);
    const answer = { verdict: 'allow', scope: 'agent', note: '', by: 'you', at: Date.now() } as const;
    await again.store.answer(ask?.id ?? '', answer);
    await again.runtime.resume(root.id);
    await again.runtime.settled(root.id);
    assert.deepEqual(
      deeds.map(({ what }) => what),
      ['one', 'two'],
    );
    assert.deepEqual(
      (await again.results(root)).map(({ status }) => status),
      ['ok', 'ok', 'denied'],
    );
  });

  it('an allowed call that was running when its process ended is reported as interrupted, not repeated', async () => {
    const deeds: { agent: string; what: string }[] = [];
    const play = solo(
      () => [act('hang on')],
      () => 'done',
    );
    const on = await approvalStage(play, await database(), { deeds });
    const root = await on.start();
    await on.allow((await on.asked(root))[0]);
    await until(() => deeds.length === 1, 'it runs');
    const again = withApprovals(await on.reopen(), deeds);
    await again.runtime.resume(root.id);
    await again.runtime.settled(root.id);
    assert.deepEqual(
      (await again.results(root)).map(({ status }) => status),
      ['interrupted'],
    );
    assert.equal(deeds.length, 1);
    assert.deepEqual(await again.store.asks({ root_id: root.id, open: true }), []);
  });

  it('the run time is paused while a person is asked', async () => {
    const clock = new HandClock();
    const on = await approvalStage(
      solo(
        () => [act('slowly')],
        () => 'done',
      ),
      await database(),
      { clock },
    );
    const root = await on.start('begin', { run_ms: 60_000 });
    const [ask] = await on.asked(root);
    const before = (await on.agent('main')).state;
    clock.pass(120_000);
    await on.allow(ask);
    const { reply, failure } = await on.runtime.settled(root.id);
    assert.deepEqual([reply, failure], ['done', null]);
    assert.ok(before.type === 'executing' && before.turn.grace === null);
    assert.equal(
      (await on.store.history(root.id)).some((one) => one.kind === 'event' && one.content.event === 'limit'),
      false,
    );
  });

  it('text of a person during the question reaches the model with the result and is no answer', async () => {
    const on = await approvalStage(
      (scene) => (scene.step === 0 ? [act('it')] : `${scene.user} | ${scene.last[0]?.output}`),
      await database(),
    );
    const root = await on.start();
    const [ask] = await on.asked(root);
    await on.runtime.send(root.id, 'yes, allow it');
    assert.equal((await on.store.findAsks(ask?.id ?? ''))[0]?.verdict, null);
    assert.deepEqual(on.deeds, []);
    await on.allow(ask);
    assert.equal((await on.runtime.settled(root.id)).reply, 'yes, allow it | did it');
  });
}

onBothDatabases('approvals that are cut short', suite);
