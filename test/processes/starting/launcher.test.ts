// Proves that programs started by the launcher end like those started directly, and that none of them outlives the launcher or the process it works for.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { after, before, it } from 'node:test';
import { markVariable, nextMark } from '../../../src/processes/process-mark.ts';
import { followProcess } from '../../../src/processes/starting/follow-process.ts';
import { Launcher } from '../../../src/processes/starting/launcher.ts';
import type { OrderEnd, ProcessOrder } from '../../../src/processes/starting/process-order.ts';
import { eventually } from '../../tools/tool-fixture.ts';

const timeout = 60_000;
const never = new AbortController().signal;
const source = (file: string) => new URL(`../../../src/processes/${file}`, import.meta.url).href;
/** The last sleep duration used; nothing else on the machine sleeps for these. */
let sleeps = 100_000 + process.pid;
const ownSleep = (): string => {
  sleeps += 0.001;
  return sleeps.toFixed(3);
};

/** Ids of processes that have the text among their arguments. */
function processesWith(text: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(text);
    } catch {
      return false; // has ended
    }
  });
}

type Way = (order: ProcessOrder, signal: AbortSignal, onOutput: (chunk: Buffer) => void) => Promise<OrderEnd>;
let launcher: Launcher;
const launched: Way = (order, signal, onOutput) => launcher.run(order, eventsTo(onOutput), signal, 'tree');
const started: Way = (order, signal, onOutput) =>
  followProcess(order, eventsTo(onOutput), signal).catch((error) => ({ end: 'not_started', error }));
const eventsTo = (onOutput: (chunk: Buffer) => void) => ({
  onStart: () => {},
  onOutput,
  onErrorOutput: onOutput,
  onSandboxReport: () => {},
});

function order(command: string, changed: Partial<ProcessOrder> = {}): ProcessOrder {
  const mark = nextMark();
  return {
    file: '/bin/sh',
    args: ['-c', command],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', [markVariable]: mark },
    mark,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout_ms: 600_000,
    limits: null,
    quotas: [],
    memory: null,
    ...changed,
  };
}

async function outcome(way: Way, asked: ProcessOrder, signal = never) {
  const chunks: Buffer[] = [];
  const end = await way(asked, signal, (chunk) => void chunks.push(chunk));
  const code = end.end === 'not_started' ? end.error.code : undefined;
  const why = end.end === 'not_started' ? { ...end, error: code } : end;
  return { end: why, output: Buffer.concat(chunks).toString() };
}

const linux = process.platform === 'linux';
before(() => {
  if (linux) launcher = new Launcher();
});
after(() => launcher?.close());

const ORDERS: Readonly<Record<string, () => ProcessOrder>> = {
  'output and exit code': () => order('echo one; sleep 0.1; echo two >&2; exit 7'),
  'a signal': () => order('kill -9 $$'),
  'a program that is not there': () => order('', { file: '/nowhere' }),
  'a folder that is not there': () => order('true', { cwd: '/nowhere' }),
  'a NUL in an argument': () => order('a\0b'),
  'a time limit': () => order(`sleep ${ownSleep()}`, { timeout_ms: 100 }),
  'a limit on processes': () =>
    order(`for i in 1 2 3 4 5; do sleep 0.5; sleep 20 & done; wait`, {
      limits: { processes: 3, memory_mb: Infinity, cpu_seconds: Infinity, disk_mb: Infinity },
    }),
  'the environment': () => order('env', { env: { A: 'b\nc', [markVariable]: 'fixed' } }),
  'descriptors, but nothing of this process': () => order('ls /proc/self/fd; readlink /proc/self/fd/0'),
};
for (const [what, make] of Object.entries(ORDERS))
  it(`ends and says the same as without it: ${what}`, { timeout, skip: !linux }, async () => {
    const count = (found: Awaited<ReturnType<typeof outcome>>) =>
      JSON.parse(JSON.stringify(found, (key, value) => (key === 'used' ? 'some' : value)));
    assert.deepEqual(count(await outcome(launched, make())), count(await outcome(started, make())));
  });

it('passes a descriptor on as standard input, from its beginning', { timeout, skip: !linux }, async () => {
  const stdin = openSync(import.meta.filename, 'r');
  const found = await outcome(launched, order('cat', { stdio: [stdin, 'pipe', 'ignore'] }));
  closeSync(stdin);
  assert.equal(found.output, readFileSync(import.meta.filename, 'utf8'));
});

it('loses no byte of what comes faster than it is taken', { timeout, skip: !linux }, async () => {
  let bytes = 0;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes % 64 === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  };
  await launched(order('head -c 60000000 /dev/zero'), never, take);
  assert.equal(bytes, 60_000_000);
});

it('stops what ignores TERM or has left its group', { timeout, skip: !linux }, async () => {
  const [seconds, stop] = [ownSleep(), new AbortController()];
  const command = `trap '' TERM; setsid sleep ${seconds} & echo begun; sleep ${seconds}`;
  const end = await launched(order(command), stop.signal, () => stop.abort());
  assert.deepEqual(end, { end: 'aborted', started: true });
  assert.ok(await eventually(() => processesWith(seconds).length === 0));
});

it('ends a call that is aborted in the moment in which its turn has come', {
  timeout,
  skip: !linux,
}, async () => {
  const stop = new AbortController();
  const ended = launched(order(`sleep ${ownSleep()}`), stop.signal, () => {});
  stop.abort();
  assert.equal((await ended).end, 'aborted');
});

it('programs are told nothing by it: its environment is empty', { timeout, skip: !linux }, async () => {
  const { output } = await outcome(launched, order('tr "\\0" "\\n" </proc/$PPID/environ'));
  assert.doesNotMatch(output, /PATH|HOME/);
});

it('when it is killed, all that it started ends, and calls say so', { timeout, skip: !linux }, async () => {
  const [own, seconds] = [new Launcher(), ownSleep()];
  const command = `echo $PPID; setsid sleep ${seconds} & sleep ${seconds}`;
  const kill = (chunk: Buffer): void => void process.kill(Number(chunk.toString()), 'SIGKILL');
  const end = await own.run(order(command), eventsTo(kill), never, 'tree');
  assert.deepEqual(end, { end: 'exited', code: null, signal: 'SIGKILL' });
  assert.ok(await eventually(() => processesWith(seconds).length === 0));
  // A caller that still holds the launcher starts programs directly.
  const later = await own.run(
    order('exit 3'),
    eventsTo(() => {}),
    never,
    'tree',
  );
  assert.deepEqual(later, { end: 'exited', code: 3, signal: null });
});

it('when who it works for is killed, all that it started ends', { timeout, skip: !linux }, async (t) => {
  const seconds = ownSleep();
  const program = `
    import { runProcess } from '${source('starting/run-process.ts')}';
    const run = (command) => runProcess({ file: '/bin/sh', args: ['-c', command], place: '/', env: {},
      signal: new AbortController().signal, timeout_ms: 600_000, onOutput: (chunk) => process.stdout.write(chunk) });
    let by = '';
    while (!by.trimEnd().endsWith('/launcher-program.ts'))
      await runProcess({ file: '/bin/sh', args: ['-c', 'tr "\\\\0" " " </proc/$PPID/cmdline'], place: '/', env: {},
        signal: new AbortController().signal, timeout_ms: 600_000, onOutput: (chunk) => { by = String(chunk); } });
    await run('echo begun; setsid sleep ${seconds} & sleep ${seconds}');`;
  const runtime = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => runtime.kill('SIGKILL'));
  await once(runtime.stdout, 'data');
  assert.ok(await eventually(() => processesWith(seconds).length >= 2));
  runtime.kill('SIGKILL');
  assert.ok(await eventually(() => processesWith(seconds).length === 0));
});
