/**
 * Proves, on both databases, the scope of an answer that grants a rule: until the turn, the agent or the tree ends, or permanently; that it immediately
 * answers the waiting questions that it covers, outlives processes, can be revoked, and never overrides a denial.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { revokeRule } from '../../../src/store/approvals/answer-approval.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import type { Play } from '../stage.ts';
import { type ApprovalStage, approvalStage, withApprovals } from './approval-stage.ts';

const act = (what: string) => ['act', { what }] as const;
const look = (what: string) => ['look', { what }] as const;

const folder = mkdtempSync(join(tmpdir(), 'coppice-grants-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A play that obeys: `do: a, b` calls `act` once for each, `see: a` calls `look`, and `kid: …` is passed on to a new child. */
const obedient: Play = ({ user, request, name }) => {
  const last = request.messages.at(-1);
  if (last?.role === 'results') return 'done';
  const [, verb = '', what = ''] = /(do|see|kid): ([^\n]*)/.exec(user) ?? [];
  if (verb === 'kid' && name === 'main') return [['fork', { name: 'kid', prompt: `do: ${what}` }]];
  return what.split(', ').map((one) => (verb === 'see' ? look(one) : act(one)));
};

async function told(on: ApprovalStage, root: Agent, text: string): Promise<void> {
  await on.runtime.send(root.id, text);
}

const whats = ({ deeds }: ApprovalStage) => deeds.map(({ agent, what }) => `${agent}: ${what}`);
const done = (on: ApprovalStage, count: number) => until(() => on.deeds.length === count, `${count} deeds`);

function suite(database: () => Promise<string | undefined>): void {
  it('for the turn: later calls of the turn that the rule matches run; the next turn asks again', async () => {
    const on = await approvalStage(obedient, await database());
    const root = await on.start('do: git log, git diff, rm x');
    const [first] = await on.asked(root);
    await on.allow(first, 'turn', 'act:git *');
    await done(on, 2);
    await on.deny((await on.asked(root))[0]);
    await on.runtime.settled(root.id);
    await told(on, root, 'do: git log');
    assert.deepEqual(
      (await on.asked(root)).map(({ subject }) => subject),
      ['git log'],
    );
    assert.deepEqual(whats(on), ['main: git log', 'main: git diff']);
  });

  it('for the tree: children, too, and those that wait are answered at once; a denied call stays denied', async () => {
    const on = await approvalStage(obedient, await database());
    const root = await on.start('see: git a, git b, rm c');
    const open = await on.asked(root, 3);
    await on.allow(
      open.find(({ subject }) => subject === 'git b'),
      'session',
      'look:git *',
    );
    await done(on, 2);
    const [rest] = await on.asked(root);
    assert.equal(rest?.subject, 'rm c');
    await on.allow(rest);
    await on.runtime.settled(root.id);
    await told(on, root, 'do: dig');
    await on.allow((await on.asked(root))[0], 'session');
    await on.runtime.settled(root.id);
    await told(on, root, 'kid: forbidden thing, sow');
    await on.runtime.settled(root.id);
    const [forbidden, sown] = await on.results(await on.agent('kid'));
    assert.match(forbidden?.output ?? '', /denied by the rule deny/);
    assert.equal(sown?.output, 'did sow');
    const asks = await on.store.asks({ root_id: root.id });
    assert.deepEqual(asks.map(({ subject, scope, granted }) => [subject, scope, granted]).toSorted(), [
      ['dig', 'session', null],
      ['git a', 'once', null],
      ['git b', 'session', 'look:git *'],
      ['rm c', 'once', null],
    ]);
  });

  it('of several agents that wait, a rule for one answers the questions of this one, a rule for the tree those of all', async () => {
    const on = await approvalStage(
      (scene) =>
        scene.name === 'main'
          ? scene.step === 0
            ? ['a', 'b'].map((name) => ['fork', { name, prompt: 'go' }] as const)
            : 'done'
          : scene.step === 0
            ? [look('git 1'), look('git 2'), look('ls 3')]
            : 'done',
      await database(),
    );
    const root = await on.start();
    const asks = await on.asked(root, 6);
    const of = (name: string, subject: string) =>
      asks.find((ask) => ask.agent_name === name && ask.subject === subject);
    await on.allow(of('a', 'git 1'), 'agent', 'look:git *');
    await on.asked(root, 4);
    await on.allow(of('b', 'ls 3'), 'session', 'look');
    await on.asked(root, 0);
    await on.runtime.settled(root.id);
    assert.equal(on.deeds.length, 6);
  });

  it('another process that takes over keeps what was granted for the turn and the tree; taken back, it asks again', async () => {
    const on = await approvalStage(obedient, await database());
    const root = await on.start('do: git log, git diff, git show');
    await on.allow((await on.asked(root))[0], 'turn', 'act:git log');
    await on.allow((await on.asked(root))[0], 'session', 'act:git diff');
    const [third] = await on.asked(root);
    assert.equal(third?.subject, 'git show');
    const again = withApprovals(await on.reopen(), on.deeds);
    await again.runtime.resume(root.id);
    await again.allow(third, 'session', 'act:git show');
    await again.runtime.settled(root.id);
    await told(again, root, 'do: git diff, git show, git log');
    const [asked] = await again.asked(root);
    assert.equal(asked?.subject, 'git log', 'the turn has ended');
    await again.deny(asked);
    await again.runtime.settled(root.id);
    const granted = await again.store.grants({ root_id: root.id });
    const show = granted.find((one) => one.granted === 'act:git show');
    assert.ok(await revokeRule(again.store, show?.id ?? '', Date.now(), {}));
    assert.ok(!(await revokeRule(again.store, show?.id ?? '', Date.now(), {})));
    await told(again, root, 'do: git diff, git show');
    assert.equal((await again.asked(root))[0]?.subject, 'git show');
  });

  it('for good: written to the rules file with its folder, known to a later tree there, and gone once removed from the file', async () => {
    const rules_file = join(folder, `${Math.random()}`, 'rules.json');
    const on = await approvalStage(obedient, await database(), { rules_file });
    const root = await on.start('do: git log');
    const [ask] = await on.asked(root);
    await assert.rejects(on.allow(ask, 'always', 'act:ls *'), { code: 'E_INVALID_ARGUMENT' });
    await on.allow(ask, 'always', 'act:git *');
    await on.runtime.settled(root.id);
    const { rules } = JSON.parse(readFileSync(rules_file, 'utf8'));
    assert.deepEqual(rules.length, 1);
    const { id, rule, folder: where, asked_by, granted_by } = rules[0];
    assert.deepEqual(
      { id, rule, where, asked_by, granted_by },
      { id: ask?.id, rule: 'act:git *', where: root.config.cwd, asked_by: 'ask(act)', granted_by: 'you' },
    );
    const later = await on.start('do: git push, rm x');
    assert.equal((await on.asked(later))[0]?.subject, 'rm x');
    await on.deny((await on.asked(later))[0]);
    await on.runtime.settled(later.id);
    assert.ok(await revokeRule(on.store, ask?.id ?? '', Date.now(), { rules_file }));
    await told(on, root, 'do: git push');
    assert.equal((await on.asked(root))[0]?.subject, 'git push', 'also in the tree in which it was granted');
  });

  it('without a rules file nothing is granted for good, and the question stays open', async () => {
    const on = await approvalStage(obedient, await database());
    const root = await on.start('do: git log');
    const [ask] = await on.asked(root);
    await assert.rejects(on.allow(ask, 'always', 'act:git *'), { code: 'E_INVALID_ARGUMENT' });
    await on.asked(root);
  });
}

onBothDatabases('grants', suite);
