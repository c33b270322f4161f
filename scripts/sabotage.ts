import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { ALL_GUARDS } from './sabotage/all-guards.ts';
import type { Guard } from './sabotage/guard.ts';
import { runTests, type TestRun } from './sabotage/run-tests.ts';
import { sabotageTable, type TableRow } from './sabotage/sabotage-table.ts';
import { ScratchTree } from './sabotage/scratch-tree.ts';

/**
 * `npm run sabotage [-- --only NAME…]`: takes out one guard at a time, in a copy of the repository, and runs the tests until one turns red.
 * A guard whose absence no test notices fails it. `--list` shows the guards, `--jobs N` works on so many at once, `--narrow` leaves it at
 * the tests that the list names. See docs/sabotage.md.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    narrow: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '1' },
  },
});
const repository = join(import.meta.dirname, '..');
const chosen = chosenGuards([...values.only, ...positionals]);
const jobs = Number(values.jobs);
if (!Number.isSafeInteger(jobs) || jobs < 1) fail('--jobs takes a whole number, 1 or more', 2);

function chosenGuards(names: readonly string[]): readonly Guard[] {
  const unknown = names.filter((name) => !ALL_GUARDS.some((guard) => guard.name === name));
  if (unknown.length > 0) fail(`no guard is called ${unknown.join(', ')}; see --list`, 2);
  return names.length === 0 ? ALL_GUARDS : ALL_GUARDS.filter(({ name }) => names.includes(name));
}

function fail(why: string, code: number): never {
  console.error(why);
  process.exit(code);
}

if (values.list) {
  for (const { name, protects, file } of chosen)
    console.log(`${name.padEnd(26)} ${file.padEnd(40)} ${protects}`);
  process.exit(0);
}

const trees: ScratchTree[] = [];
process.once('exit', () => {
  for (const tree of trees) tree.remove();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
for (let job = 0; job < Math.min(jobs, chosen.length); job += 1) trees.push(new ScratchTree(repository));

await control(trees[0] as ScratchTree);
const rows = new Map<string, TableRow>();
const waiting = [...chosen];
await Promise.all(trees.map((tree) => work(tree)));
console.log(`\n${sabotageTable(chosen.flatMap(({ name }) => rows.get(name) ?? []))}\n`);
const missed = chosen.filter(({ name }) => !rows.get(name)?.caught);
console.log(
  missed.length === 0
    ? `all of ${chosen.length} guards are missed when they are gone`
    : `NOT CAUGHT: ${missed.map(({ name }) => name).join(', ')}`,
);
process.exit(missed.length === 0 ? 0 : 1);

/** With every guard in its place the tests are green: otherwise red says nothing. */
async function control(tree: ScratchTree): Promise<void> {
  const wrong = tree.typeErrors(chosen);
  if (wrong !== null)
    fail(`without its guards the program is not valid, so that red would say nothing:\n${wrong}`, 1);
  const filters = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const started_at = performance.now();
  const run = await runTests(tree, filters);
  if (run.red) {
    for (const { file, name, error } of run.failed)
      console.error(`  ${relative(tree.root, file)}: ${name}: ${error}`);
    fail('the tests are red with all guards in place, so sabotage would prove nothing', 1);
  }
  console.log(
    `control: ${run.passed} tests pass with all guards in place (${seconds(started_at).toFixed(0)} s)`,
  );
}

async function work(tree: ScratchTree): Promise<void> {
  for (let guard = waiting.shift(); guard !== undefined; guard = waiting.shift()) {
    const row = await sabotage(guard, tree);
    rows.set(guard.name, row);
    const place = `[${rows.size}/${chosen.length}]`;
    console.log(`${place} ${guard.name}: ${row.caught_by} (${row.seconds.toFixed(1)} s)`);
  }
}

async function sabotage(guard: Guard, tree: ScratchTree): Promise<TableRow> {
  const { name, protects, tests } = guard;
  const started_at = performance.now();
  const { caught, told } = await tree.without(guard, async () => {
    const narrow = await redOrGreen(tree, tests);
    return verdict(narrow.caught_by !== null || values.narrow ? narrow : await redOrGreen(tree, []), tree);
  });
  return { name, protects, caught, caught_by: told, seconds: seconds(started_at) };
}

/** Where a test file failed and no test has said why, it is run once more, until it ends by itself. */
async function redOrGreen(tree: ScratchTree, filters: readonly string[]): Promise<TestRun> {
  const run = await runTests(tree, filters, { until_caught: true });
  const files = run.failed.flatMap(({ file }) =>
    file.endsWith('.test.ts') ? relative(tree.root, file) : [],
  );
  if (run.caught_by !== null || files.length === 0) return run;
  return runTests(tree, [...new Set(files)], { until_caught: true, patient: true });
}

function verdict({ caught_by, failed }: TestRun, tree: ScratchTree): { caught: boolean; told: string } {
  if (caught_by !== null)
    return { caught: true, told: `${relative(join(tree.root, 'test'), caught_by.file)}: ${caught_by.name}` };
  const [first] = failed;
  if (first === undefined) return { caught: false, told: 'NOT CAUGHT' };
  return {
    caught: false,
    told: `NOT CAUGHT: tests crashed (${first.name}: ${first.error}), none found it wrong`,
  };
}

function seconds(since: number): number {
  return (performance.now() - since) / 1_000;
}
