import { hash } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { parseArgs } from 'node:util';
import { stop } from 'esbuild';
import { API } from 'typescript/unstable/sync';
import { buildWeb } from './build/web.ts';
import { EQUIVALENT } from './mutants/equivalent.ts';
import { ALL_GUARDS } from './mutants/guards/all-guards.ts';
import { type Guard, withoutGuard } from './mutants/guards/guard.ts';
import { type Mutant, mutated, told } from './mutants/mutant.ts';
import { mutants } from './mutants/mutations.ts';
import { nearTests } from './mutants/near-tests.ts';
import { type NearProcess, processes, runTogether } from './mutants/run-near.ts';
import { ScratchTree } from './mutants/scratch-tree.ts';
import { Touched } from './mutants/touched.ts';

/**
 * `npm run mutants [-- --files GLOB] [--sample N] [--seed S] [--jobs N]`: makes small changes in a copy of the program, one at a time, and
 * runs the tests near each. Prints those that no test notices, and how many there were by folder. `--sample`: maximum per folder, the
 * same ones for a seed as long as their lines do not change. `--guards [NAME…]`: the named mutants, each of which removes a guard, instead
 * of those found in the source. `--list` only prints the mutants. See docs/mutants.md.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: 'string', multiple: true, default: [] },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
    guards: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
/** A mutant whose tests take this much longer than without it hangs; with a guard removed, tests need time to reach their own timeouts. */
const PATIENCE = { times: 5, ms: 15_000, guard_ms: 150_000 };
const root = join(import.meta.dirname, '..');
const files = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => nearTests(file) !== null)
  .filter((file) => values.files.length === 0 || values.files.some((glob) => matchesGlob(file, glob)))
  .sort();
const sample = wholeNumber('--sample', values.sample ?? String(Number.MAX_SAFE_INTEGER));
const jobs = wholeNumber('--jobs', values.jobs);
if (positionals.length > 0 && !values.guards)
  fail(`names of guards follow --guards: ${positionals.join(', ')}`);
if (files.length === 0) fail(`no file that has tests near it fits ${values.files.join(', ')}`);

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) fail(`${name} takes a whole number, 1 or more`);
  return number;
}

function fail(why: string): never {
  console.error(why);
  process.exit(2);
}

/** A process of tests near a mutant, as measured without any mutant. `touched` is null for the tests of guards. */
interface Control extends NearProcess {
  readonly took_ms: number;
  readonly touched: Touched | null;
}

type Verdict = 'killed' | 'types' | 'survived' | 'equivalent';
const test_files = globSync('test/**/*.test.ts', { cwd: root }).filter(
  (file) => !/\.(long|deep)\.test\.ts$/.test(file),
);
const chosen = values.guards ? guardMutants(positionals) : sampleOf(allMutants());
if (values.list) {
  for (const mutant of chosen) console.log(told(mutant));
  console.log(`${chosen.length} mutants`);
  process.exit(0);
}

const trees: ScratchTree[] = [];
process.once('exit', () => {
  for (const tree of trees) tree.remove();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
for (let job = 0; job < Math.min(jobs, chosen.length); job += 1) trees.push(new ScratchTree(root));
// Servers in them answer with the built pages.
for (const tree of trees) await buildWeb(tree.root, join(tree.root, 'dist'));
await stop();

const controls = await control(trees[0] as ScratchTree);
const verdicts = new Map<Mutant, Verdict>();
const began = performance.now();
const waiting = [...chosen];
await Promise.all(trees.map((tree) => work(tree)));
table();
process.exit([...verdicts.values()].includes('survived') ? 1 : 0);

function allMutants(): readonly Mutant[] {
  const api = new API({ cwd: root });
  const project = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects()[0];
  const all = files.flatMap((file) => {
    const tree = project?.program.getSourceFile(join(root, file));
    return tree === undefined ? fail(`${file} is not part of the program`) : mutants(file, tree);
  });
  api.close();
  return all;
}

function sampleOf(all: readonly Mutant[]): Mutant[] {
  return Object.values(Object.groupBy(all, folderOf)).flatMap((some = []) =>
    some.toSorted((a, b) => lot(a).localeCompare(lot(b))).slice(0, sample),
  );
}

function guardMutants(names: readonly string[]): Mutant[] {
  const unknown = names.filter((name) => !ALL_GUARDS.some((guard) => guard.name === name));
  if (unknown.length > 0) fail(`no guard is called ${unknown.join(', ')}; see --guards --list`);
  const wanted = names.length === 0 ? ALL_GUARDS : ALL_GUARDS.filter(({ name }) => names.includes(name));
  return wanted.map((guard) => withoutGuard(readFileSync(join(root, guard.file), 'utf8'), guard));
}

/** One process for each test file that a guard names. */
function guardTests({ tests }: Guard): NearProcess[] {
  const files = test_files.filter((file) => tests.some((filter) => file.includes(filter)));
  return files.map((file) => ({ tests: [file.replace(/^test\/|\.test\.ts$/g, '')], one_database: false }));
}

function testsOf({ file, guard }: Mutant): NearProcess[] {
  return guard === undefined ? processes(nearTests(file)!) : guardTests(guard);
}

function folderOf({ file, guard }: Mutant): string {
  if (guard !== undefined) return '(guards)';
  return file.replace(/\/[^/]*$/, '');
}

/** The line in which the mutant begins, and its column. */
function lineOf({ file, start }: Mutant): { text: string; column: number } {
  const source = readFileSync(join(root, file), 'utf8');
  const begin = source.lastIndexOf('\n', start - 1) + 1;
  return { text: (source.slice(begin).split('\n')[0] as string).trim(), column: start - begin };
}

/** Sort key for sampling. Independent of the line number, so that a mutant stays chosen while other lines change. */
function lot(mutant: Mutant): string {
  const { text, column } = lineOf(mutant);
  return hash('sha256', JSON.stringify([values.seed, mutant.file, text, column, mutant.after]));
}

/** Runs the tests without any mutant, and exits if one fails; measures the time of each process and the places it reaches. */
async function control(tree: ScratchTree): Promise<ReadonlyMap<string, Control>> {
  const controls = new Map<string, Control>();
  const of_guards = chosen.some(({ guard }) => guard !== undefined);
  for (const one of chosen.flatMap(testsOf)) {
    if (controls.has(keyOf(one))) continue;
    const coverage = of_guards ? undefined : mkdtempSync(join(tmpdir(), 'coppice-mutants-'));
    const started_at = performance.now();
    const terms = { longest_ms: 10 * 60_000, ...(coverage === undefined ? {} : { coverage }) };
    const { killed_by } = await runTogether(tree, one, terms);
    if (killed_by !== null) fail(`red without any mutant: ${killed_by}`);
    const touched = coverage === undefined ? null : new Touched(coverage, tree.root);
    if (coverage !== undefined) rmSync(coverage, { recursive: true });
    controls.set(keyOf(one), { ...one, took_ms: performance.now() - started_at, touched });
  }
  return controls;
}

function keyOf({ tests, one_database }: NearProcess): string {
  return `${tests.join()} ${one_database}`;
}

/** Tests near a mutant that reach its place: the quick ones first, then the others by duration. */
function judgesOf(mutant: Mutant): Control[] {
  const place = join((trees[0] as ScratchTree).root, mutant.file);
  return testsOf(mutant)
    .map((one) => controls.get(keyOf(one)) as Control)
    .filter(({ touched }) => touched?.has(place, mutant.start) !== false)
    .toSorted((a, b) => b.tests.length - a.tests.length || a.took_ms - b.took_ms);
}

async function work(tree: ScratchTree): Promise<void> {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const { verdict, by } = await judged(tree, mutant);
    verdicts.set(mutant, verdict);
    const place = `[${verdicts.size}/${chosen.length}]`;
    console.log(`${place} ${verdict === 'survived' ? 'SURVIVED' : verdict}: ${told(mutant)}${by}`);
  }
}

async function judged(tree: ScratchTree, mutant: Mutant): Promise<{ verdict: Verdict; by: string }> {
  const { file, before, after } = mutant;
  const { text } = lineOf(mutant);
  const known = EQUIVALENT.find(
    (one) => one.file === file && one.line === text && one.before === before && one.after === after,
  );
  if (known !== undefined) return { verdict: 'equivalent', by: `  (${known.why})` };
  const source = readFileSync(join(tree.root, file), 'utf8');
  return tree.instead(file, mutated(source, mutant), async () => {
    const judges = judgesOf(mutant);
    const verdict = mutant.guard !== undefined;
    let broke = '';
    for (const one of judges) {
      const longest_ms = (verdict ? PATIENCE.guard_ms : PATIENCE.ms) + PATIENCE.times * one.took_ms;
      const run = await runTogether(tree, one, { longest_ms, verdict });
      if (run.killed_by !== null) return { verdict: 'killed', by: `  (${run.killed_by})` };
      if (run.broke !== null) broke = `  (tests crashed and found nothing wrong: ${run.broke})`;
    }
    const by = judges.length === 0 ? '  (no test near it gets there)' : broke;
    return { verdict: verdict || tree.compile() === null ? 'survived' : 'types', by };
  });
}

function table(): void {
  const row = (name: string, all: readonly Mutant[]) => {
    const count = (verdict: Verdict) => all.filter((one) => verdicts.get(one) === verdict).length;
    const [killed, survived] = [count('killed') + count('types'), count('survived')];
    const share = killed + survived === 0 ? '' : `${((100 * killed) / (killed + survived)).toFixed(1)} %`;
    return `| ${name} | ${all.length} | ${killed} | ${survived} | ${count('equivalent')} | ${share} |`;
  };
  console.log('\n| folder | made | killed | survived | equivalent | share |\n| - | - | - | - | - | - |');
  for (const [folder, all = []] of Object.entries(Object.groupBy(chosen, folderOf)))
    console.log(row(folder, all));
  console.log(`${row('(all)', chosen)}\n`);
  for (const [mutant, verdict] of verdicts)
    if (verdict === 'survived') console.log(`SURVIVED ${told(mutant)}`);
  console.log(`${((performance.now() - began) / 60_000).toFixed(1)} minutes`);
}
