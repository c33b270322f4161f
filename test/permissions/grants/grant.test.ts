/** Proves what a grant covers (laws G1 to G3 of src/permissions/grants/grant.ts), and that the rules file is private and survives damage. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { askingRules } from '../../../src/permissions/decide.ts';
import { grantFault, isCovered, reaches } from '../../../src/permissions/grants/grant.ts';
import { addRule, type KeptRule, readRules, removeRule } from '../../../src/permissions/grants/rules-file.ts';
import { createPolicy, createProfilePolicy, narrow } from '../../../src/permissions/policy.ts';
import { BUILT_IN_PERMISSIONS } from '../../../src/tools/built-in-permissions.ts';

const { bash } = BUILT_IN_PERMISSIONS;
const asked = (command: string) => ({ tool: 'bash', subject: command, subject_kind: 'command' }) as const;
const GIT = { rule: 'bash:git *', asked_by: 'ask(bash), the default' };

function covers(
  policy: ReturnType<typeof createPolicy>,
  command: string,
  ...grants: (typeof GIT)[]
): boolean {
  return isCovered(grants, askingRules(policy, bash, command), asked(command));
}

it('covers what its rule matches and the same rule asks about; another rule that asks still asks', () => {
  const plain = createPolicy();
  assert.ok(covers(plain, 'git log -3', GIT));
  assert.ok(!covers(plain, 'ls', GIT));
  assert.ok(!covers(plain, 'git log; rm x', GIT));
  assert.ok(!covers(plain, 'git log -3'));
  const strict = createPolicy({ config: { ask: ['bash:git push *', 'bash:git *'] } });
  const by_config = { ...GIT, asked_by: 'ask(bash:git *)' };
  assert.ok(covers(strict, 'git log', by_config));
  assert.ok(!covers(strict, 'git push', by_config), 'the rule for push asked nobody yet');
  assert.ok(
    covers(strict, 'git push', by_config, { rule: 'bash:git push', asked_by: 'ask(bash:git push *)' }),
  );
  assert.ok(!covers(strict, 'git log', GIT), 'granted where no rule of the configuration asked');
});

it('does not reach through what a profile or a rule about paths asks', () => {
  const below = narrow(createPolicy(), createProfilePolicy({ ask: ['bash:git push *'] }));
  assert.ok(covers(below, 'git log', GIT));
  assert.ok(!covers(below, 'git push', GIT));
  const paths = createPolicy({ config: { ask: ['read:secrets/**'] } });
  const touched = [{ path: 'secrets/key', as: 'read' }];
  const asks = askingRules(paths, bash, 'git add secrets/key', touched);
  assert.deepEqual(asks, ['ask(read:secrets/**)', 'ask(bash), the default']);
  assert.ok(!isCovered([GIT], asks, asked('git add secrets/key')));
});

it('a grant must match the call that it answers, by its own tool', () => {
  assert.equal(grantFault('bash:git *', asked('git log')), null);
  assert.equal(grantFault('bash', asked('git log')), null);
  assert.match(grantFault('bash:ls *', asked('git log')) ?? '', /does not match this call/);
  assert.match(grantFault('*', asked('git log')) ?? '', /not about bash/);
  assert.match(grantFault('write', asked('git log')) ?? '', /not about bash/);
  assert.match(grantFault('bash:', asked('git log')) ?? '', /pattern after ":" is missing/);
});

it('reaches its agent, its tree or its folder; rules about paths only the folder', () => {
  const here = { agent_id: 'a', root_id: 'r', cwd: '/p', subject_kind: 'command' } as const;
  const places = [
    { agent_id: 'a', root_id: 'r', cwd: '/p' },
    { agent_id: 'b', root_id: 'r', cwd: '/p' },
    { agent_id: 'b', root_id: 'r', cwd: '/q' },
    { agent_id: 'c', root_id: 's', cwd: '/p' },
  ];
  const of = (scope: Parameters<typeof reaches>[0], from: Parameters<typeof reaches>[1] = here) =>
    places.map((place) => reaches(scope, from, place));
  assert.deepEqual(of('once'), [false, false, false, false]);
  assert.deepEqual(of('turn'), [true, false, false, false]);
  assert.deepEqual(of('agent'), [true, false, false, false]);
  assert.deepEqual(of('session'), [true, true, true, false]);
  assert.deepEqual(of('session', { ...here, subject_kind: 'path' }), [true, true, false, false]);
  assert.deepEqual(of('always'), [true, true, false, true]);
});

it('the rules file is for its owner only; a damaged one grants nothing and is not overwritten', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-rules-'));
  const file = join(folder, 'deep', 'rules.json');
  const rule = (id: string): KeptRule => ({
    id,
    rule: 'bash:git *',
    folder: '/p',
    asked_by: 'ask(bash), the default',
    granted_by: 'you',
    granted_at: '2026-01-01T00:00:00.000Z',
  });
  try {
    assert.deepEqual(readRules(file), []);
    addRule(file, rule('one'));
    addRule(file, rule('two'));
    addRule(file, rule('one'));
    assert.deepEqual(
      readRules(file).map(({ id }) => id),
      ['two', 'one'],
    );
    assert.ok(removeRule(file, 'two'));
    assert.ok(!removeRule(file, 'two'));
    assert.deepEqual(readRules(file), [rule('one')]);
    for (const text of ['{', '{"rules":[{"id":"x"}]}', '[]', 'null']) {
      writeFileSync(file, text);
      assert.deepEqual(readRules(file), []);
      assert.throws(() => addRule(file, rule('three')), { code: 'E_CONFIG' });
      assert.equal(readFileSync(file, 'utf8'), text);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
