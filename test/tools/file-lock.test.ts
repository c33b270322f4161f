// Proves with real processes that no file change by an agent is lost when several processes change the file, and that a killed process blocks nobody.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ProcessLock } from '../../src/processes/process-lock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { addLine } from './line-adder.ts';

function start(folder: string, name: string, times: string): ChildProcess {
  return fork(join(import.meta.dirname, 'line-adder.ts'), [folder, name, times], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: [],
  });
}

const linesOf = (folder: string) => readFileSync(join(folder, 'file.txt'), 'utf8').trimEnd().split('\n');

test('two processes change one file 100 times each, and every change is in it, in order', async () => {
  const folder = temporaryFolder();
  const processes = ['a', 'b'].map((name) => start(folder, name, '100'));
  await Promise.all(processes.map((one) => once(one, 'message')));
  for (const one of processes) one.send('go');
  const ends = await Promise.all(processes.map((one) => once(one, 'exit')));
  assert.deepEqual(ends, [
    [0, null],
    [0, null],
  ]);
  const lines = linesOf(folder);
  for (const name of ['a', 'b'])
    assert.deepEqual(
      lines.filter((line) => line.startsWith(name)),
      Array.from({ length: 100 }, (_, at) => `${name} ${at}`),
    );
  assert.equal(lines.length, 200);
});

test('when a process is killed in the middle of a change, the file is as before, and another process goes on', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data'));
  await addLine(folder, 'before', () => undefined);
  const holder = start(folder, 'never', 'hold');
  assert.ok(holder.stdout);
  await once(holder.stdout, 'data');
  const lock = new ProcessLock(join(folder, 'data', 'changes.lock'));
  assert.equal(lock.take(), false, 'it is held');
  lock.close();
  const waiting = addLine(folder, 'after', () => undefined);
  const gone = once(holder, 'exit');
  holder.kill('SIGKILL');
  await gone;
  await waiting;
  assert.deepEqual(linesOf(folder), ['before', 'after']);
});
