import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ScratchTree } from './scratch-tree.ts';
import type { TestEvent } from './test-event.ts';

/** No run of the suite takes so long, nor one of a few files; what hangs for good is ended. */
const LONGEST_MS = 45 * 60_000;
const LONGEST_PATIENCE_MS = 5 * 60_000;

export interface TestRun {
  readonly passed: number;
  readonly failed: readonly TestEvent[];
  /**
   * The first test that found the program wrong, in a run in which another one passed: so the program ran and did not merely break. Null:
   * none did.
   */
  readonly caught_by: TestEvent | null;
  /** The runner ended with a failure. */
  readonly red: boolean;
}

export interface RunTerms {
  /** Ends as soon as a test has noticed that the guard is gone. */
  readonly until_caught?: boolean;
  /** Waits until each test file ends by itself: one that is made to exit may take its last reports with it. */
  readonly patient?: boolean;
}

/** Runs the tests in the tree with the repository's own runner. */
export async function runTests(
  tree: ScratchTree,
  filters: readonly string[],
  { until_caught = false, patient = false }: RunTerms = {},
): Promise<TestRun> {
  const reporter = join(tree.root, 'scripts/sabotage/test-lines.ts');
  const exits = patient ? ['--no-test-force-exit'] : [];
  const args = [join(tree.root, 'scripts/test.ts'), `--test-reporter=${reporter}`, ...exits, ...filters];
  const env = { ...process.env, TMPDIR: tree.temporary };
  // A group of its own, so that all of it can be ended.
  const child = spawn(process.execPath, args, {
    cwd: tree.root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const stop = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(stop, patient ? LONGEST_PATIENCE_MS : LONGEST_MS);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const events: TestEvent[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    events.push(JSON.parse(line) as TestEvent);
    if (until_caught && caughtBy(events) !== null) break;
  }
  const caught_by = caughtBy(events);
  if (until_caught && caught_by !== null) stop();
  const code = await ended;
  clearTimeout(timer);
  tree.tidy();
  return {
    passed: events.filter((one) => one.outcome === 'passed').length,
    failed: events.filter((one) => one.outcome === 'failed'),
    caught_by,
    red: code !== 0,
  };
}

function caughtBy(events: readonly TestEvent[]): TestEvent | null {
  if (events.every((one) => one.outcome !== 'passed')) return null;
  return events.find((one) => one.failure === 'verdict') ?? null;
}
