// Proves that a process counts as gone once it has ended, even while it is a zombie, and that a process of another machine never does.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { isProcessGone } from '../../src/store/process-gone.ts';
import type { Worker } from '../../src/store/store.ts';
import { eventually } from '../tools/tool-fixture.ts';

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

it('one whose parent does not ask for its exit code is gone', {
  skip: !existsSync('/proc/self/stat') && 'there is no /proc',
}, async () => {
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
  const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(chunk.toString());
  assert.equal(isProcessGone(workerOf(pid), 'here'), false);
  // The shell would still ask for the exit code; the program that replaces it does not.
  assert.ok(await eventually(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n'));
  process.kill(pid, 'SIGKILL');
  assert.ok(await eventually(() => isProcessGone(workerOf(pid), 'here')));
  assert.ok(existsSync(`/proc/${pid}`));
  parent.kill('SIGKILL');
  await once(parent, 'exit');
});
