// Proves that a mode applies after all rules: it allows edits only where no rule applies, and plan mode denies whatever may change something.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decide } from '../../src/permissions/decide.ts';
import { modeRefusal, modeText, withMode } from '../../src/permissions/mode.ts';
import { createPolicy, createProfilePolicy, narrow } from '../../src/permissions/policy.ts';
import { BUILT_IN_PERMISSIONS, permissionOf } from '../../src/tools/built-in-permissions.ts';

const verdict = (policy: ReturnType<typeof createPolicy>, tool: string, subject: string) =>
  decide(withMode(policy, 'accept'), permissionOf(tool), subject).verdict;

it('accept allows what only the default asks about', () => {
  const none = createPolicy();
  assert.deepEqual(
    ['write', 'patch', 'bash', 'other'].map((tool) => verdict(none, tool, 'a.txt')),
    ['allow', 'allow', 'ask', 'ask'],
  );
  const ruled = createPolicy({
    cli: { deny: ['write:secret*'] },
    config: { ask: ['write:src/**', 'patch'] },
  });
  assert.deepEqual(
    [
      verdict(ruled, 'write', 'secret.txt'),
      verdict(ruled, 'write', 'src/a.ts'),
      verdict(ruled, 'write', 'a.ts'),
      verdict(ruled, 'patch', 'a.ts'),
    ],
    ['deny', 'ask', 'allow', 'ask'],
  );
  const narrowed = narrow(none, createProfilePolicy({ allow: ['write:docs/**'] }));
  assert.deepEqual(
    [verdict(narrowed, 'write', 'docs/a.md'), verdict(narrowed, 'write', 'src/a.ts')],
    ['allow', 'ask'],
  );
  assert.equal(withMode(none, 'ask'), none);
});

it('plan denies all tools but those that are declared as harmless', () => {
  const denied = [...Object.values(BUILT_IN_PERMISSIONS), permissionOf('cron'), permissionOf('acp')].flatMap(
    (tool) => (modeRefusal('plan', tool) === null ? [] : [tool.name]),
  );
  assert.deepEqual(denied, ['bash', 'write', 'patch', 'cron', 'acp']);
  assert.equal(modeRefusal('accept', permissionOf('bash')), null);
  assert.notEqual(modeText('plan'), '');
  assert.equal(modeText('accept'), '');
});
