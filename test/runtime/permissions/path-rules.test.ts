/**
 * Proves that a rule about a path applies to every tool that accesses it: a file that may not be read is neither searched, patched, viewed nor printed by a
 * plain command, by whatever name; and a search reveals nothing about the files that it left out.
 */

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { decide } from '../../../src/permissions/decide.ts';
import { createPolicy, createProfilePolicy, narrow, type Policy } from '../../../src/permissions/policy.ts';
import { callTouches } from '../../../src/permissions/touched-paths.ts';
import type { PermissionRules } from '../../../src/records/agent/agent.ts';
import { permissionOf } from '../../../src/tools/built-in-permissions.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { closeOpened } from '../../close-opened.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { setStage } from '../stage.ts';
import { withApprovals } from './approval-stage.ts';

afterEach(closeOpened);

const KEY = 'sk-abcdef';
const NONE: PermissionRules = { allow: [], ask: [], deny: [] };

function makeFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'app/secret'), { recursive: true });
  for (const path of ['.env', 'app/.env', 'app/.ENV', 'app/secret/key.txt'])
    writeFileSync(join(folder, path), `KEY=${KEY}\nother=1\n`);
  writeFileSync(join(folder, 'app/plain.txt'), 'KEY=none\n');
  symlinkSync('app/.env', join(folder, 'link.txt'));
  symlinkSync('app', join(folder, 'door'));
  return folder;
}

type Calls = readonly (readonly [tool: string, input: object])[];

/** Results of the calls, made one after the other under these rules. */
async function outcomes(cwd: string, rules: Partial<PermissionRules>, calls: Calls) {
  const on = await setStage(
    ({ step }) => (calls[step] === undefined ? 'done' : [calls[step] as [string, object]]),
    {
      tools: createBuiltInTools(),
      config: { cwd, permissions: { cli: { ...NONE, ...rules }, config: NONE } },
    },
  );
  try {
    const { root } = await on.perform();
    return (await on.results(root)).map(({ status, output }) => ({ status, output }));
  } finally {
    await on.close();
  }
}

it('no tool shows what may not be read', async () => {
  const cwd = makeFolder();
  const calls: Calls = [
    ['read', { path: 'app/.env' }],
    ['read', { path: 'app/x/../.env' }],
    ['read', { path: join(cwd, '.env') }],
    ['read', { path: 'link.txt' }],
    ['read', { path: 'door/.env' }],
    ['read', { path: 'app/.ENV' }],
    ['read', { path: 'door/secret/key.txt' }],
    ['read_image', { path: '.env' }],
    ['search', { pattern: 'KEY', path: 'app/.env' }],
    ['search', { pattern: 'KEY', path: 'link.txt' }],
    ['search', { pattern: 'KEY', path: 'app/secret' }],
    ['patch', { path: 'app/.env', edits: [{ old_text: 'other=1', new_text: 'other=2' }] }],
    ['bash', { command: 'cat app/.env' }],
    ['bash', { command: `grep . ${cwd}/app/./.env` }],
    ['bash', { command: 'cat < .env' }],
    ['bash', { command: 'cd app && timeout 5 cat .env' }],
    ['bash', { command: 'cd app && cd secret && cat key.txt' }],
    ['bash', { command: 'cd -P app; pushd ./secret; awk 1 < key.txt' }],
    ['bash', { command: 'f() { cat key.txt; }; (cd app); cd app/secret/..; (cd nowhere); cd secret; f' }],
    ['bash', { command: "bash -c 'head -1 link.txt'" }],
    ['bash', { command: 'awk 1 --file=.env' }],
    ['bash', { command: 'cp .env copy' }],
    ['bash', { command: 'git diff --no-index app/plain.txt app/.env' }],
  ];
  const results = await outcomes(cwd, { allow: ['*'], deny: ['read:**/.env', 'read:app/secret'] }, calls);
  for (const [index, { status, output }] of results.entries()) {
    assert.equal(status, 'denied', `${JSON.stringify(calls[index])}: ${output}`);
    assert.match(output, /deny\(read:/);
  }
  assert.equal(results.length, calls.length);
});

it('a search leaves out unreadable files by path, by glob and without either, and says the same whatever its pattern', async () => {
  const cwd = makeFolder();
  const rules = { allow: ['*'], deny: ['read:**/.env', 'read:app/secret'] };
  const results = await outcomes(cwd, rules, [
    ['search', { pattern: 'KEY' }],
    ['search', { pattern: 'KEY', glob: '.env' }],
    ['search', { pattern: 'KEY', path: 'app', glob: '*' }],
    ['search', { pattern: 'KEY', path: 'door' }],
    ['search', { pattern: `^KEY=${KEY}` }],
    ['search', { pattern: `^KEY=sk-b` }],
  ]);
  const note = '[not searched: what is under deny(read:**/.env), deny(read:app/secret)]';
  for (const { output } of results) assert.ok(!output.includes('sk-') && output.endsWith(note), output);
  assert.equal(results[0]?.output, `app/plain.txt:1: KEY=none\n${note}`);
  // A pattern that matches in an excluded file gives the same result as one that does not.
  assert.deepEqual(results[4], results[5]);
});

it('files that need approval are left out of a wider search, and searched when the search itself was allowed', async () => {
  const cwd = makeFolder();
  const config = { cwd, permissions: { cli: { ...NONE, ask: ['read:app/secret'] }, config: NONE } };
  const calls: Calls = [
    ['search', { pattern: 'KEY' }],
    ['search', { pattern: 'KEY', path: 'app/secret' }],
  ];
  const stage = await setStage(
    ({ step }) => (calls[step] === undefined ? 'done' : [calls[step] as [string, object]]),
    { tools: createBuiltInTools(), config, can_ask: true },
  );
  const on = withApprovals(stage, []);
  const root = await on.start();
  const [ask] = await on.asked(root);
  assert.equal(ask?.rule, 'ask(read:app/secret)');
  await on.allow(ask);
  await on.runtime.settled(root.id);
  const [wide, narrow] = await on.results(root);
  assert.ok(wide?.output.includes('app/plain.txt') && !wide.output.includes('key.txt'), wide?.output);
  assert.ok(narrow?.output.includes(KEY), narrow?.output);
});

it('no tool writes what may not be written; it may still be read', async () => {
  const cwd = makeFolder();
  const written: Calls = [
    ['write', { path: 'app/plain.txt', content: '' }],
    ['write', { path: 'door/new.txt', content: '' }],
    ['patch', { path: 'app/plain.txt', edits: [{ old_text: 'none', new_text: 'x' }] }],
    ['bash', { command: 'echo x > app/new.txt' }],
    ['bash', { command: 'rm app/plain.txt' }],
    ['bash', { command: 'tee -a app/plain.txt' }],
    ['bash', { command: 'cd app; touch new.txt' }],
  ];
  const rules = { allow: ['*'], deny: ['write:app/**'] };
  for (const { status, output } of await outcomes(cwd, rules, written))
    assert.equal(status, 'denied', output);
  const read: Calls = [
    ['read', { path: 'app/plain.txt' }],
    ['search', { pattern: 'KEY', path: 'app' }],
    ['bash', { command: 'cat app/plain.txt 2>/dev/null' }],
    ['bash', { command: 'echo app/plain.txt' }],
  ];
  for (const { status, output } of await outcomes(cwd, rules, read)) assert.equal(status, 'ok', output);
});

it('a rule about the path of a link applies to access through it, wherever it leads', async () => {
  const cwd = makeFolder();
  const calls: Calls = [
    ['read', { path: 'door/plain.txt' }],
    ['search', { pattern: 'KEY', path: 'door' }],
    ['write', { path: 'door/plain.txt', content: '' }],
    ['patch', { path: 'door/plain.txt', edits: [{ old_text: 'none', new_text: 'x' }] }],
    ['bash', { command: 'cat door/plain.txt' }],
    ['bash', { command: `echo x > ${cwd}/door/new.txt` }],
  ];
  const rules = { allow: ['*'], deny: ['read:door', 'write:door'] };
  for (const { status, output } of await outcomes(cwd, rules, calls)) assert.equal(status, 'denied', output);
  const beside: Calls = [
    ['read', { path: 'app/plain.txt' }],
    ['bash', { command: `cat ${cwd}/app/plain.txt` }],
  ];
  for (const { status, output } of await outcomes(cwd, rules, beside)) assert.equal(status, 'ok', output);
});

it('a command is not checked for paths that a profile does not mention: bash was allowed as a whole', async () => {
  const cwd = makeFolder();
  const policy = narrow(
    createPolicy({ cli: { allow: ['bash'] } }),
    createProfilePolicy({ allow: ['bash', 'read:app/**'] }),
  );
  assert.deepEqual(callTouches(policy, permissionOf('bash'), 'cat .env', cwd), []);
  assert.equal(decide(policy, permissionOf('bash'), 'cat .env', []).verdict, 'allow');
  assert.equal(decide(policy, permissionOf('read'), '.env').verdict, 'ask');
  const looking = narrow(policy, createProfilePolicy({ deny: ['read:.env'] }));
  const touched = callTouches(looking, permissionOf('bash'), 'cat .env', cwd);
  assert.deepEqual(touched, [{ path: '.env', as: 'read' }]);
  assert.equal(decide(looking, permissionOf('bash'), 'cat .env', touched).verdict, 'deny');
  assert.deepEqual(callTouches(looking, permissionOf('cron'), 'cat .env', cwd), []);
  // Rules about paths do not apply to paths outside the folder.
  assert.deepEqual(callTouches(looking, permissionOf('bash'), 'cat .. ../.env /etc/.env', cwd), []);
});

it('a command that cannot be analysed completely is bound by every rule about a path that it might touch', async () => {
  const cwd = makeFolder();
  const deny = createPolicy({ cli: { allow: ['bash'], deny: ['read:.env'] } });
  const verdict = (policy: Policy, command: string) =>
    decide(policy, permissionOf('bash'), command, callTouches(policy, permissionOf('bash'), command, cwd))
      .verdict;
  const words = (count: number) => Array.from({ length: count }, (_, n) => `file${n}`).join(' ');
  assert.equal(verdict(deny, `ls ${words(1_000)}`), 'allow', 'all of it is looked at');
  assert.equal(verdict(deny, `cat ${words(999)} .env`), 'deny', 'the last one too');
  const padded = {
    'more words than are looked at': `cat ${words(2_000)} .env`,
    'more folders times words': `${'cd app; '.repeat(60)} cat ${words(100)} .env`,
    'more folders than are followed': `${'cd a; '.repeat(1_000)} cat .env`,
    'more text than is read': `cat .env # ${'x'.repeat(40_000)}`,
    'more commands than are read': `${'true; '.repeat(2_100)} cat .env`,
    'a text that is not whole': 'cat .env\n"',
    'a line that goes on': 'cat .en\\\nv',
  };
  for (const [how, command] of Object.entries(padded)) {
    const before = process.cpuUsage();
    assert.equal(verdict(deny, command), 'deny', how);
    assert.ok(process.cpuUsage(before).user < 2_000_000, `${how}: decided quickly`);
    const ask = createPolicy({ cli: { allow: ['bash'], ask: ['read:.env'] } });
    assert.equal(verdict(ask, command), 'ask', how);
    const writes = createPolicy({ cli: { allow: ['bash'], deny: ['write:.env'] } });
    assert.equal(verdict(writes, command), 'deny', `${how}: it might write`);
    assert.equal(verdict(createPolicy({ cli: { allow: ['bash'] } }), command), 'allow', `${how}: no rule`);
    const allowed = createPolicy({ cli: { allow: ['bash', 'read'] }, config: { deny: ['read:.env'] } });
    assert.equal(verdict(allowed, command), 'allow', `${how}: the first source allows every path`);
    const some = createPolicy({ cli: { allow: ['bash', 'read:app/**'] }, config: { deny: ['read:.env'] } });
    assert.equal(verdict(some, command), 'deny', `${how}: the first source allows some paths only`);
  }
  const reasons = {
    [padded['a line that goes on']]: 'a word continued on the next line',
    [padded['a text that is not whole']]: 'it is incomplete',
    [padded['more words than are looked at']]: 'it has too many words',
    [padded['more folders than are followed']]: 'it changes folders too often',
    'cat .env\\': 'a backslash at its end',
  };
  for (const [command, reason] of Object.entries(reasons)) {
    const touched = callTouches(deny, permissionOf('bash'), command, cwd);
    assert.equal(
      decide(deny, permissionOf('bash'), command, touched).rule,
      `deny(read:.env), because it is unclear which files the command touches (${reason}): write it as plain commands`,
    );
  }
  // An opaque part of a command does not hide the analysable part beside it.
  for (const opaque of [
    '$X; cat .env',
    'eval "$X"; cat .env',
    '. ./rc && cat .env',
    'python3 -c "1" | cat .env',
  ])
    assert.equal(verdict(deny, opaque), 'deny', opaque);
});

it('the configuration does not revoke what the command line allows for a path', async () => {
  const cwd = makeFolder();
  const on = await setStage(
    ({ step }) => (step === 0 ? [['search', { pattern: 'KEY', glob: '.env' }]] : 'done'),
    {
      tools: createBuiltInTools(),
      config: {
        cwd,
        permissions: { cli: { ...NONE, allow: ['read'] }, config: { ...NONE, deny: ['read:**/.env'] } },
      },
    },
  );
  const { root } = await on.perform();
  const [result] = await on.results(root);
  assert.ok(result?.output.includes(KEY), result?.output);
});
