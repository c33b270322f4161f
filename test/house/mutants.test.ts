// Proves that each mutant is one change of the program's behaviour, never of types, prose or imports; that mutants known to be equivalent still occur in the
// program; and that the tests listed for each part exist. For guards: that each occurs in its file exactly once, that a moved guard is reported
// instead of skipped, and that a program that fails to run is not counted as detected by a test.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import { API } from 'typescript/unstable/sync';
import { EQUIVALENT } from '../../scripts/mutants/equivalent.ts';
import { ALL_GUARDS } from '../../scripts/mutants/guards/all-guards.ts';
import { withoutGuard } from '../../scripts/mutants/guards/guard.ts';
import { mutated } from '../../scripts/mutants/mutant.ts';
import { mutants } from '../../scripts/mutants/mutations.ts';
import { NEAR, nearTests } from '../../scripts/mutants/near-tests.ts';
import testLines, { type TestEvent } from '../../scripts/mutants/test-lines.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');

/** Returns the variants of a line that its mutants produce. */
function changesOf(line: string): string[] {
  const folder = temporaryFolder();
  const file = join(folder, 'one.ts');
  writeFileSync(file, line);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{ "files": ["one.ts"], "compilerOptions": { "noLib": true } }',
  );
  const api = new API({ cwd: folder });
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] }).getProjects();
    const tree = project?.program.getSourceFile(file);
    assert.ok(tree);
    return mutants('one.ts', tree).map((mutant) => mutated(line, mutant));
  } finally {
    api.close();
  }
}

it('turns comparisons, joints, signs and conditions around, one at a time', () => {
  assert.deepEqual(changesOf('f(a < b && c === d ? 1 : x - 1);').toSorted(), [
    ';',
    'f(!(a < b && c === d) ? 1 : x - 1);',
    'f(a < b && c !== d ? 1 : x - 1);',
    'f(a < b && c === d ? 1 : x + 1);',
    'f(a < b || c === d ? 1 : x - 1);',
    'f(a <= b && c === d ? 1 : x - 1);',
  ]);
});

it('leaves out checks, calls, elements and what stands in for nothing', () => {
  assert.deepEqual(changesOf('if (!a) throw new Error("no, it is not");'), [
    ';',
    'if (a) throw new Error("no, it is not");',
  ]);
  assert.deepEqual(
    changesOf('const a = [...b, c ?? d];').toSorted(),
    ['const a = [...[], c ?? d];', 'const a = [...b, c ];', 'const a = [];'].toSorted(),
  );
  assert.deepEqual(changesOf('const a = b.filter(c).some(d);').toSorted(), [
    'const a = b.filter(c).every(d);',
    'const a = b.some(d);',
  ]);
});

it('leaves types, imports and prose alone, and reads the conditions of SQL', () => {
  assert.deepEqual(changesOf('import type { A } from "a"; type B = true | "b"; const c: A = d as B;'), []);
  assert.deepEqual(changesOf('const sql = `SELECT a FROM b WHERE c < $1 AND d IS NULL`;').toSorted(), [
    'const sql = `SELECT a FROM b WHERE c < $1 AND d IS NOT NULL`;',
    'const sql = `SELECT a FROM b WHERE c < $1 OR d IS NULL`;',
    'const sql = `SELECT a FROM b WHERE c <= $1 AND d IS NULL`;',
  ]);
});

it('finds the place behind signs that are more than one byte', () => {
  assert.deepEqual(changesOf('const a = "…’"; /* → */ const b = true;'), [
    'const a = "…’"; /* → */ const b = false;',
  ]);
});

it('each part and the tests near it are there, and the first row that fits counts', () => {
  const files = globSync('src/**/*.ts', { cwd: root });
  for (const { under, quick, slow } of NEAR) {
    for (const test of [...quick, ...slow]) assert.ok(existsSync(join(root, `test/${test}.test.ts`)), test);
    for (const part of under)
      assert.ok(
        files.some((file) => file.startsWith(`src/${part}`)),
        part,
      );
  }
  assert.ok(nearTests('src/store/postgres/listener.ts')?.slow.includes('store/store-postgres'));
  assert.equal(nearTests('src/tui/terminal/screen.ts'), null);
});

it('mutants that are known to be equivalent stand in the program, with a reason', () => {
  for (const { file, line, before, why } of EQUIVALENT) {
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    assert.ok(
      lines.some((one) => one.trim() === line),
      `${file}: ${line}`,
    );
    assert.ok(line.includes(before.split('\n')[0] as string) && why !== '', line);
  }
});

it('every guard is found once, and taking it out changes its file', () => {
  for (const guard of ALL_GUARDS) {
    const source = readFileSync(join(root, guard.file), 'utf8');
    assert.notEqual(mutated(source, withoutGuard(source, guard)), source, guard.name);
  }
});

it('no two guards have one name, and there are enough of them', () => {
  const names = ALL_GUARDS.map(({ name }) => name);
  assert.deepEqual([...new Set(names)], names);
  for (const name of names) assert.match(name, /^[a-z]+(-[a-z]+)*$/);
  assert.ok(names.length >= 22);
  assert.ok(ALL_GUARDS.filter(({ file }) => file.includes('/postgres/')).length >= 5);
});

it('every filter of every guard finds a test', () => {
  const files = globSync('test/**/*.test.ts', { cwd: root });
  for (const { name, tests } of ALL_GUARDS) {
    assert.ok(tests.length > 0, name);
    for (const filter of tests)
      assert.ok(
        files.some((file) => file.includes(filter)),
        `${name}: ${filter}`,
      );
  }
});

it('a guard that is not there any more, or is there twice, is reported', () => {
  const guard = { name: 'lock', protects: '', file: 'src/door.ts', guard: 'lock();', without: '', tests: [] };
  const shut = 'shut();\nlock();';
  assert.equal(mutated(shut, withoutGuard(shut, guard)), 'shut();\n');
  assert.equal(withoutGuard(shut, guard).line, 2);
  assert.throws(() => withoutGuard('shut(); bolt();', guard), /guard not found: lock: src\/door\.ts/);
  assert.throws(() => withoutGuard('lock(); lock();', guard), /guard not clear: lock: .* 2 times/);
});

it('red counts where a test found the program wrong, not where the program broke', async () => {
  const assertion = Object.assign(new Error('1 !== 2'), { code: 'ERR_ASSERTION' });
  const failures = [
    ['asserts', 'testCodeFailure', assertion],
    [
      'asserts in a property',
      'testCodeFailure',
      new Error('Property failed after 3 tests', { cause: assertion }),
    ],
    ['waits in vain', 'testCodeFailure', new Error('it never came to this: the end')],
    ['takes too long', 'testTimeoutFailure', 'test timed out after 5ms'],
    ['throws', 'testCodeFailure', new TypeError('x is not a function')],
    ['hook', 'hookFailed', new Error('no server')],
    ['process', 'uncaughtException', assertion],
  ] as const;
  const events = failures.map(([name, failureType, cause]) => ({
    type: 'test:fail',
    data: { name, file: '/x.test.ts', details: { type: 'test', error: { failureType, cause } } },
  }));
  const suite = {
    name: 'suite',
    file: '/x.test.ts',
    details: { type: 'suite', error: { failureType: 'subtestsFailed' } },
  };
  const told: TestEvent[] = [];
  const source = Readable.from([
    ...events,
    { type: 'test:fail', data: suite },
    { type: 'test:stdout', data: suite },
  ]);
  for await (const line of testLines(source)) told.push(JSON.parse(line) as TestEvent);
  assert.deepEqual(
    told.map(({ name, failure }) => [name, failure]),
    failures.map(([name], place) => [name, place < 4 ? 'verdict' : 'crash']),
  );
});
