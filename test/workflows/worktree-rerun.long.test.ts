// Proves that an agent in a worktree is continued there however often its run is run again, and that a run which ended before it began holds no worktree.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { steeredHome } from './steered-run.ts';

after(closeOpened);

it('continues in its worktree what a rerun had continued, and what one had begun to continue that ended', async () => {
  const home = await steeredHome();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      ...{ cwd: home.work, encoding: 'utf8' },
    });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  const body = "return agent('listen enough', { isolation: 'worktree', label: 'tree' })";
  const path = home.script('chain', body);
  let asked = 0;
  const works = async () => {
    await until(() => (home.asked.get('listen enough') ?? 0) > asked + 1, 'it works');
    return (await home.show('chain')).id;
  };
  const end = async (run: string, ended: Promise<unknown>) => {
    await home.run(['kill', run]);
    await ended;
    asked = home.asked.get('listen enough') ?? 0;
  };
  const first = home.start(['workflow', 'run', path, '--yes']);
  const run = await works();
  await end(run, first.ended);
  const second = home.start(['workflow', 'rerun', run]);
  const rerun = await works();
  await end(rerun, second.ended);
  // As if a process had died between what it said and its first step.
  const held = home.start(['workflow', 'run', home.script('other', "return agent('hold x')"), '--yes']);
  await home.isHeld('x');
  const { id: other } = await home.show('other');
  const claims = join(home.work, git('rev-parse', '--git-path', 'worktrees').trim());
  const [tree = ''] = readdirSync(claims);
  symlinkSync(other, join(claims, tree, `taken-${rerun}`));
  const refused = await home.run(['workflow', 'rerun', rerun]);
  assert.match(refused.stdout, /is not run twice: another run begins to continue it; rerun with --fresh/);
  await home.run(['kill', other]);
  await held.ended;
  const third = home.start(['workflow', 'rerun', rerun]);
  const last = await works();
  const [before] = (await home.show(last)).agents ?? [];
  assert.equal((await home.run(['workflow', 'retry', before?.id ?? ''])).code, 0);
  assert.equal(readdirSync(claims).length, 1, 'all work in one worktree');
  const now = async () => (await home.show(last)).agents?.find(({ id }) => id !== before?.id);
  await until(async () => (await now()) !== undefined, 'its successor');
  await home.run(['send', (await now())?.id ?? '', 'enough']);
  const { code, stdout, stderr } = await third.ended;
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /enough/);
  assert.ok(!existsSync(claims), 'what they said of the worktree has gone with it');
});
