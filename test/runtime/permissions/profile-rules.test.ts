/**
 * Proves the effect of a profile's rules: for a root, what it allows needs no approval unless the command line or the configuration has a rule for it; if it
 * allows some uses of a tool, all other uses need approval; and no descendant ever gets more permissions than its creator.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { childConfig } from '../../../src/kernel/toolsets/acts/child-config.ts';
import { decide } from '../../../src/permissions/decide.ts';
import { policyOf } from '../../../src/permissions/policy.ts';
import { blindRefusal, policyRefusal } from '../../../src/permissions/refusal.ts';
import type { AgentConfig, PermissionRules } from '../../../src/records/agent/agent.ts';
import { type Profile, rootProfileRules } from '../../../src/records/agent/profile.ts';
import { permissionOf } from '../../../src/tools/built-in-permissions.ts';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';

const NONE: PermissionRules = { allow: [], ask: [], deny: [] };
const rulesOf = (rules: Partial<PermissionRules>): PermissionRules => ({ ...NONE, ...rules });

function profileWith(rules: Partial<PermissionRules>): Profile {
  return profileOf({ name: 'kind', permissions: rulesOf(rules) });
}

function rootOf(
  { cli = {}, config = {} }: { cli?: Partial<PermissionRules>; config?: Partial<PermissionRules> },
  profile: Profile | null,
): AgentConfig {
  return {
    model: 'a/b',
    thinking: 'off',
    system: '',
    toolsets: [],
    tools: [],
    cwd: '.',
    permissions: {
      cli: rulesOf(cli),
      config: rulesOf(config),
      ...(profile === null ? {} : rootProfileRules(profile)),
    },
  };
}

const verdict = (config: AgentConfig, tool: string, subject: string) =>
  decide(policyOf(config), permissionOf(tool), subject).verdict;

const REVIEWER = profileWith({ allow: ['bash:git diff *'], deny: ['read:secrets/**'] });

it('for a root, its allow rules need no approval; other uses of the tool do, and other tools are unchanged', () => {
  const root = rootOf({}, REVIEWER);
  for (const [tool, subject, expected] of [
    ['bash', 'git diff HEAD', 'allow'],
    ['bash', 'rm -rf x', 'ask'],
    ['bash', 'git diff HEAD; rm -rf x', 'ask'],
    ['read', 'src/a.ts', 'allow'],
    ['read', 'secrets/key', 'deny'],
    ['write', 'a', 'ask'],
  ] as const)
    assert.equal(verdict(root, tool, subject), expected, `${tool} ${subject}`);
});

it('the command line and the configuration take precedence over allow rules of the profile of a root', () => {
  for (const where of ['cli', 'config'] as const) {
    assert.equal(verdict(rootOf({ [where]: { deny: ['bash'] } }, REVIEWER), 'bash', 'git diff'), 'deny');
    assert.equal(verdict(rootOf({ [where]: { ask: ['bash'] } }, REVIEWER), 'bash', 'git diff'), 'ask');
  }
});

it('an allow rule of a profile narrows a wider one, even --yes, and the refusal says so', () => {
  for (const cli of [{ allow: ['bash'] }, { allow: ['*'] }])
    for (const config of [
      rootOf({ cli }, REVIEWER),
      childConfig(rootOf({ cli }, null), { profile: REVIEWER }),
    ]) {
      assert.equal(verdict(config, 'bash', 'git diff HEAD'), 'allow');
      assert.equal(verdict(config, 'bash', 'rm x'), 'ask');
      const refusal = policyRefusal(policyOf(config), permissionOf('bash'), 'rm x') ?? '';
      assert.match(
        refusal,
        /\(ask\(bash\), beyond what the profile allows\).*Its profile would have to allow it\.$/,
      );
    }
  assert.match(
    policyRefusal(policyOf(rootOf({}, REVIEWER)), permissionOf('write'), 'x') ?? '',
    /--allow write or --yes\.$/,
  );
});

it('for a child, its allow rules remove no need for approval', () => {
  const child = childConfig(rootOf({}, null), { profile: profileWith({ allow: ['*'] }) });
  assert.equal(verdict(child, 'bash', 'ls'), 'ask');
  assert.equal(verdict(child, 'write', 'a'), 'ask');
  assert.equal(verdict(child, 'read', 'a'), 'allow');
});

it('an undescribed use is refused where a profile forbids some uses', () => {
  const child = childConfig(rootOf({ cli: { allow: ['*'] } }, null), { profile: REVIEWER });
  assert.match(
    blindRefusal(policyOf(child), permissionOf('read')) ?? '',
    /a rule restricts some such calls: deny\(read:secrets/,
  );
  // A command might read a file that may not be read.
  assert.match(
    blindRefusal(policyOf(child), permissionOf('bash')) ?? '',
    /a rule restricts some such calls: deny\(read:secrets/,
  );
  const plain = childConfig(rootOf({ cli: { allow: ['*'] } }, null), {
    profile: profileWith({ allow: ['bash:git diff *'] }),
  });
  assert.match(blindRefusal(policyOf(plain), permissionOf('bash')) ?? '', /beyond what the profile allows/);
  assert.equal(blindRefusal(policyOf(child), permissionOf('write')), null);
});

const rule = fc.oneof(
  fc.constantFrom('*', 'bash', 'read', 'write', 'b*', 'mcp_*', 'bash:git *', 'bash:git diff *', 'bash:rm *'),
  fc.constantFrom('bash:*', 'bash:ls', 'read:src/**', 'read:**/.env', 'write:src/*', 'other', 'other:x*'),
);
const rules = fc.record({
  allow: fc.array(rule, { maxLength: 3 }),
  ask: fc.array(rule, { maxLength: 2 }),
  deny: fc.array(rule, { maxLength: 2 }),
});
const use = fc.oneof(
  fc.record({
    tool: fc.constant('bash'),
    subject: fc.constantFrom(
      'git',
      'git diff a',
      'git log',
      'rm x',
      'ls',
      'ls; rm x',
      'sh -c "rm x"',
      '$X',
      '',
    ),
  }),
  fc.record({
    tool: fc.constantFrom('read', 'write', 'mcp_x', 'other', 'search'),
    subject: fc.constantFrom('src/a', 'src/b/.env', '.env', 'x', 'xy', '.', ''),
  }),
);
const STRICTNESS = { allow: 0, ask: 1, deny: 2 };

it('no combination of profiles allows a descendant more than its creator', () => {
  fc.assert(
    fc.property(
      fc.record({ cli: rules, config: rules }),
      fc.option(rules),
      fc.array(fc.option(rules), { minLength: 1, maxLength: 4 }),
      fc.array(use, { minLength: 1, maxLength: 8 }),
      (said, own, profiles, uses) => {
        let creator = rootOf(said, own === null ? null : profileWith(own));
        for (const next of profiles) {
          const child = childConfig(creator, { profile: next === null ? null : profileWith(next) });
          for (const { tool, subject } of uses) {
            const [above, below] = [verdict(creator, tool, subject), verdict(child, tool, subject)];
            assert.ok(STRICTNESS[below] >= STRICTNESS[above], `${tool} ${subject}: ${above} → ${below}`);
            const refused = blindRefusal(policyOf(creator), permissionOf(tool)) !== null;
            assert.ok(
              !refused || blindRefusal(policyOf(child), permissionOf(tool)) !== null,
              `${tool}, undescribed`,
            );
          }
          creator = child;
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

it('deny rules of a root apply whatever its profile allows', () => {
  fc.assert(
    fc.property(fc.record({ cli: rules, config: rules }), rules, use, (said, own, { tool, subject }) => {
      const without = decide(policyOf(rootOf(said, null)), permissionOf(tool), subject);
      const within = verdict(rootOf(said, profileWith(own)), tool, subject);
      if (within === 'allow' && without.verdict !== 'allow')
        assert.match(
          without.rule,
          /, the default$|^no rule for/,
          'it lifts nothing but what nobody spoke of',
        );
    }),
    { numRuns: 2_000 },
  );
});
