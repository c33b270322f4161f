/**
 * Proves, on both databases, that a call that needs approval runs only after a person has allowed this very call: nothing runs before the
 * answer, and exactly its arguments run after it, whichever agent of the tree asks and whichever process answers.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { forked, type Line, type Play, parsed, type Scene } from '../stage.ts';
import { approvalStage } from './approval-stage.ts';

const act = (what: string) => ['act', { what }] as const;
const look = (what: string) => ['look', { what }] as const;

/** A play in which the root follows `lines`, then replies with the output of its last call. */
function solo(...lines: readonly ((scene: Scene) => Line)[]): Play {
  return (scene) => (lines[scene.step] ?? (() => scene.last.at(-1)?.output ?? 'done'))(scene);
}

function suite(database: () => Promise<string | undefined>): void {
  it('a call parks with a preview; once allowed, it runs with exactly these arguments, once', async () => {
    const on = await approvalStage(
      solo(() => [act('clear the "cellar" 🎋')]),
      await database(),
    );
    const root = await on.start();
    const [ask] = await on.asked(root);
    assert.ok(ask);
    assert.deepEqual(on.deeds, []);
    const { state, doing } = await on.agent('main');
    assert.equal(state.type, 'executing');
    assert.equal(doing, 'asks: act clear the "cellar" 🎋');
    const { tool, subject, input, agent_name, cwd, rule, root_id, agent_id } = ask;
    assert.deepEqual(
      { tool, subject, input: JSON.parse(input), agent_name, cwd, rule, root_id, agent_id },
      {
        tool: 'act',
        subject: 'clear the "cellar" 🎋',
        input: { what: 'clear the "cellar" 🎋' },
        agent_name: 'main',
        cwd: root.config.cwd,
        rule: 'ask(act)',
        root_id: root.id,
        agent_id: root.id,
      },
    );
    await on.allow(ask);
    const { reply } = await on.runtime.settled(root.id);
    assert.equal(reply, 'did clear the "cellar" 🎋');
    assert.deepEqual(on.deeds, [{ agent: 'main', what: 'clear the "cellar" 🎋' }]);
    await assert.rejects(on.allow(ask), { code: 'E_ASK_ANSWERED' });
    await assert.rejects(on.deny(ask), { code: 'E_ASK_ANSWERED', message: /, which was allowed by you \d+/ });
    const shown = (await on.store.history(root.id)).flatMap((one) =>
      one.kind === 'event' ? [one.content.event] : [],
    );
    assert.deepEqual(shown, ['asked', 'answered']);
  });

  it('a denial reaches the model with the reason of the person; the next call asks separately', async () => {
    const on = await approvalStage(
      solo(
        () => [act('one'), act('two')],
        () => 'done',
      ),
      await database(),
    );
    const root = await on.start();
    const [first] = await on.asked(root);
    await on.deny(first, 'not on a Sunday');
    await until(
      async () => (await on.store.asks({ root_id: root.id, open: true }))[0]?.subject === 'two',
      'the second asks',
    );
    await on.allow((await on.asked(root))[0]);
    await on.runtime.settled(root.id);
    const results = await on.results(root);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['denied', 'ok'],
    );
    assert.match(results[0]?.output ?? '', /denied by the user\..*They say: not on a Sunday/);
    assert.match(JSON.stringify(on.requests.at(-1)?.messages), /not on a Sunday/);
    assert.deepEqual(on.deeds, [{ agent: 'main', what: 'two' }]);
  });

  it('denied calls are not asked about; without anybody to ask, no question is made', async () => {
    const play = solo(
      () => [act('forbidden thing')],
      () => [act('other thing')],
      () => 'done',
    );
    const on = await approvalStage(play, await database());
    const root = await on.start();
    const [ask] = await on.asked(root);
    assert.equal(ask?.subject, 'other thing');
    await on.deny(ask);
    await on.runtime.settled(root.id);
    assert.match((await on.results(root))[0]?.output ?? '', /denied by the rule deny\(act:forbidden\*\)/);
    await on.close();

    const alone = await approvalStage(play, await database(), { can_ask: false });
    const { root: quiet } = await alone.perform();
    assert.deepEqual(
      (await alone.results(quiet)).map(({ status }) => status),
      ['denied', 'denied'],
    );
    assert.match((await alone.results(quiet))[1]?.output ?? '', /nobody can give it in this run/);
    assert.deepEqual(await alone.store.asks({ root_id: quiet.id }), []);
    assert.deepEqual([...on.deeds, ...alone.deeds], []);
  });

  it('a permission for the agent covers its later calls of this tool; its other tools and other agents still ask', async () => {
    const kid = (scene: Scene): Line =>
      scene.step === 0 ? [act('by kid')] : [['send', { to: scene.parent_id, message: 'kid is done' }]];
    const on = await approvalStage(
      (scene) => {
        if (scene.name === 'kid') return scene.step < 2 ? kid(scene) : 'rest';
        const lines: readonly Line[] = [
          [act('first')],
          [act('second'), act('third')],
          [look('around')],
          [['fork', { name: 'kid', prompt: 'be kid' }]],
          [['wait', { timeout: 30 }]],
        ];
        return lines[scene.step] ?? 'done';
      },
      await database(),
    );
    const root = await on.start();
    const [first] = await on.asked(root);
    await on.allow(first, 'agent');
    await until(() => on.deeds.length === 3, 'the later calls run by themselves');
    const [other_tool] = await on.asked(root);
    assert.deepEqual([other_tool?.agent_name, other_tool?.tool], ['main', 'look']);
    await on.allow(other_tool);
    await until(
      async () => (await on.store.asks({ root_id: root.id, open: true }))[0]?.agent_name === 'kid',
      'the child asks for itself',
    );
    await on.allow((await on.asked(root))[0]);
    await on.runtime.settled(root.id);
    assert.deepEqual(
      on.deeds.map(({ agent, what }) => `${agent}: ${what}`),
      ['main: first', 'main: second', 'main: third', 'main: around', 'kid: by kid'],
    );
  });

  it('parallel calls ask at once, in order; answered in another order, each gets its own answer', async () => {
    const on = await approvalStage(
      solo(
        () => ['a', 'b', 'c', 'd'].map(look),
        () => 'done',
      ),
      await database(),
    );
    const root = await on.start();
    const asks = await on.asked(root, 4);
    assert.deepEqual(asks.map(({ subject }) => subject).toSorted(), ['a', 'b', 'c', 'd']);
    const of = (subject: string) => asks.find((ask) => ask.subject === subject);
    await on.allow(of('d'));
    await on.deny(of('b'));
    await Promise.all([on.allow(of('a')), on.allow(of('c'))]);
    await on.runtime.settled(root.id);
    assert.deepEqual(
      (await on.results(root)).map(({ status, output }) => (status === 'ok' ? output : status)),
      ['did a', 'denied', 'did c', 'did d'],
    );
    assert.deepEqual(on.deeds.map(({ what }) => what).toSorted(), ['a', 'c', 'd']);
  });

  it('follows an answer given by another process', async () => {
    const url = await database();
    const on = await approvalStage(
      solo(() => [act('it')]),
      url,
    );
    const root = await on.start();
    const [ask] = await on.asked(root);
    const location = url ?? `sqlite:${root.config.cwd}/ledger.db`;
    const elsewhere = await openStore(location);
    const answer = { verdict: 'allow', scope: 'once', note: '', by: 'you', at: Date.now() } as const;
    assert.ok((await elsewhere.answer(ask?.id ?? '', answer)).ok);
    await elsewhere.close();
    assert.equal((await on.runtime.settled(root.id)).reply, 'did it');
  });

  it('a fan-in waits for a child that asks, and gets its result after the answer', async () => {
    const on = await approvalStage(
      (scene) => {
        if (scene.name === 'main') {
          const lines: readonly ((scene: Scene) => Line)[] = [
            () => [
              ['fork', { name: 'asks', prompt: 'be asks' }],
              ['fork', { name: 'quick', prompt: 'be quick' }],
            ],
            (now) => [['wait', { timeout: 0, from_agents: [forked(now)[0]] }]],
            (now) => [['wait', { timeout: 60, from_agents: forked(now) }]],
          ];
          return (lines[scene.step] ?? (() => 'done'))(scene);
        }
        const report: Line = [['send', { to: scene.parent_id, message: scene.last[0]?.output ?? 'quick' }]];
        if (scene.name === 'quick') return scene.step === 0 ? report : 'rest';
        return ([[act('its part')], report][scene.step] as Line) ?? 'rest';
      },
      await database(),
    );
    const root = await on.start();
    const [ask] = await on.asked(root);
    await until(async () => (await on.agent('main')).doing === 'wait 2 agents', 'the root waits for both');
    await on.allow(ask);
    await on.runtime.settled(root.id);
    const waits = (await on.results(root)).slice(2).map(parsed);
    const rows = (waits[1]?.results ?? []) as { status: string; message: string }[];
    assert.deepEqual(waits[0]?.timed_out, true);
    const early = (waits[0]?.results ?? []) as { status: string }[];
    assert.equal(early[0]?.status, 'running');
    assert.deepEqual(
      rows.map(({ status, message }) => [status, message]),
      [
        ['received', 'did its part'],
        ['received', 'quick'],
      ],
    );
  });

  const ways: readonly {
    readonly name: string;
    readonly toolset: string;
    readonly create: readonly [string, unknown];
    readonly end?: Line;
  }[] = [
    { name: 'fork', toolset: 'process', create: ['fork', { name: 'deep', prompt: 'act' }] },
    { name: 'slash fork', toolset: 'slash', create: ['slash', { command: 'fork "act now"' }] },
    {
      name: 'spawn_agents',
      toolset: 'fanout',
      create: ['spawn_agents', { tasks: [{ task: 'act now' }] }],
      end: [['submit_result', { result: 'submitted' }]],
    },
    { name: 'sessions_spawn', toolset: 'sessions', create: ['sessions_spawn', { task: 'act now' }] },
    {
      name: 'subagent_spawn',
      toolset: 'delegate',
      create: ['subagent_spawn', { task: 'act now', description: 'deep' }],
    },
  ];
  for (const { name, toolset, create, end } of ways) {
    const outer = toolset === 'slash' ? 'slash' : 'process';
    const mid =
      outer === 'slash'
        ? (['slash', { command: 'fork "be mid"' }] as const)
        : (['fork', { name: 'mid', prompt: 'be mid' }] as const);
    it(`a grandchild made by ${name} asks with its own name, at its own depth`, async () => {
      const depths = new Map([['', -1]]);
      const play: Play = (scene) => {
        const depth = (depths.get(scene.parent_id) ?? Number.NaN) + 1;
        depths.set(scene.id, depth);
        if (scene.step === 0) return [[mid, create, act('deep down')][depth] ?? act('too deep')];
        return depth === 2 && end !== undefined ? end : 'ok';
      };
      const on = await approvalStage(play, await database(), { toolsets: [...new Set([outer, toolset])] });
      const root = await on.start();
      const [ask] = await on.asked(root);
      const asking = await on.store.agent(ask?.agent_id ?? '');
      assert.equal(asking?.depth, 2);
      assert.equal(ask?.agent_name, asking?.name);
      assert.deepEqual(on.deeds, []);
      await on.allow(ask);
      const { agents } = await on.runtime.settled(root.id);
      assert.deepEqual(on.deeds, [{ agent: asking?.name ?? '', what: 'deep down' }]);
      assert.deepEqual(
        agents.map(({ state }) => state.type).filter((type) => type !== 'idle' && type !== 'completed'),
        [],
      );
    });
  }
}

onBothDatabases('approvals', suite);
