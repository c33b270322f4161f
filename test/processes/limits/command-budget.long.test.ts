/**
 * Proves that limits stop attacks on the machine, each by a real shell: on memory, processes, CPU time and disk, with and without the sandbox, as the user
 * of this test and, if that is root, also as nobody. Bombs are bounded, so that the machine survives them even without limits.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { CommandBudget, type CommandLimits } from '../../../src/processes/limits/command-budget.ts';
import { MB } from '../../../src/processes/limits/process-usage.ts';
import type { Tool, ToolResult } from '../../../src/records/tool.ts';
import { createBashTool } from '../../../src/tools/bash.ts';
import { DEEP } from '../../house/deep.ts';
import { call, eventually, makeWorkspace } from '../../tools/tool-fixture.ts';
import { NO_SANDBOX, testSandbox } from '../sandbox/test-sandbox.ts';

const runner = join(import.meta.dirname, 'run-bombs.ts');
const LIMITS = { memory_mb: 256, processes: 200, cpu_seconds: 2, disk_mb: 64 };
/** A unique sleep duration for each run, by which survivors are found. */
const SECONDS = `${100_000 + process.pid}.75`;
const NOBODY = 65_534;

/** Allocates 3 GB, one piece at a time. */
const BOMB = `perl -e 'for (1..190) { push @a, "x" x 16_000_000 } sleep 30' ${SECONDS}`;
const stoppedBy = (limit: keyof typeof LIMITS) =>
  new RegExp(
    `\\[stopped: (?:it used|/tmp held) \\d+ [^;]*; its limit is ${LIMITS[limit]}(?: MB| seconds)?\\. A person can raise "sandbox\\.limits\\.${limit}" in the configuration\\]`,
  );
const FILE_TOO_LARGE =
  /\[a command may use at most 64 MB on disk\. A person can raise "sandbox\.limits\.disk_mb"/;
const files = (folder: string, count: number, megabytes: number) =>
  `for i in $(seq ${count}); do dd if=/dev/zero of=${folder}/f$i bs=1M count=${megabytes} 2>/dev/null; done`;

type Bombs = Readonly<Record<string, readonly [command: string, expected: RegExp]>>;

const BOMBS: Bombs = {
  'memory in many processes': [
    `for i in $(seq 30); do perl -e '$x = "x" x 50_000_000; sleep 30' ${SECONDS} & done; wait`,
    stoppedBy('memory_mb'),
  ],
  'processes from each other': [
    `b() { [ $1 -gt 10 ] && sleep ${SECONDS} || { b $(($1+1)) & b $(($1+1)) & wait; }; }; b 0 2>/dev/null`,
    stoppedBy('processes'),
  ],
  'CPU time of processes that end': ['while :; do /bin/true; done', stoppedBy('cpu_seconds')],
  'a file without an end': ['yes | head -c 3G > file', FILE_TOO_LARGE],
  'a huge file': ['dd if=/dev/zero of=big bs=1M count=3000', FILE_TOO_LARGE],
  'many files': [`${files('.', 40, 32)}; sleep 30`, stoppedBy('disk_mb')],
};
const IN_SANDBOX: Bombs = {
  ...BOMBS,
  'memory in one process': [BOMB, stoppedBy('memory_mb')],
  'processes from one': [`for i in $(seq 2500); do sleep ${SECONDS} & done; wait`, stoppedBy('processes')],
  'threads of one process': [
    `UV_THREADPOOL_SIZE=192 node -e 'crypto.randomBytes(1, () => setTimeout(() => {}, 30000))' ${SECONDS}`,
    stoppedBy('processes'),
  ],
  'CPU time of one process': ['while :; do :; done', stoppedBy('cpu_seconds')],
  'a huge file in /tmp': ['dd if=/dev/zero of=/tmp/big bs=1M count=3000; rm /tmp/big; false', FILE_TOO_LARGE],
  'many files in /tmp': [`${files('/tmp', 40, 32)}; sleep 30`, stoppedBy('disk_mb')],
  'files in memory, beside memory': [
    `${files('/dev/shm', 7, 30)}; perl -e '$x = "x" x 80_000_000; sleep 30' ${SECONDS}`,
    stoppedBy('memory_mb'),
  ],
  'what runs on after the shell': [`(setsid env -i ${BOMB} &); sleep 0.1; echo over`, /^over|stopped/],
  'raising the limits': ['ulimit -f unlimited; yes | head -c 3G > file', FILE_TOO_LARGE],
};

/** Attacks on a limit that the system does not enforce for root. */
const NOT_ROOT: Bombs = {
  'processes before anybody looks': [
    `perl -e 'for (1..400) { my $p = fork; die "Cannot fork at $_" if !defined $p; $p or sleep 30 && exit }'`,
    // Where forking is slow, the poll stops the command first.
    /^(Cannot fork at 2\d\d|\[stopped: it took 2\d\d processes) .*"sandbox\.limits\.processes"/s,
  ],
};

const place = mkdtempSync('/var/tmp/coppice-test-');
after(() => rmSync(place, { recursive: true, force: true }));

/** Runs all bombs in one process, one after the other, in a folder that is then removed; returns their results. */
async function explode(mode: string, bombs: Bombs, uid?: number): Promise<ToolResult[]> {
  const folder = join(place, `${mode}-${uid ?? 'own'}`);
  const cwd = join(folder, 'work');
  mkdirSync(cwd, { recursive: true });
  if (uid !== undefined) for (const path of [place, folder, cwd]) chownSync(path, uid, uid);
  const asked = { mode, limits: LIMITS, commands: Object.values(bombs).map(([command]) => command) };
  const { stdout } = await promisify(execFile)(process.execPath, [runner, JSON.stringify(asked)], {
    cwd,
    env: { PATH: process.env.PATH, HOME: folder },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  rmSync(folder, { recursive: true });
  return JSON.parse(stdout);
}

function proveStopped(mode: string, bombs: Bombs, uid?: number): void {
  let results: ToolResult[] = [];
  before(async () => {
    results = await explode(mode, bombs, uid);
  });
  for (const [at, [what, [, expected]]] of Object.entries(bombs).entries())
    it(what, () => assert.match(results[at]?.output ?? '', expected));
  it('and nothing of it is left', async () => assert.ok(await eventually(() => leftovers() === 0)));
}

function leftovers(): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(SECONDS);
    } catch {
      return false;
    }
  }).length;
}

function notAsNobody(): string | false {
  if (process.getuid?.() !== 0) return 'only root can run commands as another user';
  const tried = spawnSync(process.execPath, [runner, '{"commands":[]}'], { uid: NOBODY, gid: NOBODY });
  return tried.status === 0 ? false : 'user 65534 cannot run this project';
}

const linux_only = process.platform === 'linux' ? false : 'reads /proc';

describe('in the sandbox, limits stop', { skip: NO_SANDBOX }, () => proveStopped('workspace', IN_SANDBOX));
if (DEEP) {
  describe('without the sandbox, limits stop', { skip: linux_only }, () => proveStopped('off', BOMBS));
  describe('in the sandbox of another user, limits stop', { skip: NO_SANDBOX || notAsNobody() }, () =>
    proveStopped('strict', { ...IN_SANDBOX, ...NOT_ROOT }, NOBODY),
  );
}

it('what is left out depends on the machine, and null is no limit', async () => {
  const of = async (limits: CommandLimits) =>
    (await CommandBudget.of(limits, place, null, async () => false)).limits;
  const { memory_mb, processes, cpu_seconds, disk_mb } = await of({});
  assert.ok(memory_mb > 100 && memory_mb <= totalmem() / MB / 2);
  assert.deepEqual([processes, cpu_seconds], [2048, Infinity]);
  assert.ok(disk_mb > 0 && disk_mb < Infinity);
  const none = { memory_mb: null, processes: null, cpu_seconds: null, disk_mb: null };
  assert.deepEqual(Object.values(await of(none)), Array(4).fill(Infinity));
});

it('what a command took is not counted twice where its processes share it', {
  skip: linux_only,
}, async () => {
  const tool = createBashTool(null, { memory_mb: 256 }) as Tool;
  const command = `perl -e '$x = "x" x 60_000_000; for (1..8) { fork or do { sleep 1; exit } } 1 while wait > 0; print "done"'`;
  assert.equal((await call(tool, { command }, makeWorkspace())).output, 'done');
});

it('what is counted are processes, not all that /proc shows', { skip: NO_SANDBOX }, async () => {
  const tool = createBashTool(testSandbox(), { processes: 40 }) as Tool;
  const { output } = await call(tool, { command: 'sleep 0.6; echo done' }, makeWorkspace());
  assert.equal(output, 'done\n');
});

it('the kernel takes a command before this program', { skip: linux_only }, async () => {
  for (const sandbox of NO_SANDBOX ? [null] : [null, testSandbox()])
    assert.equal(
      (
        await call(
          createBashTool(sandbox, {}) as Tool,
          { command: 'cat /proc/self/oom_score_adj' },
          makeWorkspace(),
        )
      ).output,
      '1000\n',
    );
});
