// Proves with real git that `coppice gc` removes worktrees that are merged or hold no work, and keeps and lists the others with commands that work.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { runGit } from '../runtime/worktree/git-repository.ts';
import { type Home, makeHome } from './run-cli.ts';

const NAMES = ['merged', 'open', 'idles'] as const;
const writes = (agent: string) => ({
  when: { agent, step: 0 },
  calls: [{ name: 'write', input: { path: `${agent}.txt`, content: `${agent}\n` } }],
});
const RULES = {
  rules: [
    {
      when: { root: true, step: 0 },
      calls: NAMES.map((name) => ({ name: 'fork', input: { name, prompt: name, worktree: true } })),
    },
    writes('merged'),
    writes('open'),
    { say: 'done' },
  ],
};
const NOW = ['--older-than', '0s'];

describe('coppice gc and worktrees', () => {
  let home: Home;
  let places: Record<string, { readonly path: string; readonly branch: string; readonly id: string }>;
  const coppice = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run(args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const branches = () => runGit(home.work, 'branch', '--list', '--format=%(refname:short)', 'coppice/*');
  const there = () => NAMES.filter((name) => existsSync(places[name]!.path));

  beforeEach(async () => {
    home = makeHome();
    writeFileSync(join(home.folder, 'rules.json'), JSON.stringify(RULES));
    writeFileSync(join(home.work, 'a.txt'), 'one\n');
    runGit(home.work, 'init', '--quiet', '--initial-branch', 'main');
    runGit(home.work, 'add', '--all');
    runGit(home.work, 'commit', '--quiet', '--message', 'first');
    await coppice('run', 'go', '--allow', 'write', '--model', `scripted:${join(home.folder, 'rules.json')}`);
    await coppice('merge', 'merged');
    places = {};
    for (const name of NAMES) {
      const { id, worktree } = JSON.parse(await coppice('show', name, '--json'));
      places[name] = { id, ...worktree };
    }
  });

  it('removes those of agents that have ended, and keeps what is not merged until it is', async () => {
    assert.equal(await coppice('gc', ...NOW), 'nothing is old enough to be removed\n');
    assert.deepEqual(there(), NAMES, 'their agents rest, and may get more work');

    for (const name of NAMES) await coppice('kill', name, '-y');
    assert.equal(await coppice('gc'), 'nothing is old enough to be removed\n');
    const { path, branch, id } = places.open!;
    const stays = `stays: worktree ${branch} of open: not all of it is committed\n  merge it:  coppice merge ${id.slice(0, 8)}\n  remove it: git -C ${path} worktree remove --force ${path}\n`;
    assert.equal(await coppice('gc', '--dry-run', ...NOW), `would remove 2 worktrees\n${stays}`);
    assert.deepEqual(there(), NAMES);
    assert.equal(await coppice('gc', ...NOW), `removed 2 worktrees\n${stays}`);
    assert.deepEqual([there(), branches()], [['open'], `${branch}\n`]);

    runGit(path, 'add', '--all');
    runGit(path, 'commit', '--quiet', '--message', 'own');
    const { worktrees } = JSON.parse(await coppice('gc', '--json', ...NOW));
    assert.deepEqual(
      worktrees.map(({ name, kept }: Record<string, unknown>) => [name, kept]),
      [['open', 'its branch is not merged']],
    );
    const remote = join(home.folder, 'remote.git');
    runGit(home.work, 'init', '--quiet', '--bare', remote);
    runGit(home.work, 'remote', 'add', 'origin', remote);
    runGit(path, 'push', '--quiet', 'origin', branch);
    runGit(home.work, 'fetch', '--quiet', 'origin');
    assert.match(
      await coppice('gc', ...NOW),
      /^nothing .*\nstays: .*: its branch is not merged\n/,
      'only pushed',
    );
    await coppice('merge', id.slice(0, 8));
    assert.equal(await coppice('gc', ...NOW), 'removed 1 worktree\n');
    assert.deepEqual([there(), branches()], [[], '']);
    assert.ok(existsSync(join(home.work, 'open.txt')));
  });

  it('removes those of a tree that goes, and never what holds work or may belong to another ledger', async () => {
    const { path, branch } = places.open!;
    runGit(path, 'add', '--all');
    runGit(path, 'commit', '--quiet', '--message', 'own');
    const kept = (why: string, merge: string, of = '') =>
      `stays: worktree ${branch}${of}: ${why}\n  merge it:  ${merge}\n  remove it: git -C ${path} worktree remove --force ${path}\n`;
    const first = await coppice('gc', '--idle', ...NOW);
    assert.match(first, /\nremoved 1 tree, 4 agents, .*2 worktrees\n/);
    assert.ok(first.endsWith(kept('its branch is not merged', `git merge ${branch}`, ' of open')), first);
    assert.deepEqual([there(), branches()], [['open'], `${branch}\n`]);

    const unknown = kept('no agent of this ledger worked in it', `git merge ${branch}`);
    assert.equal(await coppice('gc', ...NOW), `nothing is old enough to be removed\n${unknown}`);
    const [, remove = ''] = /remove it: (.*)/.exec(unknown) ?? [];
    runGit(home.work, 'merge', '--quiet', branch);
    execFileSync('/bin/sh', ['-c', remove], { cwd: home.work });
    assert.deepEqual(there(), []);
    assert.ok(existsSync(join(home.work, 'open.txt')));
  });

  it('a worktree in which a person began another tree stays as long as that one lives', async () => {
    const { path } = places.merged!;
    const rules = join(home.folder, 'visit.json');
    writeFileSync(rules, JSON.stringify({ rules: [{ say: 'seen' }] }));
    await coppice('--cwd', path, 'run', 'look', '--name', 'visitor', '--model', `scripted:${rules}`);
    await coppice('kill', 'merged', '-y');
    assert.equal(await coppice('gc', ...NOW), 'nothing is old enough to be removed\n');
    await coppice('kill', 'visitor', '-y');
    assert.match(await coppice('gc', ...NOW), /removed 1 tree, .*, 1 worktree\n$/);
    assert.equal(existsSync(path), false);
  });
});
