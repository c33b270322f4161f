/** Proves that a deny rule on commands holds: no way to run `rm x` that works in a real bash is allowed; ordinary commands are. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decide } from '../../../src/permissions/decide.ts';
import { createPolicy } from '../../../src/permissions/policy.ts';
import { permissionOf } from '../../../src/tools/built-in-permissions.ts';
import { DEEP } from '../../house/deep.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { deleting, ordinary, reaching } from './command-forms.ts';

const policy = createPolicy({ cli: { allow: ['bash'], deny: ['bash:rm *'] } });
const verdict = (command: string): string => decide(policy, permissionOf('bash'), command).verdict;

/** Runs the command as the bash tool does; true when it deleted `x`. */
async function deletes(command: string): Promise<boolean> {
  const folder = temporaryFolder();
  for (const [name, text] of [
    ['x', ''],
    ['s.sh', 'rm x\n'],
    ['names', 'x\n'],
    ['m', 'a:\n\t$(V)\n'],
  ] as const)
    writeFileSync(join(folder, name), text);
  if (command.includes('repo')) {
    mkdirSync(join(folder, 'repo'));
    const git = (...args: string[]) =>
      spawnSync('git', ['-C', join(folder, 'repo'), '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'a');
  }
  const child = spawn('bash', ['-c', 'exec 2>&1; eval "set --;$1"', 'bash', command], {
    cwd: folder,
    stdio: 'ignore',
    detached: true,
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: folder },
  });
  const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 5000);
  await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(late);
  try {
    // Stops what the command left running.
    process.kill(-child.pid!, 'SIGKILL');
  } catch {}
  return !existsSync(join(folder, 'x'));
}

async function deletingOnes(commands: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const left = [...commands];
  const lane = async (): Promise<void> => {
    for (let command = left.pop(); command !== undefined; command = left.pop())
      if (await deletes(command)) found.add(command);
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return found;
}

test('every way to run a denied command is refused, and most of them are real', async () => {
  const by = [...deleting, ...reaching].filter((command) => verdict(command) !== 'deny');
  assert.deepEqual(by, []);
  const tried = DEEP ? deleting : deleting.filter((_, index) => index % 5 === 0);
  const real = await deletingOnes(tried);
  assert.ok(real.size > 0.85 * tried.length, `${real.size} of ${tried.length} deleted the file`);
});

test('ordinary commands are not refused', () => {
  const refused = ordinary.flatMap((command) => {
    const decision = decide(policy, permissionOf('bash'), command);
    return decision.verdict === 'allow' ? [] : [`${command}: ${decision.rule}`];
  });
  assert.deepEqual(refused, []);
});
