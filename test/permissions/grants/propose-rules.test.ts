/** Proves which rules are proposed for a call: the narrowest useful one first, each covers the call, and none would allow everything. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { coversCall, grantFault } from '../../../src/permissions/grants/grant.ts';
import { proposeRules } from '../../../src/permissions/grants/propose-rules.ts';
import type { ToolPermission } from '../../../src/records/tool.ts';

const call = (tool: string, subject: string, subject_kind: ToolPermission['subject']) => ({
  tool,
  subject,
  subject_kind,
});
const bash = (command: string) => call('bash', command, 'command');

function offered(of: ReturnType<typeof call>): string | null {
  const { rules, first } = proposeRules(of);
  for (const rule of rules) assert.ok(coversCall(rule, of), `${rule} covers ${of.subject}`);
  return rules[first] ?? null;
}

it('of a program with subcommands the subcommand is offered, and what is narrower or wider stands beside it', () => {
  assert.deepEqual(proposeRules(bash('git status -s')).rules, [
    'bash:git status -s',
    'bash:git status *',
    'bash:git *',
  ]);
  for (const [command, rule] of [
    ['git status', 'bash:git status *'],
    ['git', 'bash:git *'],
    ['npm run build -- --watch', 'bash:npm run build *'],
    ['docker compose up -d', 'bash:docker compose up *'],
    ['cargo test --release', 'bash:cargo test *'],
    ['git -C sub log', 'bash:git -C sub log'],
  ] as const)
    assert.equal(offered(bash(command)), rule, command);
});

it('of any other program all of its calls are offered; of one that changes files or sends something, only this one', () => {
  for (const [command, rule] of [
    ['ls -la src', 'bash:ls *'],
    ['rm -rf dist', 'bash:rm -rf dist'],
    ['curl https://example.org/x', 'bash:curl https://example.org/x'],
    ['./build.sh fast', 'bash:./build.sh fast'],
    ['cd web && npm test', 'bash:cd web && npm test'],
    ['npm test > out.txt', 'bash:npm test > out.txt'],
  ] as const)
    assert.equal(offered(bash(command)), rule, command);
});

it('nothing is proposed for what cannot be analysed, nor for programs that would run anything', () => {
  for (const command of [
    'bash build.sh',
    'sh -c "git status"',
    'env git status',
    'sudo ls',
    'xargs rm',
    'ls | xargs rm',
    'python3 -c "print(1)"',
    'python3 report.py',
    'node -e 1',
    'node server.js',
    'find . -name x -exec rm {} ;',
    'find . -exec cat {} +',
    'eval "ls"',
    'timeout 5 npm test',
    'npx tsc',
    'npm exec -- tsc',
    'ssh host ls',
    'make CC="rm x"',
    '$X',
    'git -c core.pager=x log',
    'awk 1 x',
    'su -c ls',
    'cd x && python3 a.py',
    'git status "',
    // A * in the command would act as a wildcard and match more than was asked about.
    'rm *',
    'cat a* | grep b*',
  ]) {
    const { rules, why } = proposeRules(bash(command));
    assert.deepEqual({ command, rules }, { command, rules: [] });
    assert.ok(why !== null, command);
  }
});

it('of a file its folder is offered, never a name that would match at any depth', () => {
  assert.deepEqual(proposeRules(call('write', 'src/a/b.ts', 'path')).rules, [
    'write:src/a/b.ts',
    'write:src/a/**',
    'write:src/**',
    'write',
  ]);
  assert.equal(offered(call('patch', 'src/a/b.ts', 'path')), 'patch:src/a/**');
  assert.equal(offered(call('write', 'README.md', 'path')), 'write:./README.md');
  assert.ok(!coversCall('write:./README.md', call('write', 'docs/README.md', 'path')));
  for (const path of ['../x', '/etc/hosts', 'a*b', ' x'])
    assert.deepEqual(proposeRules(call('write', path, 'path')).rules, [], path);
});

it('of any other tool the tool is offered', () => {
  assert.equal(offered(call('fetch', 'https://example.org', 'text')), 'fetch');
  assert.deepEqual(proposeRules(call('fetch', 'a *', 'text')).rules, ['fetch']);
});

it('of a call that creates agents its tool is offered, and nothing narrower can be granted', () => {
  const asked = call('fork', '1 agent; no history', 'agents');
  assert.deepEqual(proposeRules(asked), { rules: ['fork'], first: 0, why: null });
  assert.equal(grantFault('fork', asked), null);
  assert.match(grantFault('fork:1 agent*', asked) ?? '', /does not match this call/);
});
