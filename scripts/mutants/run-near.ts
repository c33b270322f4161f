import { spawn } from 'node:child_process';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { ScratchTree } from '../sabotage/scratch-tree.ts';
import type { TestEvent } from '../sabotage/test-event.ts';
import type { Near } from './near-tests.ts';

/** What a run of a few test files came to. `killed_by`: what was red first, null when all is green. */
export interface NearRun {
  readonly killed_by: string | null;
  readonly timed_out: boolean;
}

/** Test files that share one process. */
export interface NearProcess {
  readonly tests: readonly string[];
  /** See `Near.one_database`. */
  readonly one_database: boolean;
}

const REPORTER = 'scripts/sabotage/test-lines.ts';
/** Of one test, or of all that stand in one block. What hangs is not waited for until all the tests could have been through. */
const TEST_MS = 60_000;
/** A mutant may make lists that never end. */
const MEMORY = '--max-old-space-size=1024';

/** The processes that the tests near a file are run in, in this order. */
export function processes({ quick, slow, one_database = false }: Near): NearProcess[] {
  const groups = [...(quick.length > 0 ? [quick] : []), ...slow.map((one) => [one])];
  return groups.map((tests) => ({ tests, one_database }));
}

/** Runs some test files in one process, until one test is red or the time is up. `coverage`: a folder that V8 tells in which places were run. */
export async function runTogether(
  tree: ScratchTree,
  { tests, one_database }: NearProcess,
  longest_ms: number,
  coverage?: string,
): Promise<NearRun> {
  const files = tests.map((test) => join('test', `${test}.test.ts`));
  const alone = files.length === 1 ? [] : ['--test', '--test-isolation=none'];
  const args = [
    MEMORY,
    `--test-reporter=${join(tree.root, REPORTER)}`,
    '--test-force-exit',
    `--test-timeout=${TEST_MS}`,
    ...(one_database ? ['--test-skip-pattern=on PostgreSQL'] : []),
    ...alone,
    ...files,
  ];
  // A group of its own, so that all of it can be ended.
  const child = spawn(process.execPath, args, {
    cwd: tree.root,
    env: {
      ...tree.environment(),
      // What comes out of the compile cache is counted less exactly.
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
  let red: TestEvent | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    const event = JSON.parse(line) as TestEvent;
    if (event.outcome !== 'failed') continue;
    red = event;
    break;
  }
  if (red !== undefined) stop();
  const code = await ended;
  clearTimeout(timer);
  tree.tidy();
  if (red !== undefined)
    return { killed_by: `${relative(join(tree.root, 'test'), red.file)}: ${red.name}`, timed_out: false };
  if (timed_out) return { killed_by: `time (${tests.join(', ')})`, timed_out };
  return { killed_by: code === 0 ? null : `the end of ${tests.join(', ')}`, timed_out };
}
