// Proves that mutants are what they are meant to be: one change each of what the program does, none of types, prose or imports; that those known to be
// equivalent still stand in the program; and that the tests near each part are there.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { API } from 'typescript/unstable/sync';
import { EQUIVALENT } from '../../scripts/mutants/equivalent.ts';
import { mutated } from '../../scripts/mutants/mutant.ts';
import { mutants } from '../../scripts/mutants/mutations.ts';
import { NEAR, nearTests } from '../../scripts/mutants/near-tests.ts';

const root = join(import.meta.dirname, '..', '..');

/** The lines of the source that mutants turn a line into. */
function changesOf(line: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-mutants-'));
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
    rmSync(folder, { recursive: true });
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

it('the tests near each part are there, and the first row that fits counts', () => {
  for (const { quick, slow } of NEAR)
    for (const test of [...quick, ...slow]) assert.ok(existsSync(join(root, `test/${test}.test.ts`)), test);
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
