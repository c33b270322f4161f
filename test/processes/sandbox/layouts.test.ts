/**
 * Proves that the sandbox withstands attacks that need a certain layout: of a repository and its configuration, of opened and hidden folders within
 * each other, and of a workspace with an unusual place or name. Each is made by a real shell in a real sandbox.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import type { SandboxSettings } from '../../../src/processes/sandbox/sandbox.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { createBashTool } from '../../../src/tools/bash.ts';
import { call, makeWorkspace } from '../../tools/tool-fixture.ts';
import { NO_SANDBOX, testSandbox } from './test-sandbox.ts';

const SECRET = 'canary-71e3';

describe('the sandbox, by layout', { skip: NO_SANDBOX }, () => {
  // Not below /tmp, which a sandbox replaces by a folder of its own.
  const place = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
  const context = makeWorkspace();
  const cwd = join(place, 'work');
  const outside = join(place, 'outside');
  it('that could not be started is tried again, because somebody may have mended it', async () => {
    const sandbox = testSandbox();
    const { PATH } = process.env;
    process.env.PATH = cwd;
    try {
      assert.match((await sandbox.problem()) ?? '', /bubblewrap \(bwrap\) is not installed/);
    } finally {
      process.env.PATH = PATH;
    }
    assert.equal(await sandbox.problem(), null);
  });

  const run = async (command: string, settings: Partial<SandboxSettings> = {}, folder = cwd) =>
    (
      await call(
        createBashTool(testSandbox(settings)) as Tool,
        { command, timeout: 20 },
        { ...context, cwd: folder },
      )
    ).output;
  const put = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
  };
  const git = (folder: string, ...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  /** Whether `git status`, run by a person, executes a program that an attack planted. */
  const looks = (folder: string): boolean => {
    rmSync(join(place, 'ran'), { force: true });
    try {
      git(folder, 'status');
    } catch {
      // The configuration may be broken.
    }
    return existsSync(join(place, 'ran'));
  };
  /** Creates git configuration that names a program, and a repository that has it. */
  const evil = `mkdir -p evil/objects evil/refs; printf '#!/bin/sh\\ntouch ${place}/ran\\n' > evil/run; chmod +x evil/run; printf '[core]\\nrepositoryformatversion = 0\\nfsmonitor = "${cwd}/evil/run"\\n' > evil/config; `;

  beforeEach(() => {
    for (const name of readdirSync(place)) rmSync(join(place, name), { recursive: true, force: true });
    for (const folder of [cwd, outside]) mkdirSync(folder);
    put(join(outside, 'file'), 'theirs');
  });
  after(() => rmSync(place, { recursive: true, force: true }));

  for (const [how, command] of Object.entries({
    'another common repository': `${evil} echo "$PWD/evil" > .git/commondir`,
    'settings of a worktree': `${evil} cp evil/config .git/config.worktree`,
    'settings that its own include': `${evil} cp evil/config shared`,
    'settings that those include': `${evil} cp evil/config deep/more; mv deep d; mkdir -p deep; cp evil/config deep/more`,
  }))
    it(`git runs nothing of an agent afterwards: ${how}`, async () => {
      git(cwd, 'init', '--quiet');
      for (const [key, value] of [
        ['extensions.worktreeConfig', 'true'],
        ['include.path', '../shared'],
      ] as const)
        git(cwd, 'config', '--add', key, value);
      put(join(cwd, 'shared'), '[include]\n\tpath = deep/more\n');
      put(join(cwd, 'deep/more'), '');
      await run(command);
      assert.equal(existsSync(join(cwd, 'evil/run')), true);
      assert.equal(looks(cwd), false);
      assert.equal(existsSync(join(cwd, '.git/commondir')), false);
      assert.equal(existsSync(join(cwd, '.git/config.worktree')), false);
      execFileSync('bash', ['-c', command], { cwd, stdio: 'ignore' });
      assert.equal(looks(cwd), true, 'without the sandbox it would');
    });

  it('git works as it does without what stands in the place of what is missing', async () => {
    git(cwd, 'init', '--quiet', '--initial-branch=main');
    git(cwd, 'config', 'extensions.worktreeConfig', 'true');
    put(join(cwd, 'a'), '1\n');
    const output = await run(
      'export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b; git add a && git commit -qm one && git switch -qc side && echo 2 >> a && git commit -qam two && git switch -q main && git merge -q side && echo 3 >> a && git stash -q && git stash pop -q && git tag t && git reset -q --hard t && git rebase -q side && git log --format=%s; git worktree list | wc -l; git status --short; git rev-parse --show-toplevel --is-bare-repository',
    );
    assert.equal(output, `two\none\n1\n${cwd}\nfalse\n`);
    assert.equal(git(cwd, 'status', '--short'), '');
  });

  it('the folder of hooks that the settings name stays as it is, and so does one that is to come', async () => {
    git(cwd, 'init', '--quiet');
    git(cwd, 'config', 'core.hooksPath', 'tools/hooks');
    put(join(cwd, 'tools/hooks/pre-commit'), 'mine');
    await run(
      'echo x > tools/hooks/pre-commit; mv tools t; mkdir -p tools/hooks; echo x > tools/hooks/pre-commit',
    );
    assert.equal(readFileSync(join(cwd, 'tools/hooks/pre-commit'), 'utf8'), 'mine');
    rmSync(join(cwd, 'tools'), { recursive: true });
    await run('mkdir -p tools/hooks; echo x > tools/hooks/pre-commit');
    assert.equal(existsSync(join(cwd, 'tools')), false);
  });

  it('in a linked worktree neither it nor others are led to another repository', async () => {
    git(outside, 'init', '--quiet');
    git(outside, 'config', 'extensions.worktreeConfig', 'true');
    git(outside, 'add', '--all');
    git(outside, 'commit', '--quiet', '--message', 'first');
    rmSync(cwd, { recursive: true });
    git(outside, 'worktree', 'add', '--quiet', cwd);
    git(outside, 'worktree', 'add', '--quiet', join(place, 'other'));
    const entries = join(outside, '.git/worktrees');
    await run(
      `${evil} cd ${entries}; for e in . .. work other; do echo ${cwd}/evil > $e/commondir; cp ${cwd}/evil/config $e/config.worktree; done; mv other o; mv work w; mv ../worktrees ../w; mkdir -p other work`,
    );
    for (const folder of [cwd, join(place, 'other'), outside]) assert.equal(looks(folder), false, folder);
    assert.match(
      await run(
        'echo 1 > a; git add a; git -c user.name=A -c user.email=a@b commit -qm two; git log --format=%s',
      ),
      /^two\nfirst\n/,
    );
    // The same attack from the main worktree.
    await run(
      `${evil.replaceAll(cwd, outside)} cd .git/worktrees; for e in work other; do echo ${outside}/evil > $e/commondir; done; mv other o; cd ..; mv worktrees w; mkdir -p worktrees/other`,
      {},
      outside,
    );
    for (const folder of [cwd, join(place, 'other'), outside]) assert.equal(looks(folder), false, folder);
  });

  it('a repository within the workspace that its .git file names is protected as well', async () => {
    mkdirSync(join(cwd, 'deep'));
    git(cwd, 'init', '--quiet', '--separate-git-dir=deep/repository');
    await run(
      'echo x > deep/repository/hooks/pre-commit; mv deep/repository/hooks deep/repository/h; mv deep d; mkdir -p deep/repository/hooks; echo x > deep/repository/hooks/pre-commit',
    );
    assert.equal(existsSync(join(cwd, 'deep/repository/hooks/pre-commit')), false);
    assert.equal(git(cwd, 'rev-parse', '--is-inside-work-tree'), 'true\n');
  });

  it('says so where something governing is a link, which could be replaced', async () => {
    for (const link of ['.git', '.coppice', '.git/hooks', '.git/config']) {
      rmSync(cwd, { recursive: true });
      git(place, 'init', '--quiet', cwd);
      mkdirSync(join(cwd, '.coppice'));
      renameSync(join(cwd, link), join(cwd, 'real'));
      symlinkSync(join(cwd, 'real'), join(cwd, link));
      assert.match(
        await run('echo ran'),
        /the sandbox cannot protect .* because it is a symbolic link/,
        link,
      );
    }
  });

  it('calls at once create no repository in the place that another one keeps free', async () => {
    const first = run('while [ ! -e next ]; do sleep 0.02; done');
    while (!existsSync(join(cwd, '.git'))) await new Promise((resolve) => setTimeout(resolve, 5));
    const others = ['git init', 'mkdir .git/objects .git/refs; echo x > .git/HEAD', 'echo x > next'];
    await Promise.all([first, ...others.map((command) => run(command))]);
    assert.deepEqual(readdirSync(cwd), ['next']);
  });

  it('what is hidden stays hidden where a folder around it is opened, and cannot be moved to be seen next time', async () => {
    const data = join(outside, 'data');
    const inner = join(data, 'trees/one');
    put(join(data, 'ledger'), SECRET);
    put(join(outside, 'deep/er/key'), SECRET);
    mkdirSync(inner, { recursive: true });
    const settings = { write: [outside], read: ['/'], hidden: [data, join(outside, 'deep/er')] };
    const command = `cat ${data}/ledger ${outside}/deep/er/key; echo x > ${outside}/new; mv ${outside}/deep ${outside}/d; mv ${data} ${outside}/e; cat ${outside}/d/er/key ${outside}/e/ledger; echo end`;
    for (const mode of ['workspace', 'strict'] as const)
      for (const folder of [inner, cwd]) {
        for (const _ of [1, 2]) {
          const output = await run(command, { ...settings, mode }, folder);
          assert.doesNotMatch(output, new RegExp(SECRET));
          assert.match(output, /^end$/m);
        }
        assert.deepEqual(readdirSync(outside), ['data', 'deep', 'file', 'new']);
      }
  });

  it('what is opened opens nothing else once it has become a link', async () => {
    const cache = join(cwd, 'cache');
    symlinkSync('../outside', cache);
    for (const settings of [{ write: [cache] }, { mode: 'strict', read: [cache] }] as const) {
      await run('echo x > ../outside/file; echo x > cache/file', settings);
      assert.doesNotMatch(await run('cat cache/file', { mode: 'strict', ...settings }), /theirs/);
    }
    assert.equal(readFileSync(join(outside, 'file'), 'utf8'), 'theirs');
    const link = join(place, 'link');
    symlinkSync('outside', link);
    assert.match(await run('echo x > file', {}, link), /is a link to another one now/);
    assert.equal(readFileSync(join(outside, 'file'), 'utf8'), 'theirs');
  });

  it('a workspace that is everything has its processes, its kernel and its /tmp for itself all the same', async () => {
    const mark = `/tmp/coppice-mark-${process.pid}`;
    for (const [folder, settings] of [
      ['/', {}],
      [cwd, { write: ['/'] }],
      [cwd, { read: ['/'] }],
    ] as const) {
      const output = await run(
        `cat /etc/shadow ~/.bash_history; ls /proc | grep -c '^[0-9]'; v=$(cat /proc/sys/vm/swappiness); echo $v > /proc/sys/vm/swappiness && echo written; echo x > ${mark}; cat /proc/${process.pid}/cmdline; ls /dev | wc -l`,
        settings,
        folder,
      );
      assert.doesNotMatch(output, /written|root:|\$/);
      assert.match(output, /^[4-9]$/m, 'its own processes only');
      assert.equal(existsSync(mark), false);
    }
  });

  it('works in folders with odd names', async () => {
    for (const name of [
      'a\nb',
      '-rf',
      '--bind',
      'a:b,c',
      'a\\040b',
      'a\'b"$(x)',
      'x'.repeat(255),
      'é\u202e',
    ]) {
      const folder = join(place, name);
      mkdirSync(folder);
      git(folder, 'init', '--quiet');
      await run('echo x > inside; echo x > .git/hooks/pre-commit; echo x > ../outside/file', {}, folder);
      assert.equal(readFileSync(join(folder, 'inside'), 'utf8'), 'x\n');
      assert.equal(existsSync(join(folder, '.git/hooks/pre-commit')), false);
    }
    assert.equal(readFileSync(join(outside, 'file'), 'utf8'), 'theirs');
    assert.match(await run('echo ran', {}, join(place, 'gone')), /the folder .*gone is gone/);
    assert.equal(statSync(cwd).isDirectory(), true);
  });
});

const FILLED = `
import { openSync } from 'node:fs';
import { sandboxFault } from '${new URL('../../../src/processes/sandbox/sandbox-support.ts', import.meta.url).href}';
process.stdout.write('');
try {
  for (;;) openSync('/dev/null');
} catch {}
console.log(await sandboxFault());
`;

it('where too few files may be open, nobody is told to install the sandbox', { skip: NO_SANDBOX }, () => {
  const limited = ['-c', 'ulimit -n 200; exec "$0" --input-type=module -e "$1"', process.execPath, FILLED];
  assert.equal(
    execFileSync('sh', limited, { encoding: 'utf8' }),
    'the sandbox cannot start: too few files may be open (EMFILE): raise the limit (ulimit -n) and start Coppice again\n',
  );
});
