// Proves when the run of a program ends: as soon as its output is closed, with no further wait and no timer left.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { it } from 'node:test';
import { type ProcessEnd, runProcess } from '../../../src/processes/starting/run-process.ts';

const never = new AbortController().signal;
/** Timeout of tests that would otherwise hang, in milliseconds. */
const timeout = 20_000;

function run(
  command: string,
  signal = never,
  onOutput = (_: Buffer) => {},
  tree?: string,
): Promise<ProcessEnd> {
  const place = { file: '/bin/sh', args: ['-c', command], place: '/', env: {} };
  return runProcess({ ...place, tree, signal, timeout_ms: 600_000, onOutput });
}

const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;

it('no time passes once the output is closed, whether the program exited or was stopped', {
  timeout,
}, async (t) => {
  // The interval that polls for late output never fires.
  t.mock.timers.enable({ apis: ['setInterval'] });
  for (const command of ['true', 'echo said'])
    assert.deepEqual(await run(command), { end: 'exited', code: 0, signal: null });
  const stop = new AbortController();
  const begun = () => stop.abort();
  assert.deepEqual(await run('echo begun; exec sleep 600', stop.signal, begun), {
    end: 'aborted',
    started: true,
  });
});

it('standard error goes where it is asked for, and nowhere else', { timeout }, async () => {
  const [out, error]: [string[], string[]] = [[], []];
  const place = { file: '/bin/sh', args: ['-c', 'echo out; echo error >&2'], place: '/', env: {} };
  const request = { ...place, signal: never, timeout_ms: 600_000 };
  const onOutput = (chunk: Buffer) => void out.push(String(chunk));
  await runProcess({ ...request, onOutput });
  await runProcess({ ...request, onOutput, onErrorOutput: (chunk) => void error.push(String(chunk)) });
  assert.deepEqual([out.join(''), error.join('')], ['out\nout\n', 'error\n']);
});

it('no timer is left that would keep this process alive', { timeout }, async () => {
  const before = timers();
  // The first command holds the output open for longer than the wait.
  for (const command of ['sleep 600 &', 'true']) {
    assert.equal((await run(command)).end, 'exited');
    assert.equal(timers(), before, command);
  }
});

it('a tree whose commands never end holds up no other tree', { timeout }, async () => {
  const stop = new AbortController();
  const endless = Array.from({ length: 4 * availableParallelism() + 20 }, () =>
    run('exec sleep 600', stop.signal, undefined, 'endless'),
  );
  assert.equal((await run('true', never, undefined, 'other')).end, 'exited');
  assert.equal((await run('true')).end, 'exited');
  stop.abort();
  const started = (await Promise.all(endless)).filter((end) => end.end === 'aborted' && end.started);
  assert.equal(started.length, Math.max(8, 4 * availableParallelism()));
});
