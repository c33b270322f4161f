import { spawn } from 'node:child_process';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { Near } from './near-tests.ts';
import type { ScratchTree } from './scratch-tree.ts';
import type { TestEvent } from './test-lines.ts';

/** Result of running a few test files. */
export interface NearRun {
  /** The failure that counts; null when there was none. */
  readonly killed_by: string | null;
  /** Another failure, which shows that the program crashed, not that a test found it wrong; null when there was none. */
  readonly broke: string | null;
}

/** Test files that share one process. */
export interface NearProcess {
  readonly tests: readonly string[];
  /** See `Near.one_database`. */
  readonly one_database: boolean;
}

const REPORTER = 'scripts/mutants/test-lines.ts';
/** Time limit of one test or suite, so that a hanging test does not use up the time of all. */
const TEST_MS = 60_000;
/** Memory limit, because a mutant may build endless lists. */
const MEMORY = '--max-old-space-size=1024';

/** Processes that run the tests near a file, in this order. */
export function processes({ quick, slow, one_database = false }: Near): NearProcess[] {
  const groups = [...(quick.length > 0 ? [quick] : []), ...slow.map((one) => [one])];
  return groups.map((tests) => ({ tests, one_database }));
}

export interface NearTerms {
  readonly longest_ms: number;
  /** Folder in which V8 writes its coverage. */
  readonly coverage?: string;
  /**
   * Whether only a test counts that found the program wrong (`TestEvent.failure`), in a run in which another test passed; a process that
   * crashes, hangs or never loads does not count.
   */
  readonly verdict?: boolean;
}

/** Runs some test files in one process, until a failure counts or the time is up. */
export async function runTogether(
  tree: ScratchTree,
  { tests, one_database }: NearProcess,
  { longest_ms, coverage, verdict = false }: NearTerms,
): Promise<NearRun> {
  const files = tests.map((test) => join('test', `${test}.test.ts`));
  const alone = files.length === 1 ? [] : ['--test', '--test-isolation=none'];
  const args = [
    MEMORY,
    `--test-reporter=${join(tree.root, REPORTER)}`,
    // A forced exit may lose the last reports.
    ...(verdict ? [] : ['--test-force-exit']),
    `--test-timeout=${TEST_MS}`,
    ...(one_database ? ['--test-skip-pattern=on PostgreSQL'] : []),
    ...alone,
    ...files,
  ];
  // A process group of its own, so that all of it can be killed.
  const child = spawn(process.execPath, args, {
    cwd: tree.root,
    env: {
      ...tree.environment(),
      // Coverage of code from the compile cache is less exact.
      ...(coverage === undefined ? {} : { NODE_V8_COVERAGE: coverage, NODE_DISABLE_COMPILE_CACHE: '1' }),
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let timed_out = false;
  const stop = () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(() => {
    timed_out = true;
    stop();
  }, longest_ms);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const events: TestEvent[] = [];
  let counts: TestEvent | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    events.push(JSON.parse(line) as TestEvent);
    counts = verdict ? verdictOf(events) : events.find(({ outcome }) => outcome === 'failed');
    if (counts !== undefined) break;
  }
  if (counts !== undefined) stop();
  const code = await ended;
  clearTimeout(timer);
  tree.tidy();
  if (counts !== undefined)
    return { killed_by: `${relative(join(tree.root, 'test'), counts.file)}: ${counts.name}`, broke: null };
  const failure = timed_out
    ? `time (${tests.join(', ')})`
    : code === 0
      ? null
      : `the end of ${tests.join(', ')}`;
  if (!verdict) return { killed_by: failure, broke: null };
  const failed = events.find(({ outcome }) => outcome === 'failed');
  return { killed_by: null, broke: failed === undefined ? failure : `${failed.name}: ${failed.error}` };
}

/** The first test that found the program wrong, if another one passed, which shows that the program runs. */
function verdictOf(events: readonly TestEvent[]): TestEvent | undefined {
  if (events.every(({ outcome }) => outcome !== 'passed')) return undefined;
  return events.find(({ failure }) => failure === 'verdict');
}
