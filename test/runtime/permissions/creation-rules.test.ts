/**
 * Proves, on both databases, that rules can require approval for calls that create agents, and deny them: no agent is created before the answer, the question
 * says how many there will be and their estimated usage, and the answer is applied once, whichever process leads the agent then.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ALL_TOOLSETS } from '../../../src/kernel/toolsets/all-toolsets.ts';
import type { PermissionRules } from '../../../src/records/agent/agent.ts';
import { fanOutText } from '../../../src/records/agent/estimate.ts';
import type { Ask } from '../../../src/records/conversation/ask.ts';
import { askParts } from '../../../src/render/ask-parts.ts';
import { CREATION_PERMISSIONS } from '../../../src/tools/built-in-permissions.ts';
import { onBothDatabases } from '../both-databases.ts';
import type { Line, Play, Scene } from '../stage.ts';
import { CREATION_PATHS, stageOf } from '../toolsets/creation-path.ts';
import { approvalStage, withApprovals } from './approval-stage.ts';

const NONE = { allow: [], ask: [], deny: [] };
const rules = (over: Partial<PermissionRules>) => ({
  permissions: { cli: { ...NONE, allow: ['*'], ...over }, config: NONE },
});
const ask = rules({ ask: CREATION_PERMISSIONS.map(({ name }) => name) });
const fork = (name: string) => ['fork', { name, prompt: `be ${name}` }] as const;

/** A play in which the root follows `lines`, then replies with the output of its last call; all other agents finish at once. */
function solo(...lines: readonly ((scene: Scene) => Line)[]): Play {
  return (scene) => {
    if (scene.name !== 'main' || scene.user === 'leave a trace') return 'done';
    return (lines[scene.step] ?? (() => scene.last.at(-1)?.output ?? 'done'))(scene);
  };
}

function suite(database: () => Promise<string | undefined>): void {
  it('a call waits with what it would create; a yes creates it as if it had not been asked, a no is a refusal', async () => {
    const on = await approvalStage(
      solo(
        () => [fork('one')],
        () => [fork('two')],
      ),
      await database(),
      { config: ask },
    );
    const root = await on.start();
    const [first] = await on.asked(root);
    const { tool, subject, subject_kind, rule, difference } = first ?? {};
    assert.deepEqual(
      { tool, subject, subject_kind, rule, difference },
      {
        ...{ tool: 'fork', subject_kind: 'agents', rule: 'ask(fork)', difference: null },
        subject: '1 agent; no history for agents without a profile, with model play/actor',
      },
    );
    assert.deepEqual(
      askParts(first as Ask).map(({ name, text }) => `${name}: ${text}`),
      [`creates: ${subject}`, 'name: one', 'prompt: be one'],
    );
    assert.equal((await on.store.agents({ root_id: root.id })).length, 1);
    await on.allow(first);
    const [second] = await on.asked(root);
    await on.deny(second, 'one is enough');
    await on.runtime.settled(root.id);
    const results = await on.results(root);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['ok', 'denied'],
    );
    assert.match(results[1]?.output ?? '', /denied by the user.*one is enough/);
    const names = (await on.store.agents({ root_id: root.id })).map(({ name }) => name);
    assert.deepEqual(names.toSorted(), ['main', 'one']);
  });

  it('the question estimates by what others used, and a grant covers later calls', async () => {
    const on = await approvalStage(
      solo(
        () => [fork('one')],
        () => [fork('two')],
        () => [['spawn_agents', { tasks: [{ task: 'a' }, { task: 'b' }] }]],
      ),
      await database(),
      { config: { ...ask, toolsets: ['process', 'fanout'], model: 'play/estimated' }, cost_usd: 0.25 },
    );
    for (const _ of [1, 2, 3]) await on.perform('leave a trace');
    const root = await on.start();
    const [first] = await on.asked(root);
    assert.match(first?.subject ?? '', /^1 agent; probably \$0\.25, 12 tokens \(nine of ten at most /);
    await on.allow(first, 'agent');
    const [third] = await on.asked(root);
    assert.equal(third?.tool, 'spawn_agents', 'the second fork was granted');
    assert.match(third?.subject ?? '', /^2 agents; probably \$0\.5, 24 tokens /);
    await on.deny(third);
    await on.runtime.settled(root.id);
    assert.equal((await on.store.agents({ root_id: root.id })).length, 3);
  });

  it('whoever takes over while it waits follows the answer, once', async () => {
    const play = solo(() => [fork('one'), fork('two')]);
    const on = await approvalStage(play, await database(), { config: ask });
    const root = await on.start();
    // The questions of one message arrive in any order.
    const asks = await on.asked(root, 2);
    const about = (name: string) => asks.find((ask) => JSON.parse(ask.input).name === name);
    const again = withApprovals(await on.reopen(play, { can_ask: false }), []);
    await again.runtime.resume(root.id);
    assert.equal((await again.store.agents({ root_id: root.id })).length, 1);
    await again.allow(about('one'));
    await again.deny(about('two'));
    await again.runtime.settled(root.id);
    assert.deepEqual(
      (await again.results(root)).map(({ status }) => status),
      ['ok', 'denied'],
    );
    assert.equal((await again.store.agents({ root_id: root.id })).length, 2);
  });

  it('every tool that creates agents is asked about and can be denied; `*` is not about them', async () => {
    for (const path of CREATION_PATHS) {
      const [name] = path.call(0);
      const play = solo(() => [path.call(0)]);
      const run = async (over: Partial<PermissionRules>, can_ask: boolean) => {
        const config = { ...rules(over), toolsets: path.toolsets };
        const on = await approvalStage(play, await database(), {
          ...stageOf(path, undefined),
          config,
          can_ask,
        });
        const root = await on.start();
        if (can_ask) await on.deny((await on.asked(root))[0]);
        await on.runtime.settled(root.id);
        const [result] = await on.results(root);
        const { length } = await on.store.agents({ root_id: root.id });
        await on.close();
        assert.equal(length, 1, `${path.name}: nobody was created`);
        return `${result?.status} ${result?.output}`;
      };
      assert.match(await run({ ask: [name] }, true), /^denied .* denied by the user/, path.name);
      assert.match(await run({ ask: [name] }, false), /^denied .*nobody can give it in this run.*--allow/);
      assert.match(await run({ deny: [name] }, false), new RegExp(`^denied ${name} .*deny\\(${name}\\)`));
    }
    const free = await approvalStage(
      solo(() => [fork('one')]),
      await database(),
      {
        config: rules({ allow: [], ask: ['*'], deny: ['f*'] }),
      },
    );
    assert.equal((await free.perform()).agents.length, 2);
    const allowed = await approvalStage(
      solo(() => [fork('one')]),
      await database(),
      { config: { permissions: { cli: { ...NONE, allow: ['*'] }, config: { ...NONE, ask: ['fork'] } } } },
    );
    assert.equal((await allowed.perform()).agents.length, 2, 'the command line comes first');
  });

  it('an interrupt withdraws the question; refused calls are not asked about', async () => {
    const on = await approvalStage(
      solo(
        () => [['fork', { name: 'x', prompt: 'y', profile: 'unknown' }]],
        () => [['fork', { name: 'x', prompt: 'y', worktree: true }]],
        () => [fork('one')],
      ),
      await database(),
      { config: ask },
    );
    const root = await on.start();
    // The worktree is created only after the answer, and fails because this folder is not in a git repository.
    await on.allow((await on.asked(root))[0]);
    const [question] = await on.asked(root);
    const [unknown, apart] = await on.results(root);
    assert.match(unknown?.output ?? '', /NO_PROFILE/);
    assert.match(apart?.output ?? '', /NOT_AVAILABLE.*worktree/);
    await on.runtime.interrupt(root.id, 'stop that');
    await on.runtime.settled(root.id);
    await assert.rejects(on.allow(question), { code: 'E_ASK_ANSWERED' });
    assert.equal((await on.store.agents({ root_id: root.id })).length, 1);
  });
}

it('rules know every tool that creates agents', () => {
  const creating = ALL_TOOLSETS.flatMap(({ tools }) => tools.filter(({ creates }) => creates !== undefined));
  const names = creating.map(({ spec }) => spec.name);
  assert.deepEqual(names.toSorted(), CREATION_PERMISSIONS.map(({ name }) => name).toSorted());
});

it('estimates of several kinds are added up; of what has no history or no price it says so, or nothing', () => {
  const range = (usual: number, most: number) => ({ usual, most });
  const estimate = (usd: ReturnType<typeof range> | null) => ({
    ...{ agents: 5, tokens: range(1_000, 3_000), seconds: range(1, 2), usd },
  });
  const kind = { profile: 'p', model: 'm/x', count: 2 };
  const priced = { ...kind, estimate: estimate(range(0.1, 0.4)) };
  const told = '3 agents; probably $0.3, 3,000 tokens (nine of ten at most $1.2, 9,000 tokens)';
  assert.equal(fanOutText([priced, { ...priced, count: 1, profile: null }]), told);
  const unknown = { ...kind, count: 1, profile: null, estimate: null };
  assert.equal(
    fanOutText([{ ...kind, estimate: estimate(null) }, unknown]),
    '3 agents; probably 2,000 tokens (nine of ten at most 6,000 tokens); no history for agents without a profile, with model m/x',
  );
});

onBothDatabases('rules about creating agents', suite);
