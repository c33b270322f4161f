/**
 * Proves that no path leads out of the agent's folder or into protected places: `..`, absolute paths, symbolic links,
 * and links swapped in while tools work. Attacks go through the tools themselves.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { decide } from '../../src/permissions/decide.ts';
import { containPath, openContained, pathInFolder } from '../../src/permissions/path-containment.ts';
import { createPolicy } from '../../src/permissions/policy.ts';
import { permissionSubject } from '../../src/permissions/touched-paths.ts';
import { permissionOf } from '../../src/tools/built-in-permissions.ts';
import { writeContained } from '../../src/tools/files/atomic-write.ts';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { call, makeWorkspace } from '../tools/tool-fixture.ts';

const tools = new Map(createBuiltInTools().map((tool) => [tool.spec.name, tool]));
const tool = (name: string) => tools.get(name)!;

function prepare() {
  const context = makeWorkspace();
  writeFileSync(join(context.outside, 'secret.txt'), 'top secret\n');
  writeFileSync(join(context.cwd, 'plain.txt'), 'plain\n');
  mkdirSync(join(context.cwd, 'folder'));
  return context;
}

const attempts: Record<string, (path: string) => [string, unknown][]> = {
  all: (path) => [
    ['read', { path }],
    ['read_image', { path }],
    ['search', { pattern: 'secret', path }],
    ['write', { path, content: 'overwritten' }],
    ['patch', { path, edits: [{ old_text: 'top', new_text: 'overwritten' }] }],
  ],
};

test('a path that no program can open is refused before its thousands of components are looked up', () => {
  const { cwd } = makeWorkspace();
  assert.throws(() => containPath(cwd, `${'a/'.repeat(16_000)}x`), /^Error: the path is too long$/);
  assert.throws(() => containPath(cwd, 'b'.repeat(4_097)), /^Error: the path is too long$/);
  assert.equal(containPath(cwd, `${'a/../'.repeat(2_000)}x`).relative, 'x');
  assert.equal(containPath(cwd, 'a/'.repeat(1_500)).exists, false);
});

test('.., absolute paths, links to files and folders outside: refused by every tool, with path and folder', async () => {
  const context = prepare();
  symlinkSync(context.outside, join(context.cwd, 'link-folder'));
  symlinkSync(join(context.outside, 'secret.txt'), join(context.cwd, 'link-file'));
  symlinkSync('link-folder', join(context.cwd, 'link-to-link'));
  symlinkSync('../../outside', join(context.cwd, 'folder', 'relative'));
  const paths = [
    '../outside/secret.txt',
    'folder/../../outside/secret.txt',
    join(context.outside, 'secret.txt'),
    'link-folder/secret.txt',
    'link-file',
    'link-to-link/secret.txt',
    'folder/relative/secret.txt',
    `${context.cwd}-sibling/x`,
    '/',
  ];
  for (const path of paths) {
    for (const [name, input] of attempts.all!(path)) {
      const result = await call(tool(name), input, context);
      assert.equal(result.status, 'error', `${name} ${path}`);
      assert.match(result.output, /outside your folder/, `${name} ${path}`);
      assert.ok(result.output.includes(context.cwd) && !result.output.includes('top secret'));
    }
  }
  assert.equal(readFileSync(join(context.outside, 'secret.txt'), 'utf8'), 'top secret\n');
});

test('new files cannot be created through a link, not even a dangling one', async () => {
  const context = prepare();
  symlinkSync(context.outside, join(context.cwd, 'out'));
  symlinkSync(join(context.outside, 'not-yet'), join(context.cwd, 'dangling'));
  symlinkSync('loop', join(context.cwd, 'loop'));
  for (const path of [
    'out/new.txt',
    'out/deep/er/new.txt',
    'dangling',
    'dangling/new.txt',
    'loop',
    'loop/new.txt',
  ]) {
    assert.equal((await call(tool('write'), { path, content: 'x' }, context)).status, 'error', path);
  }
  assert.equal(existsSync(join(context.outside, 'new.txt')), false);
  assert.equal(existsSync(join(context.outside, 'deep')), false);
  assert.equal(existsSync(join(context.outside, 'not-yet')), false);
});

test('links that stay inside work, and writing through one changes its target', async () => {
  const context = prepare();
  symlinkSync('plain.txt', join(context.cwd, 'inside'));
  symlinkSync(context.cwd, join(context.cwd, 'self'));
  assert.equal((await call(tool('read'), { path: 'self/self/inside' }, context)).output, '1\tplain');
  assert.equal((await call(tool('write'), { path: 'inside', content: 'new' }, context)).status, 'ok');
  assert.equal(readFileSync(join(context.cwd, 'plain.txt'), 'utf8'), 'new');
});

test('a hard link to a file outside is replaced, not written through', async () => {
  const context = prepare();
  linkSync(join(context.outside, 'secret.txt'), join(context.cwd, 'hard'));
  assert.equal((await call(tool('write'), { path: 'hard', content: 'mine' }, context)).status, 'ok');
  assert.equal(readFileSync(join(context.outside, 'secret.txt'), 'utf8'), 'top secret\n');
});

test('a path swapped for a link after the check is noticed on the handle', () => {
  const context = prepare();
  writeFileSync(join(context.cwd, 'folder', 'secret.txt'), 'harmless');
  const file = containPath(context.cwd, 'folder/secret.txt');
  const last = containPath(context.cwd, 'plain.txt');
  const made = containPath(context.cwd, 'folder/made.txt');
  renameSync(join(context.cwd, 'folder'), join(context.cwd, 'moved'));
  symlinkSync(context.outside, join(context.cwd, 'folder'));
  unlinkSync(join(context.cwd, 'plain.txt'));
  symlinkSync(join(context.outside, 'secret.txt'), join(context.cwd, 'plain.txt'));
  assert.throws(() => openContained(file), /changed while it was being opened/);
  assert.throws(() => openContained(last), /changed while it was being opened/);
  assert.throws(() => writeContained(made, 'x'), /changed while it was being opened/);
  assert.throws(() => writeContained(last, 'x'), /not a regular file/);
  assert.equal(existsSync(join(context.outside, 'made.txt')), false);
  assert.equal(readFileSync(join(context.outside, 'secret.txt'), 'utf8'), 'top secret\n');
});

test('where a handle cannot be resolved, its file must be the one at the path', (t) => {
  const { platform } = process;
  t.after(() => Object.defineProperty(process, 'platform', { value: platform }));
  const context = prepare();
  writeFileSync(join(context.cwd, 'folder', 'inner.txt'), 'inside');
  writeFileSync(join(context.outside, 'inner.txt'), 'outside');
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  const [file, plain] = [containPath(context.cwd, 'folder/inner.txt'), containPath(context.cwd, 'plain.txt')];
  for (const one of [file, plain]) closeSync(openContained(one));
  const folder = openContained(containPath(context.cwd, 'folder'));
  assert.equal(pathInFolder(folder, dirname(file.absolute), 'inner.txt'), file.absolute);
  closeSync(folder);
  renameSync(join(context.cwd, 'folder'), join(context.cwd, 'moved'));
  symlinkSync(context.outside, join(context.cwd, 'folder'));
  assert.throws(() => openContained(file), /changed while it was being opened/);
  // The same file, but its path now leads through a symbolic link.
  rmSync(join(context.cwd, 'folder'));
  symlinkSync(join(context.cwd, 'moved'), join(context.cwd, 'folder'));
  assert.throws(() => openContained(file), /changed while it was being opened/);
});

test('a folder that is swapped continuously never lets a read or write out', async (t) => {
  const context = prepare();
  writeFileSync(join(context.cwd, 'folder', 'secret.txt'), 'harmless\n');
  const swaps = new SharedArrayBuffer(8);
  const source = `
    const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
    const { folder, aside, outside, swaps } = require('node:worker_threads').workerData;
    const state = new Int32Array(swaps);
    const attempt = (step) => { try { step(); return true; } catch { return false; } };
    while (Atomics.load(state, 1) === 0) {
      renameSync(folder, aside);
      // The tool may make the missing folder anew at any moment; then this round has no link.
      if (attempt(() => symlinkSync(outside, folder))) { Atomics.add(state, 0, 1); unlinkSync(folder); }
      do attempt(() => rmSync(folder, { recursive: true, force: true }));
      while (!attempt(() => renameSync(aside, folder)));
    }`;
  const folder = join(context.cwd, 'folder');
  const workerData = { folder, aside: join(context.cwd, 'aside'), outside: context.outside, swaps };
  const worker = new Worker(source, { eval: true, workerData });
  t.after(() => worker.terminate());
  const state = new Int32Array(swaps);
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const failed = new Promise<never>((_, reject) => worker.once('error', reject));
  const outcomes = new Set<string>();
  const [enough, deadline] = [performance.now() + 1_500, performance.now() + 60_000];
  const met = () => Atomics.load(state, 0) > 10 && outcomes.size === 2;
  while (performance.now() < (met() ? enough : deadline)) {
    const read = await call(tool('read'), { path: 'folder/secret.txt' }, context);
    assert.ok(!read.output.includes('top secret'));
    outcomes.add(read.status);
    const written = await call(tool('write'), { path: 'folder/made.txt', content: 'x' }, context);
    outcomes.add(written.status);
    await new Promise((resolve) => setImmediate(resolve));
  }
  Atomics.store(state, 1, 1);
  await Promise.race([ended, failed]);
  assert.ok(Atomics.load(state, 0) > 10, 'the swaps must have happened');
  assert.deepEqual(
    [...outcomes].sort(),
    ['error', 'ok'],
    'some calls must have met the link, some the folder',
  );
  assert.deepEqual(existsSync(join(context.outside, 'made.txt')), false);
});

test('CVE-2026-25725: settings of the runtime and control files of git cannot be made by tools that write', async () => {
  const context = prepare();
  symlinkSync('.coppice', join(context.cwd, 'harmless'));
  mkdirSync(join(context.cwd, '.coppice'));
  mkdirSync(join(context.cwd, '.git', 'hooks'), { recursive: true });
  symlinkSync('.git/hooks', join(context.cwd, 'scripts'));
  writeFileSync(join(context.cwd, '.git', 'config'), 'top');
  const paths = [
    '.coppice/settings.json',
    'folder/.coppice/settings.json',
    'folder/../.coppice/settings.json',
    'harmless/settings.json',
    '.COPPICE/settings.json',
    '.coppice',
    '.git/hooks/pre-commit',
    'scripts/pre-commit',
    '.git/config',
    '.Git/config',
    'folder/.git/hooks/post-checkout',
    'folder/.git',
    '.g\u200cit/config',
    '.git ./config',
    '.config/coppice/config.json',
    'folder/.local/share/coppice/trust.json',
    '.LOCAL/share/Coppice/trust.json',
  ];
  for (const path of paths) {
    for (const [name, input] of attempts.all!(path).slice(3)) {
      const result = await call(tool(name), input, context);
      assert.equal(result.status, 'error', `${name} ${path}`);
      if (name === 'write') assert.match(result.output, /protected/, path);
    }
  }
  const left = execFileSync('find', ['.coppice', '.git', 'folder', '-type', 'f'], {
    cwd: context.cwd,
    encoding: 'utf8',
  });
  assert.equal(left, '.git/config\n');
  assert.equal(readFileSync(join(context.cwd, '.git', 'config'), 'utf8'), 'top');
  assert.equal((await call(tool('read'), { path: '.git/config' }, context)).output, '1\ttop');
});

test('CVE-2026-25724: a link does not get around a deny rule, at the decision or at the use', async () => {
  const context = prepare();
  writeFileSync(join(context.cwd, 'folder', 'private.txt'), 'private words\n');
  symlinkSync('folder/private.txt', join(context.cwd, 'public.txt'));
  symlinkSync('folder', join(context.cwd, 'open'));
  const policy = createPolicy({
    cli: { allow: ['*'], deny: ['read:folder/private.txt', 'search:folder/private.txt'] },
  });
  const read = tool('read');
  for (const path of [
    'public.txt',
    'open/private.txt',
    'open/../folder/./private.txt',
    join(context.cwd, 'public.txt'),
  ]) {
    assert.equal(
      decide(policy, permissionOf('read'), permissionSubject(read, { path }, context.cwd)).verdict,
      'deny',
      path,
    );
  }
  assert.equal(
    decide(policy, permissionOf('read'), permissionSubject(read, { path: 'plain.txt' }, context.cwd)).verdict,
    'allow',
  );

  const denied = (name: string, path: string) => {
    const decision = decide(policy, permissionOf(name), path);
    return decision.verdict === 'deny' ? decision.rule : undefined;
  };
  assert.match(
    (await call(tool('read'), { path: 'public.txt' }, { ...context, denied })).output,
    /denied by the rule deny\(read:folder\/private\.txt\)/,
  );
  writeFileSync(join(context.cwd, 'folder', 'public.txt'), 'public words\n');
  assert.equal(
    (await call(tool('search'), { pattern: 'words' }, { ...context, denied })).output,
    'folder/public.txt:1: public words',
  );
});

test('pipes and devices are refused without hanging', async () => {
  const context = prepare();
  execFileSync('mkfifo', [join(context.cwd, 'pipe')]);
  for (const [name, input] of attempts.all!('pipe')) {
    assert.equal((await call(tool(name), input, context)).status, 'error', name);
  }
});

test('a missing folder, empty names and NUL are explained', async () => {
  const context = prepare();
  assert.match((await call(tool('read'), { path: 'a\0b' }, context)).output, /NUL/);
  assert.match((await call(tool('read'), { path: '' }, context)).output, /field "path"/);
  assert.match((await call(tool('read'), { path: 'x'.repeat(5000) }, context)).output, /too long/);
  // The normalised path is short, but no system opens it as written.
  const long_way = `${'a/../'.repeat(60_000)}notes.txt`;
  assert.match((await call(tool('read'), { path: long_way }, context)).output, /too long/);
  rmSync(context.cwd, { recursive: true });
  assert.equal((await call(tool('write'), { path: 'x', content: '' }, context)).status, 'error');
});
