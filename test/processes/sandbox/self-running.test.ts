/**
 * Proves that commands leave nothing in their folder that runs later by itself, outside of the sandbox: settings of editors and agent programs, what git
 * reads of submodules, programs that a stopped rebase plans. Real shells in real sandboxes, and a real git that a person uses afterwards.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
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

/** By the name of a place: a file in it, or the place itself, that something runs by itself. */
const SELF_RUNNING = [
  '.husky/pre-commit',
  '.vscode/tasks.json',
  '.vscode/settings.json',
  '.vscode/launch.json',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/hooks/run.sh',
  '.cursor/hooks.json',
  '.mcp.json',
  '.zed/tasks.json',
  '.idea/startup.xml',
  '.idea/runConfigurations/x.xml',
  '.devcontainer/devcontainer.json',
  '.gemini/settings.json',
  '.codex/config.toml',
  '.qwen/settings.json',
  'opencode.json',
  '.opencode/plugin/x.js',
  '.exrc',
  '.nvim.lua',
  '.dir-locals.el',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.hg/hgrc',
];

describe('what would run by itself', { skip: NO_SANDBOX }, () => {
  // Not below /tmp, which a sandbox replaces by a folder of its own.
  const place = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
  const [cwd, outside, ran] = ['work', 'outside', 'ran'].map((name) => join(place, name)) as [
    string,
    string,
    string,
  ];
  const context = makeWorkspace();
  const run = async (command: string, settings: Partial<SandboxSettings> = {}) => {
    const tool = createBashTool(testSandbox(settings)) as Tool;
    return (await call(tool, { command, timeout: 30 }, { ...context, cwd })).output;
  };
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  /** Git as a person runs it. Returns what it says. */
  const git = (folder: string, ...args: string[]) => {
    const own = ['-c', 'user.name=A', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always'];
    const { stdout, stderr } = spawnSync('git', ['-C', folder, ...own, ...args], { encoding: 'utf8' });
    return stdout + stderr;
  };
  const as =
    'export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b GIT_EDITOR=true; ';

  beforeEach(() => {
    for (const path of [cwd, outside, ran]) rmSync(path, { recursive: true, force: true });
    for (const path of [cwd, outside]) mkdirSync(path);
    for (const text of ['one', 'two']) {
      git(cwd, 'init', '--quiet', '--initial-branch=main');
      put(join(cwd, 'a'), `${text}\n`);
      git(cwd, 'add', 'a');
      git(cwd, 'commit', '--quiet', '--message', text);
    }
  });
  after(() => rmSync(place, { recursive: true, force: true }));

  it('where there is none, it is set aside when the command ends, and the result says where it is', async () => {
    const output = await run(
      SELF_RUNNING.map((path) => `mkdir -p $(dirname ${path}); echo planted > ${path}`).join('; '),
    );
    for (const path of SELF_RUNNING) assert.equal(existsSync(join(cwd, path)), false, path);
    assert.match(
      output,
      /\[\.vscode\/tasks\.json was set aside as .*\/work\/\.vscode\/tasks\.json\.set-aside: .*"sandbox\.unprotect": \["\.vscode\/tasks\.json"\]/,
    );
    assert.equal(readFileSync(join(cwd, '.vscode/tasks.json.set-aside'), 'utf8'), 'planted\n');
    await run('echo again > .mcp.json');
    assert.equal(readFileSync(join(cwd, '.mcp.json.set-aside-2'), 'utf8'), 'again\n');
  });

  it('what is there can be neither changed nor replaced', async () => {
    for (const path of SELF_RUNNING) put(join(cwd, path), 'mine');
    const output = await run(
      SELF_RUNNING.map((path) => {
        const [top = '', ...rest] = path.split('/');
        return `echo x > ${path}; rm -rf ${path}; echo x > y; mv y ${path}; mv ${top} moved-${top}; mkdir -p $(dirname ${path}); echo x > ${path}${rest.length === 0 ? '' : `; ln -sfn evil ${top}`}`;
      }).join('; '),
    );
    for (const path of SELF_RUNNING) assert.equal(readFileSync(join(cwd, path), 'utf8'), 'mine', path);
    assert.match(output, /Read-only file system/);
  });

  it('links do not lead around it, and what they lead to outside stays where it is', async () => {
    put(join(outside, 'tasks.json'), 'theirs');
    put(join(cwd, '.zed/other'), '');
    const output = await run(
      `ln -s later .mcp.json; ln -s ${outside} .vscode; mkdir evil; echo x > evil/tasks.json; rm -r .zed; ln -s evil .zed; ln -s gone .claude; ln -s .husky .husky`,
    );
    for (const name of ['.mcp.json', '.vscode', '.zed', '.husky']) {
      assert.equal(existsSync(join(cwd, name)), false, name);
      assert.ok(output.includes(`[${name} was set aside`), output);
    }
    assert.deepEqual(readdirSync(outside), ['tasks.json']);
    await run('mkdir gone; echo x > gone/settings.json');
    assert.equal(existsSync(join(cwd, '.claude/settings.json')), false);
  });

  it('a link of a person that was there stays, and so does what it leads to', async () => {
    put(join(cwd, 'shared/settings.json'), 'mine');
    symlinkSync('shared', join(cwd, '.claude'));
    const output = await run(
      'echo x > shared/settings.json; echo x > .claude/settings.json; echo fine > shared/note',
    );
    assert.equal(readFileSync(join(cwd, '.claude/settings.json'), 'utf8'), 'mine');
    assert.doesNotMatch(output, /set aside/);
  });

  it('what the user opened may be written', async () => {
    const output = await run('mkdir .vscode; echo x > .vscode/tasks.json; echo x > .mcp.json', {
      unprotected: ['.vscode'],
    });
    assert.equal(existsSync(join(cwd, '.vscode/tasks.json')), true);
    assert.equal(existsSync(join(cwd, '.mcp.json')), false);
    assert.doesNotMatch(output, /tasks\.json/);
  });

  it('nothing stands in for what is missing while a command runs', async () => {
    assert.equal(await run('git status --short; ls -A'), '.coppice\n.git\na\n');
  });

  it('of submodules git runs nothing of an agent, and commits in them work', async () => {
    git(outside, 'init', '--quiet');
    git(outside, 'commit', '--quiet', '--allow-empty', '--message', 's');
    git(cwd, 'submodule', 'add', '--quiet', outside, 'sub');
    git(cwd, 'submodule', 'add', '--quiet', '--name', 'libs/deep', outside, 'deep');
    git(cwd, 'commit', '--quiet', '--message', 'submodules');
    const planted = `[core]\\n\\tfsmonitor = "touch ${ran}; false"\\n`;
    for (const module of ['sub', 'libs/deep']) {
      const path = `.git/modules/${module}`;
      await run(
        `printf '${planted}' >> ${path}/config; printf '#!/bin/sh\\ntouch ${ran}' > ${path}/hooks/post-checkout; chmod +x ${path}/hooks/post-checkout; mkdir -p evil/objects evil/refs; cp ${path}/config evil/config; printf '${planted}' >> evil/config; echo $PWD/evil > ${path}/commondir; mv ${path} ${path}-old; cp -r ${path}-old ${path}; printf '${planted}' >> ${path}/config; mv .git/modules .git/m; mkdir -p .git/modules`,
      );
      git(cwd, 'status');
      git(join(cwd, module === 'sub' ? 'sub' : 'deep'), 'checkout', '--quiet', '--detach');
      assert.equal(existsSync(ran), false, module);
    }
    assert.match(
      await run(
        `${as}cd sub; echo x > x; git add x; git commit -qm inside; git log --format=%s; cd ..; git add sub; git commit -qm outside; git log --format=%s`,
      ),
      /^inside\ns\noutside\n/,
    );
    assert.match(await run('mkdir -p .git/modules/new .git/modules/libs/new'), /Read-only file system/);
    assert.deepEqual(readdirSync(join(cwd, '.git/modules')).toSorted(), ['libs', 'sub']);
  });

  it('where there are no submodules, no repository can be prepared for one', async () => {
    const output = await run(
      'mkdir -p .git/modules/sub/hooks; git init -q --bare .git/modules/sub; echo x > .git/remotes/origin; echo x > .git/branches/origin',
    );
    assert.match(output, /Read-only file system/);
    assert.equal(existsSync(join(cwd, '.git/modules')), false);
    assert.equal(existsSync(join(cwd, '.git/remotes')), false);
  });

  it('settings that the repository includes from its own folder cannot be changed', async () => {
    git(cwd, 'config', 'include.path', 'more/settings');
    put(join(cwd, '.git/more/settings'), '[alias]\n\tx = status\n');
    await run(
      `printf '[core]\\n\\tfsmonitor = "touch ${ran}; false"\\n' > .git/more/settings; mv .git/more .git/m; mkdir .git/more; printf '[core]\\n\\tfsmonitor = "touch ${ran}; false"\\n' > .git/more/settings`,
    );
    git(cwd, 'status');
    assert.equal(existsSync(ran), false);
  });

  const stops = (plan: string) =>
    `${as}GIT_SEQUENCE_EDITOR="printf '${plan}' >" git rebase -i HEAD~1 2>&1; git status | head -2`;
  for (const [how, command] of Object.entries({
    'an exec line': stops(`break\\nexec touch ${ran}\\n`),
    'its short form, indented': stops(`break\\n \\tx\\ttouch ${ran}\\n`),
    'a rebase that git did not begin': `${stops('break\\n')}; echo "exec touch ${ran}" >> .git/rebase-merge/git-rebase-todo`,
    'a link': `${stops('break\\n')}; printf 'exec touch ${ran}\\n' > plan; rm .git/rebase-merge/git-rebase-todo; ln -s $PWD/plan .git/rebase-merge/git-rebase-todo`,
    'a linked folder': `${stops('break\\n')}; mv .git/rebase-merge moved; ln -s $PWD/moved .git/rebase-merge; printf 'exec touch ${ran}\\n' > moved/git-rebase-todo`,
    'a plan that is long': `${stops('break\\n')}; (yes '# x' | head -n 400000; echo "exec touch ${ran}") > .git/rebase-merge/git-rebase-todo`,
  }))
    it(`a stopped rebase runs nothing when a person continues it: ${how}`, async () => {
      const output = await run(command);
      assert.match(
        output,
        /rebase in progress[\s\S]*git-rebase-todo was set aside as|rebase-merge was set aside as/,
      );
      git(cwd, 'rebase', '--continue');
      assert.equal(existsSync(ran), false);
    });

  it('nor in a linked worktree, or in the repository that it shares', async () => {
    git(cwd, 'worktree', 'add', '--quiet', '-b', 'side', outside.concat('/tree'));
    const plan = join(cwd, '.git/rebase-merge/git-rebase-todo');
    const tool = createBashTool(testSandbox()) as Tool;
    const command = `${stops(`break\\nexec touch ${ran}\\n`)}; mkdir ${dirname(plan)}; echo "exec touch ${ran}" > ${plan}`;
    await call(tool, { command, timeout: 30 }, { ...context, cwd: join(outside, 'tree') });
    assert.doesNotMatch(readFileSync(plan, 'utf8'), /exec/);
    git(join(outside, 'tree'), 'rebase', '--continue');
    assert.equal(existsSync(ran), false);
    assert.match(git(join(outside, 'tree'), 'status'), /On branch side/);
  });

  it('a pipe in the place of the plan does not hold the process', async () => {
    await run('mkdir .git/rebase-merge; mkfifo .git/rebase-merge/git-rebase-todo');
    assert.equal(await run('echo on'), 'on\n');
  });

  it('what a person planned stays, and rebases work, with a stop for a conflict', async () => {
    git(cwd, 'switch', '--quiet', '--create', 'side', 'HEAD~1');
    put(join(cwd, 'a'), 'side\n');
    git(cwd, 'commit', '--quiet', '--all', '--message', 'side');
    const stopped = await run(`${as}git rebase main; git status | head -1`);
    assert.match(stopped, /CONFLICT/);
    assert.doesNotMatch(stopped, /set aside/);
    assert.match(
      await run(`${as}echo both > a; git add a; git rebase --continue; git log --format=%s`),
      /side\ntwo\none\n/,
    );
    const person = `sed -i '1i break' "$1"`;
    put(join(place, 'editor'), `#!/bin/sh\n${person}\n`);
    spawnSync('chmod', ['+x', join(place, 'editor')]);
    git(
      cwd,
      '-c',
      `sequence.editor=${join(place, 'editor')}`,
      'rebase',
      '-i',
      '--exec',
      `touch ${ran}`,
      'HEAD~1',
    );
    assert.doesNotMatch(await run('git status'), /set aside/);
    git(cwd, 'rebase', '--continue');
    assert.equal(existsSync(ran), true, 'the plan of a person is run');
  });

  it('the attacks would do harm without the sandbox', async () => {
    const bare = createBashTool(null) as Tool;
    await call(bare, { command: stops(`break\\nexec touch ${ran}\\n`), timeout: 30 }, { ...context, cwd });
    git(cwd, 'rebase', '--continue');
    assert.equal(existsSync(ran), true);
  });
});
