// Proves that a process counts as gone once it has ended, even while it is a zombie, and that a process of another machine never does.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { isProcessGone } from '../../src/store/process-gone.ts';
import type { Worker } from '../../src/store/store.ts';
import { until } from '../until.ts';

const workerOf = (pid: number, host = 'here') => ({ pid, host }) as Worker;

it('one that lives is not gone, one that was killed is', async () => {
  const child = spawn('sleep', ['60']);
  const { pid = 0 } = child;
  assert.equal(isProcessGone(workerOf(pid), 'here'), false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(isProcessGone(workerOf(pid), 'here'), true);
  assert.equal(isProcessGone(workerOf(pid, 'there'), 'here'), false);
});

/** Programs, one of which has the name of a living process in its own. */
const PROGRAMS = {
  sleep: 'sleep 60',
  'x) S 1': `"${process.execPath}" -e "process.title='x) S 1'; setInterval(() => 0, 60000)"`,
};

for (const [name, program] of Object.entries(PROGRAMS))
  it(`one whose parent does not ask for its exit code is gone: ${name}`, {
    skip: !existsSync('/proc/self/stat') && 'there is no /proc',
  }, async () => {
    const parent = spawn('sh', ['-c', `${program} & echo $!; exec sleep 60`]);
    const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(chunk.toString());
    assert.equal(isProcessGone(workerOf(pid), 'here'), false);
    // The shell would still ask for the exit code; the program that replaces it does not.
    await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
    await until(() => readFileSync(`/proc/${pid}/comm`, 'utf8') === `${name}\n`);
    process.kill(pid, 'SIGKILL');
    await until(() => isProcessGone(workerOf(pid), 'here'));
    assert.ok(existsSync(`/proc/${pid}`));
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  });
