/** Proves that no process of a tool outlives its runtime: on exit, when a signal handler kills them, and after SIGKILL. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isProcessGroupAlive, stopProcessGroup } from '../../src/processes/process-group.ts';
import { runProcess } from '../../src/processes/starting/run-process.ts';
import { killProcessesOfDeadRuntimes } from '../../src/processes/stray-processes.ts';
import { eventually, makeWorkspace } from '../tools/tool-fixture.ts';

const options = { skip: process.platform === 'linux' ? false : 'reads /proc' };

/** The number of processes with this argument. Zombies do not count: their memory and files are free. */
function running(argument: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(argument)
      );
    } catch {
      return false;
    }
  }).length;
}

/** Starts another runtime in which two commands run: one in its own session, and one behind the prefix `last`. `end` is the handler of SIGTERM. */
async function startRuntime(t: TestContext, end: string, last = '') {
  const context = makeWorkspace();
  const seconds = `${randomInt(100_000, 1_000_000)}.${randomInt(1000, 10_000)}`;
  const source = (name: string): string => pathToFileURL(join(import.meta.dirname, '../../src', name)).href;
  const script = join(context.cwd, 'runtime.mts');
  writeFileSync(
    script,
    `import { createBashTool } from '${source('tools/bash.ts')}';
     import { killAllProcessGroups } from '${source('processes/process-group.ts')}';
     const context = { cwd: process.cwd(), spill_dir: '/nonexistent', signal: new AbortController().signal,
       agent: { id: 'a', name: 'a' }, env_allow: [], onOutput: (text) => process.stdout.write(text) };
     process.on('SIGTERM', () => { ${end} });
     await createBashTool(null).run({ command: 'setsid sleep ${seconds} & sleep 0.2; echo begun; ${last} sleep ${seconds}' }, context);`,
  );
  const child = spawn(process.execPath, [script], { cwd: context.cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  assert.ok(await eventually(() => running(seconds) === 2));
  return { child, seconds, ended };
}

test(
  'the group alone, without the mark: every member is stopped, also one that ignores TERM and one that is suspended',
  options,
  async (t) => {
    const seconds = `${randomInt(100_000, 1_000_000)}.${randomInt(1000, 10_000)}`;
    const command = `sleep ${seconds} & sleep 0.2; kill -STOP $!; (trap '' TERM; exec sleep ${seconds}) & wait`;
    const child = spawn('bash', ['-c', command], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    t.after(() => child.kill('SIGKILL'));
    assert.ok(await eventually(() => running(seconds) === 2));
    await stopProcessGroup(child.pid!, 200);
    assert.ok(await eventually(() => running(seconds) === 0));
  },
);

test(
  'a stopped command takes with it what left its group and its output, not only with the next sweep',
  options,
  async (t) => {
    // No sweep happens: its timers never fire.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const seconds = `${randomInt(100_000, 1_000_000)}.${randomInt(1000, 10_000)}`;
    const command = `setsid sleep ${seconds} > /dev/null 2>&1 & sleep 0.2; echo begun; exec sleep ${seconds}`;
    const stop = new AbortController();
    const place = {
      file: '/bin/sh',
      args: ['-c', command],
      place: '/',
      env: { PATH: process.env.PATH ?? '' },
    };
    const onOutput = () => stop.abort();
    const end = await runProcess({ ...place, signal: stop.signal, timeout_ms: 600_000, onOutput });
    t.mock.timers.reset();
    assert.deepEqual(end, { end: 'aborted', started: true });
    assert.ok(await eventually(() => running(seconds) === 0));
  },
);

test('a group lives as long as a process of it, whether or not that leads it', async () => {
  const child = spawn('/bin/sh', ['-c', 'sleep 600 & echo begun'], { detached: true });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.stdout.resume();
  await exited;
  assert.equal(isProcessGroupAlive(child.pid!), true);
  process.kill(-child.pid!, 'SIGKILL');
  assert.ok(await eventually(() => !isProcessGroupAlive(child.pid!)));
});

test('process.exit kills every process', options, async (t) => {
  // Without its mark, the process is known only by its group.
  const { child, seconds, ended } = await startRuntime(t, 'process.exit(0)', 'exec env -u COPPICE_CALL');
  child.kill('SIGTERM');
  await ended;
  assert.ok(await eventually(() => running(seconds) === 0));
});

test('killAllProcessGroups kills them from a signal handler', options, async (t) => {
  const { child, seconds } = await startRuntime(t, 'killAllProcessGroups(); setTimeout(() => {}, 60_000)');
  child.kill('SIGTERM');
  assert.ok(await eventually(() => running(seconds) === 0));
  assert.equal(child.exitCode, null, 'the runtime itself goes on');
});

test('after SIGKILL of the runtime another one kills what is left, and only that', options, async (t) => {
  const dead = await startRuntime(t, '');
  const alive = await startRuntime(t, '');
  dead.child.kill('SIGKILL');
  await dead.ended;
  assert.ok(running(dead.seconds) > 0, 'the orphans are there to be found');
  killProcessesOfDeadRuntimes();
  assert.ok(await eventually(() => running(dead.seconds) === 0));
  assert.equal(running(alive.seconds), 2);
  alive.child.kill('SIGTERM');
  alive.child.kill('SIGKILL');
  await alive.ended;
  killProcessesOfDeadRuntimes();
  assert.ok(await eventually(() => running(alive.seconds) === 0));
});
