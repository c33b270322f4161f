/**
 * Loaded before each test file; fails the file if anything outlives its tests, or if a test blocks its thread, where no timeout of the runner rings. After a grace period, reports what keeps the process alive after the last
 * test (sockets, timers, child processes). At exit, reports and kills descendants that still run, even those whose parent has changed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { after } from 'node:test';
import { watchForBlocks } from './blocked-thread.ts';

/** Grace period, longer than the file's own clean-up takes on a loaded machine; only a file that fails waits for it. */
const GRACE_MS = Number(process.env.LEFTOVERS_GRACE_MS ?? 30_000);
/** Grace period for processes that were told to end. */
const LAST_BREATH_MS = GRACE_MS / 6;
const MARK = 'COPPICE_TEST_FILE';

if (process.env.NODE_TEST_CONTEXT !== undefined && process.env[MARK] === undefined) {
  const mark = `${process.pid}-${Date.now()}`;
  process.env[MARK] = mark;
  watchForBlocks(Number(process.env.COPPICE_TEST_BLOCKED_MS ?? 0));
  after(() => {
    setTimeout(
      () => fail(`kept the process alive: ${process.getActiveResourcesInfo().join(', ')}`),
      GRACE_MS,
    ).unref();
  });
  process.on('exit', () => {
    let left = processesOf(mark);
    for (
      const end = Date.now() + LAST_BREATH_MS;
      left.length > 0 && Date.now() < end;
      left = processesOf(mark)
    )
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    if (left.length > 0)
      say(`still ran at the end: ${left.map(({ pid, words }) => `${pid} ${words}`).join('; ')}`);
  });
}

function fail(what: string): void {
  say(what);
  process.exit(1);
}

function say(what: string): void {
  process.exitCode = 1;
  console.error(`${process.argv[1]}: outlived its tests and ${what}`);
}

/** Running processes whose environment contains the mark, except this one; none if the system has no `/proc`. */
function processesOf(mark: string): { readonly pid: number; readonly words: string }[] {
  const own = Buffer.from(`${MARK}=${mark}`);
  return procs().flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`).includes(own)) return [];
      return [
        { pid, words: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').slice(0, 200) },
      ];
    } catch {
      // The process has ended, or belongs to another user.
      return [];
    }
  });
}

function procs(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
}
