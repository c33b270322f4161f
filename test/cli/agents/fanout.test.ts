// Proves how sub-agents of tasks appear on the command line: lists omit them unless they are asked for.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

interface Listed {
  readonly agents: readonly {
    readonly id: string;
    readonly name: string;
    readonly parent_id: string | null;
    readonly user_initiated: boolean;
    readonly label: string | null;
    readonly origin: string;
    readonly worktree: { readonly branch: string; readonly path: string } | null;
    readonly state: string;
  }[];
}

it('ps leaves out sub-agents of tasks and says how many; --all and --json list them; tree, show and kill find them', async () => {
  const home = makeHome();
  const tasks = [
    { task: 'slow one', label: 'slow' },
    { task: 'quick one', label: 'quick' },
  ];
  const rules = [
    { when: { root: true, step: 0 }, calls: [{ name: 'spawn_agents', input: { tasks } }] },
    { when: { root: true }, say: 'told {{user}}' },
    { when: { user: '^slow' }, delay_ms: 600_000, say: 'never' },
    { calls: [{ name: 'submit_result', input: { result: 'done with {{user}}' } }] },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const run = home.start([
    'run',
    'begin',
    '--toolset',
    'fanout',
    '--model',
    'scripted:rules.json',
    '--name',
    'lead',
  ]);
  const list = async (...args: string[]) =>
    (JSON.parse((await home.run(['ps', '--json', ...args])).stdout) as Listed).agents;
  await until(
    async () => (await list('--all')).some(({ name, state }) => name === 'quick' && state === 'completed'),
    'the quick one is done and the slow one is not',
  );

  const plain = await home.run(['ps']);
  assert.match(plain.stdout, /\blead\b/);
  assert.doesNotMatch(plain.stdout, /\bslow\b/);
  assert.match(plain.stdout, /^1 agent\nand 1 sub-agent; see all: coppice ps --all$/m);
  assert.deepEqual(
    (await list()).map(({ name, user_initiated }) => [name, user_initiated]),
    [['lead', true]],
  );

  const full = (await home.run(['ps', '--all'])).stdout;
  for (const name of ['slow', 'quick']) assert.match(full, new RegExp(`\\b${name}\\b`));
  const all = await list('--all');
  const lead = all.find(({ name }) => name === 'lead');
  for (const name of ['slow', 'quick']) {
    const child = all.find((agent) => agent.name === name);
    assert.deepEqual(
      [child?.parent_id, child?.user_initiated, child?.label, child?.origin],
      [lead?.id, false, name, 'spawn'],
    );
  }
  assert.match((await home.run(['tree', 'lead'])).stdout, /slow/);
  assert.match((await home.run(['show', 'slow'])).stdout, /^parent +lead/m);

  assert.equal((await home.run(['kill', 'slow', '--yes'])).code, 0);
  const ended = await run.ended;
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stdout, /"failure":\{"error":"Killed by you","error_kind":"killed"\}/);
  assert.match(ended.stdout, /"success":\{"result":"done with quick one"\}/);
});

it('the branch of a worktree is named in ps and show, also when its agent was killed', async () => {
  const home = makeHome();
  const tasks = [{ task: 'slow one', label: 'slow', worktree: true }];
  const rules = [
    { when: { root: true, step: 0 }, calls: [{ name: 'spawn_agents', input: { tasks } }] },
    { when: { root: true }, say: 'told {{user}}' },
    { delay_ms: 600_000, say: 'never' },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: home.work, encoding: 'utf8' });
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '--message', 'first');
  const run = home.start(['run', 'begin', '--toolset', 'fanout', '--model', 'scripted:rules.json']);
  const worktree = async () => {
    const { agents } = JSON.parse((await home.run(['ps', '--all', '--json'])).stdout) as Listed;
    return agents.find(({ name }) => name === 'slow')?.worktree;
  };
  await until(async () => (await worktree()) !== undefined, 'the slow one is there');
  await home.run(['kill', 'slow', '--yes']);
  assert.equal((await run.ended).code, 0);
  const [branch = ''] = git('branch', '--list', '--format=%(refname:short)', 'coppice/*').trim().split('\n');
  const place = await worktree();
  assert.equal(place?.branch, branch);
  assert.ok(existsSync(place.path));
  assert.match((await home.run(['show', 'slow'])).stdout, new RegExp(`^worktree +branch ${branch}$`, 'm'));
});
