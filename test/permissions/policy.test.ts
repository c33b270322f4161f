/** Proves the laws P1–P7 of a policy, and that no way of writing a command or path gets around it. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text, not templates
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CronToolOptions, createCronTool } from '../../src/cron/cron-tool.ts';
import { decide } from '../../src/permissions/decide.ts';
import { matchesPath, matchesWithin } from '../../src/permissions/glob-match.ts';
import {
  createPolicy,
  createProfilePolicy,
  narrow,
  type Policy,
  partialRules,
  type RuleTexts,
} from '../../src/permissions/policy.ts';
import { InvalidRuleError, parseKnownRule, parseRule, ruleText } from '../../src/permissions/rule.ts';
import { toolPermission } from '../../src/permissions/tool-permission.ts';
import {
  BUILT_IN_PERMISSIONS,
  CREATION_PERMISSIONS,
  permissionOf,
} from '../../src/tools/built-in-permissions.ts';

const TOOLS = Object.values(BUILT_IN_PERMISSIONS);
const cli = (texts: RuleTexts): Policy => createPolicy({ cli: texts });
const verdict = (policy: Policy, tool: string, subject = ''): string =>
  decide(policy, permissionOf(tool), subject).verdict;

test('defaults: reading is allowed, changing asks, unknown tools ask (P3)', () => {
  const policy = createPolicy();
  for (const tool of ['read', 'search', 'think', 'read_image'])
    assert.equal(verdict(policy, tool, 'a'), 'allow');
  for (const tool of ['bash', 'write', 'patch', 'other']) assert.equal(verdict(policy, tool, 'a'), 'ask');
  assert.deepEqual(decide(policy, permissionOf('bash'), 'ls'), {
    verdict: 'ask',
    rule: 'ask(bash), the default',
  });
});

test('deny and ask rules of paths match every spelling of a name that a file system takes for the same one; allow rules only their own (P7)', () => {
  const spellings = [
    ['Prüfung/geheim.txt', 'PRÜFUNG/GEHEIM.TXT', 'Pru\u0308fung/geheim.txt', 'PRU\u0308FUNG/Geheim.txt'],
    ['secrets/a.env', 'Secrets/A.ENV', 'SECRETS/a.env', 'ſecrets/a.env', '\u017fECRETS/a.env'],
    ['kelvin', 'KELVIN', '\u212Aelvin'],
    ['straße', 'STRASSE', 'STRAẞE', 'Strasse'],
    ['οδός/x', 'ΟΔΌΣ/x', 'οδόσ/X', 'οδο\u0301ς/x'],
    ['한글', '\u1112\u1161\u11ab\u1100\u1173\u11af'],
  ];
  for (const names of spellings)
    for (const pattern of names)
      for (const path of names) {
        for (const [rule, tool] of [
          [`read:${pattern}`, 'read'],
          [`write:${pattern}`, 'write'],
          [`read:${pattern}*`, 'read'],
        ] as const) {
          for (const verdict_of of ['deny', 'ask'] as const)
            assert.equal(
              verdict(cli({ allow: ['*'], [verdict_of]: [rule] }), tool, path),
              verdict_of,
              `${rule}: ${path}`,
            );
        }
        const allowed = verdict(cli({ allow: [`write:${pattern}`] }), 'write', path);
        assert.equal(allowed, pattern === path ? 'allow' : 'ask', `write:${pattern}: ${path}`);
        const command = cli({ allow: ['*'], deny: [`read:${pattern}`] });
        const touched = [{ path, as: 'read' }];
        assert.equal(decide(command, permissionOf('bash'), 'x', touched).verdict, 'deny');
      }
});

test('deny and ask rules of commands match a program in capitals too, which some file systems take for the same one; allow rules do not', () => {
  for (const command of ['RM a', 'Rm a', '/bin/RM a', 'ls; RM a', 'sudo RM a', '"R"M a']) {
    for (const verdict_of of ['deny', 'ask'] as const)
      assert.equal(
        verdict(cli({ allow: ['*'], [verdict_of]: ['bash:rm *'] }), 'bash', command),
        verdict_of,
        command,
      );
    assert.equal(verdict(cli({ allow: ['bash:rm *', 'bash:ls'] }), 'bash', command), 'ask', command);
  }
  for (const command of ['rscript a.R', 'Rscript a.R', '/usr/bin/RSCRIPT a.R', 'ls; rscript "$X"', 'rscript'])
    for (const rule of ['bash:Rscript *', 'bash:RSCRIPT *'])
      assert.equal(
        verdict(cli({ allow: ['*'], deny: [rule] }), 'bash', command),
        'deny',
        `${rule}: ${command}`,
      );
  assert.equal(verdict(cli({ allow: ['bash:Rscript *'] }), 'bash', 'rscript a.R'), 'ask');
});

test('a deny rule of a path holds within a matching folder, also in a path of thousands of components (P3)', () => {
  const part = fc.constantFrom('a', 'b', '.env', '*', '**', 'A*', '');
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.array(part, { minLength: 1, maxLength: 6 }),
      (rule, path) => {
        const [pattern, parts] = [rule.join('/'), path.map((one) => one.toLowerCase())];
        const expected = parts.some((_, at) =>
          matchesPath(pattern.toLowerCase(), parts.slice(0, at + 1).join('/')),
        );
        assert.equal(matchesWithin(pattern.toLowerCase(), parts.join('/')), expected);
      },
    ),
    { numRuns: 2_000 },
  );
  const rules = Array.from({ length: 20 }, (_, n) => `read:**/.env${n}`);
  const policy = cli({ allow: ['bash'], deny: rules });
  const deep = 'a/'.repeat(16_000);
  assert.equal(verdict(policy, 'read', deep), 'allow');
  assert.equal(verdict(policy, 'read', `${deep}.env7/x`), 'deny');
});

test('a tool declares what holds without a rule, and how its patterns match (P3)', () => {
  const policy = createPolicy();
  const cron = createCronTool({} as CronToolOptions).permission;
  for (const subject of ['list', 'list x', 'show x', 'runs x'])
    assert.equal(decide(policy, cron, subject).verdict, 'allow', subject);
  for (const subject of ['add x', 'remove x', 'show'])
    assert.equal(decide(policy, cron, subject).verdict, 'ask');
  assert.equal(decide(policy, cron, 'list').rule, 'allow(cron:list), the default');
  assert.equal(decide(cli({ deny: ['cron:list'] }), cron, 'list').verdict, 'deny');
  const view = toolPermission('view', { default: 'allow', subject: 'path', bound_by: ['read'] });
  assert.equal(decide(policy, view, '.env').verdict, 'allow');
  assert.equal(decide(cli({ deny: ['read:.env'] }), view, '.env').verdict, 'deny');
  assert.equal(decide(cli({ deny: ['view:src/**'] }), view, 'src/a/b').verdict, 'deny');
  assert.equal(decide(cli({ deny: ['write:.env'] }), view, '.env').verdict, 'allow');
  const run = toolPermission('run', { subject: 'command' });
  assert.equal(decide(cli({ allow: ['run'], deny: ['run:rm *'] }), run, 'ls; rm x').verdict, 'deny');
});

test('deny beats ask beats allow in one source (P1), the command line beats the configuration (P2)', () => {
  const one = cli({ allow: ['write'], ask: ['write:src/**'], deny: ['write:src/secret/**'] });
  assert.equal(verdict(one, 'write', 'a.txt'), 'allow');
  assert.equal(verdict(one, 'write', 'src/a.ts'), 'ask');
  assert.deepEqual(decide(one, permissionOf('write'), 'src/secret/a.ts'), {
    verdict: 'deny',
    rule: 'deny(write:src/secret/**)',
  });
  const two = createPolicy({ cli: { allow: ['bash:ls'] }, config: { deny: ['bash'] } });
  assert.equal(verdict(two, 'bash', 'ls'), 'allow');
  assert.equal(verdict(two, 'bash', 'pwd'), 'deny');
});

test('a pattern allows a plain command', () => {
  const policy = cli({ allow: ['bash:git *'] });
  const plain = [
    'git status',
    'git',
    '  git log --oneline\n',
    'git commit -m "one; two | three"',
    "git commit -m 'first line\nsecond $(line)'",
    'git log \\; x',
    'git show $BRANCH',
    'git log --grep=a#b',
  ];
  for (const command of plain) assert.equal(verdict(policy, 'bash', command), 'allow', command);
});

test('nothing can be smuggled behind an allowed pattern (P5)', () => {
  const policy = cli({ allow: ['bash:git *'] });
  const smuggled = [
    'git status; rm -rf /',
    'git status && rm -rf /',
    'git status || rm -rf /',
    'git status | sh',
    'git status & rm -rf /',
    'git status\nrm -rf /',
    'git status\r\nrm -rf /',
    'git $(rm -rf /)',
    'git "$(rm -rf /)"',
    'git `rm -rf /`',
    'git "`rm -rf /`"',
    'git status > /etc/passwd',
    'git status >> ~/.bashrc',
    'git apply < patch',
    'git diff <(rm -rf /)',
    'git ${x:-$(rm)}',
    'git "${x@P}"',
    'git $((x[$(rm)]))',
    'git $[x]',
    "git $'\\n'rm",
    'git "unclosed; rm -rf /',
    "git # '\nrm -rf / # '",
    "# '\nrm -rf / # '",
    'git status # comment',
    'git sta\\\ntus',
    'gitx status',
    'xgit status',
    'GIT_PAGER=rm git log',
    'env git status',
    '(git status)',
    '{ git status; }',
    'git status\0; rm',
    '\u00a0git status',
    "git 'a' 'b\n' ; rm '",
  ];
  for (const command of smuggled)
    assert.equal(verdict(policy, 'bash', command), 'ask', JSON.stringify(command));
});

test('what an allowed command runs in turn must be allowed too (P5)', () => {
  const policy = cli({
    allow: ['bash:git *', 'bash:timeout *', 'bash:find *', 'bash:python3 *', 'bash:cd src && make'],
  });
  for (const command of [
    'git -C src status',
    'git -c user.name=a commit -m b',
    'find . -name a',
    'timeout 5 timeout 6 timeout 7 timeout',
    "python3 -c 'print(1)'",
    'python3 a.py $X',
    'cd src && make',
  ])
    assert.equal(verdict(policy, 'bash', command), 'allow', command);
  for (const command of [
    "git -c alias.x='!sh x' x",
    'git bisect run make',
    'git $X',
    'timeout 5 make',
    'find . -exec rm {} +',
    'find . -exec sh -c "$X" \\;',
    'cd src && make all',
  ])
    assert.equal(verdict(policy, 'bash', command), 'ask', command);
});

test('bash and bash:* allow everything', () => {
  for (const rule of ['bash', 'bash:*', '*'])
    assert.equal(verdict(cli({ allow: [rule] }), 'bash', 'a; b | c'), 'allow');
});

test('a denied command is found wherever it is (P6)', () => {
  const policy = cli({ allow: ['bash'], deny: ['bash:rm *'] });
  const hidden = [
    'rm -rf /',
    'ls; rm -rf /',
    'ls && rm x || true',
    'ls | xargs rm -f',
    'ls\nrm x',
    'echo $(rm x)',
    'echo "`rm x`"',
    'cat <(rm x)',
    '(rm x)',
    '{ rm x; }',
    'if true; then rm x; fi',
    'for a in b; do rm $a; done',
    'f() { rm x; }; f',
    'sudo -n rm x',
    'FOO=1 rm x',
    'env FOO=1 rm x',
    '/bin/rm x',
    'r""m x',
    "'rm' x",
    '\\rm x',
    'r\\\nm x',
    'bash -c "rm x"',
    "sh -ec 'true; rm x'",
    'eval rm x',
    "eval 'r'm x",
    "trap 'rm x' EXIT",
    'find . -name a -exec rm {} +',
    'timeout 5 nohup rm x',
    '>out rm x',
    '2>&1 rm x',
    'echo "${x:-$(rm x)}"',
    'cat <<EOF | sh\nrm x\nEOF',
  ];
  for (const command of hidden)
    assert.equal(verdict(policy, 'bash', command), 'deny', JSON.stringify(command));
  for (const command of ['ls', 'echo rm x', 'git rm x', 'npm run rm-all', 'cat "rm x"', 'echo $HOME > out'])
    assert.equal(verdict(policy, 'bash', command), 'allow', command);
});

test('where the text does not tell what runs, an allowed call is denied if something is, asked about if something is (P6)', () => {
  const policy = cli({ allow: ['bash'], deny: ['bash:rm *'] });
  const unclear = [
    '$X -rf /',
    'X=rm; $X y',
    '$(echo rm) x',
    '`echo rm` x',
    '/bin/r? x',
    '{rm,-rf,x}',
    "$'\\x72m' x",
    'echo cm0= | base64 -d | sh',
    'bash -c "$X"',
    'eval "$X"',
    'source <(echo hi)',
    'echo "unclosed',
    `${'$('.repeat(20)}rm x`,
  ];
  for (const command of unclear)
    assert.equal(verdict(policy, 'bash', command), 'deny', JSON.stringify(command));
  assert.deepEqual(decide(policy, permissionOf('bash'), '$X y'), {
    verdict: 'deny',
    rule: 'deny(bash:rm *), because it is unclear what the command runs (a program with a computed name): write it as plain commands',
  });
  assert.equal(verdict(cli({ allow: ['bash'], ask: ['bash:rm *'] }), 'bash', '$X y'), 'ask');
  assert.equal(verdict(cli({ allow: ['bash'] }), 'bash', '$X y'), 'allow');
});

test('paths: * stays in one part, ** does not, a bare name matches at any depth', () => {
  const allowed = (rule: string, path: string): boolean =>
    verdict(cli({ allow: [rule] }), 'write', path) === 'allow';
  assert.ok(allowed('write:src/**', 'src/a/b.ts'));
  assert.ok(allowed('write:src/*.ts', 'src/a.ts'));
  assert.ok(!allowed('write:src/*.ts', 'src/a/b.ts'));
  assert.ok(allowed('write:*.md', 'docs/a.md'));
  assert.ok(!allowed('write:src', 'src/a.ts'));
  assert.ok(!allowed('write:src/**', 'srcs/a.ts'));
  assert.ok(!allowed('write:src/**', '../src/a.ts'));
  assert.ok(allowed('write:**/test/**', 'a/b/test/c/d'));
});

test('a denied folder denies what is in it (P7)', () => {
  const denied = (rule: string, path: string): boolean =>
    verdict(cli({ deny: [rule] }), 'read', path) === 'deny';
  assert.ok(denied('read:secrets', 'a/secrets/b/c.txt'));
  assert.ok(denied('read:a/secrets', 'a/secrets/b'));
  assert.ok(denied('read:.env*', 'app/.env.local'));
  assert.ok(denied('read:secrets/**', 'secrets'));
  assert.ok(!denied('read:secrets', 'not-secrets'));
});

test('a denied command is denied with the arguments that follow it, an allowed one is not allowed with them (P6)', () => {
  for (const rule of ['bash:git push', 'bash:git push *', 'bash:git push:*', 'bash:GIT push'])
    for (const command of ['git push', 'git push --force origin', 'cd a && git push x', 'git push $X'])
      for (const verdict_of of ['deny', 'ask'] as const)
        assert.equal(
          verdict(cli({ allow: ['*'], [verdict_of]: [rule] }), 'bash', command),
          verdict_of,
          `${rule}: ${command}`,
        );
  for (const command of ['git pull', 'git pushx', 'git'])
    assert.equal(verdict(cli({ allow: ['*'], deny: ['bash:git push'] }), 'bash', command), 'allow', command);
  assert.equal(verdict(cli({ allow: ['bash:git push'] }), 'bash', 'git push --force'), 'ask');
  assert.equal(verdict(cli({ allow: ['bash:npm:*'] }), 'bash', 'npm test'), 'ask');
});

test('a slash at the end of a path means the folder and all that is in it', () => {
  for (const [path, place] of [
    ['src/a/b.ts', 'allow'],
    ['a/src/b.ts', 'ask'],
  ] as const)
    assert.equal(verdict(cli({ allow: ['write:src/'] }), 'write', path), place, path);
  for (const path of ['secrets/a', 'a/secrets/b/c', 'SECRETS/a'])
    assert.equal(verdict(cli({ deny: ['read:secrets/'] }), 'read', path), 'deny', path);
  assert.equal(verdict(cli({ deny: ['read:a/secrets/'] }), 'read', 'b/secrets/c'), 'allow');
});

test('a rule as other programs write it is refused with what it is here', () => {
  for (const [text, here] of [
    ['Bash(npm run test:*)', 'bash:npm run test *'],
    ['Read(./.env)', 'read:./.env'],
    ['WebFetch(domain:example.com)', 'web_fetch:example.com'],
    ['Edit(src/**)', 'patch:src/**'],
    ['Edit', 'patch'],
    ['mcp__github__delete_file', 'github__delete_file'],
    ['mcp__github', 'github__*'],
  ] as const)
    for (const verdict_of of ['allow', 'deny'] as const)
      assert.throws(() => parseKnownRule(text, verdict_of, TOOLS), {
        message: `invalid rule "${text}": other programs write it so; here it is "${here}"`,
      });
  assert.equal(ruleText(parseKnownRule('mcp__*', 'deny', TOOLS)), 'mcp__*', 'a server of that name');
});

test('malformed rules are refused with an explanation', () => {
  const elsewhere = [
    'write:../x',
    'read:/etc/passwd',
    'read:~/.ssh/**',
    'read:~',
    'read:$HOME/x',
    'read:${HOME}/x',
  ];
  const odd = [
    'write:"src/**"',
    "bash:'npm test'",
    'write:!src/**',
    'write:{src,lib}/**',
    'write:.',
    'read:./',
  ];
  const addresses = ['read:file:///etc/passwd', 'read:C:\\Users\\x'];
  for (const text of ['', ':x', 'bash:', 'ba sh', '*:x', ...elsewhere, ...addresses, ...odd]) {
    assert.throws(
      () => parseKnownRule(text, 'allow', TOOLS),
      (error) =>
        error instanceof InvalidRuleError && /^invalid rule ".*": .*; write TOOL/.test(error.message),
      text,
    );
  }
  for (const text of [
    'read:./~/**',
    'write:$lib/**',
    'bash:cat ~/.ssh/*',
    'write:app/[id]/{id}.ts',
    'bash:"a b" "c"x',
  ])
    assert.equal(ruleText(parseKnownRule(text, 'deny', TOOLS)), text);
  assert.deepEqual(parseRule(' bash:git * ', 'deny'), { verdict: 'deny', tool: 'bash', pattern: 'git *' });
  assert.deepEqual(parseRule('bash:*', 'ask'), { verdict: 'ask', tool: 'bash' });
});

const strictness: Record<string, number> = { allow: 0, ask: 1, deny: 2 };
const rule = fc.constantFrom(
  '*',
  'bash',
  'bash:git *',
  'bash:rm *',
  'read',
  'write:src/**',
  'write:*.md',
  'read:.env',
  'mcp_*',
);
const texts = fc.record({ allow: fc.array(rule), ask: fc.array(rule), deny: fc.array(rule) });
const policies = fc.record({ cli: texts, config: texts }).map((both) => createPolicy(both));
const calls = fc.oneof(
  fc.record({
    tool: fc.constant('bash'),
    subject: fc.oneof(
      fc.constantFrom('git status', 'rm x', 'git a; rm b', '$X'),
      fc.string({ unit: 'binary' }),
    ),
  }),
  fc.record({
    tool: fc.constantFrom('read', 'write', 'mcp_x', 'other'),
    subject: fc.constantFrom('src/a.md', '.env', 'b', '.'),
  }),
);

test('a child never gets more than its parent, however deep, and the parent’s decision counts unchanged (P4)', () => {
  fc.assert(
    fc.property(policies, policies, policies, calls, (parent, child, grandchild, { tool, subject }) => {
      const both = narrow(parent, child);
      const all = narrow(both, grandchild);
      const strict = (policy: Policy): number => strictness[verdict(policy, tool, subject)]!;
      assert.equal(strict(both), Math.max(strict(parent), strict(child)));
      assert.equal(strict(all), Math.max(strict(both), strict(grandchild)));
      assert.deepEqual(JSON.parse(JSON.stringify(all)), all, 'plain data');
    }),
  );
  const policy = createPolicy();
  assert.deepEqual(narrow(policy, policy), policy);
});

test('the partial rules of a tool are those that apply: a source with a rule about all of it ends the list', () => {
  const both = { cli: { deny: ['read:a/**'] }, config: { ask: ['read:b/**'], deny: ['write:c'] } };
  assert.deepEqual(partialRules(createPolicy(both), 'read'), ['deny(read:a/**)', 'ask(read:b/**)']);
  const whole = createPolicy({ ...both, cli: { deny: ['read:a/**'], allow: ['read'] } });
  assert.deepEqual(partialRules(whole, 'read'), ['deny(read:a/**)']);
  const below = narrow(whole, createProfilePolicy({ deny: ['read:d'] }));
  assert.deepEqual(partialRules(below, 'read'), ['deny(read:a/**)', 'deny(read:d), the profile']);
});

test('a rule without a pattern does not bind paths that other tools touch; what a profile does not allow does, except for a search', () => {
  const touched = { path: 'a', as: 'read' };
  const whole = cli({ allow: ['bash', 'search'], deny: ['read'] });
  assert.equal(decide(whole, permissionOf('bash'), 'cat a', [touched]).verdict, 'allow');
  assert.equal(decide(whole, permissionOf('read'), 'a').verdict, 'deny');
  const above = cli({ allow: ['bash', 'search', 'read'] });
  const unsaid = narrow(above, createProfilePolicy({ allow: ['read:src/**', 'bash', 'search'] }));
  assert.equal(decide(unsaid, permissionOf('bash'), 'cat a', [touched]).verdict, 'ask');
  assert.equal(
    decide(unsaid, permissionOf('bash'), 'cat src/a', [{ path: 'src/a', as: 'read' }]).verdict,
    'allow',
  );
  assert.equal(
    decide(unsaid, permissionOf('search'), '.', [{ ...touched, searched: true }]).verdict,
    'allow',
  );
});

test('a rule names a tool that exists, a pattern that matches one, or agent programs', () => {
  const tools = [permissionOf('bash'), permissionOf('write')];
  for (const text of ['bash', 'write:src/**', '*', 'wri*', 'acp'])
    assert.equal(ruleText(parseKnownRule(text, 'deny', tools)), text);
  assert.throws(() => parseKnownRule('writ:src', 'deny', tools), {
    name: 'InvalidRuleError',
    message: /there is no tool "writ".*write.*Tools: bash, write, acp/s,
  });
  // Permissions to create agents must be named in full, and take no pattern.
  const creating = [...tools, ...CREATION_PERMISSIONS];
  assert.equal(ruleText(parseKnownRule('fork', 'ask', creating)), 'fork');
  assert.throws(() => parseKnownRule('for*', 'ask', creating), /there is no tool "for\*"/);
  assert.throws(() => parseKnownRule('fork:x', 'ask', creating), /calls of fork are judged as a whole/);
});

test('hostile subjects are decided quickly', () => {
  const policy = cli({ allow: ['bash:*a*b*c*'], deny: ['bash:rm *', 'bash:*x*y*z*'] });
  const quick = (command: string): void => {
    const before = process.cpuUsage();
    assert.notEqual(verdict(policy, 'bash', command), 'allow');
    const { user, system } = process.cpuUsage(before);
    // Far above the 10 ms that a decision takes, far below what quadratic growth would take.
    assert.ok(user + system < 1_000_000, `${command.slice(0, 20)} took ${(user + system) / 1000} ms`);
  };
  for (const command of [
    'sudo '.repeat(20_000),
    '$('.repeat(50_000),
    '('.repeat(100_000),
    'a"'.repeat(50_001),
    '${'.repeat(50_000),
    'x'.repeat(200_000),
    '`\\'.repeat(50_000),
    'a;'.repeat(500_000),
    '<<E '.repeat(4_000),
    `"$(`.repeat(8_000),
    '$(case a in a)'.repeat(2_000),
    `${'env '.repeat(8_000)}rm`,
  ])
    quick(command);
});
