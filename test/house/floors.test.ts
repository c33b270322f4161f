// Proves that the floors checker turns red for each rule it claims to keep, and stays green on a clean tree.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { checkFloors, importsOf } from '../../scripts/floors.ts';

function check(tree: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'coppice-floors-'));
  const src = join(root, 'src');
  const files = Object.entries(tree).map(([path, text]) => {
    const file = join(src, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  });
  const problems = checkFloors(src, files).map((problem) => problem.message);
  rmSync(root, { recursive: true });
  return problems;
}

const cases: readonly (readonly [string, Record<string, string>, RegExp])[] = [
  [
    'upwards',
    { 'core/a.ts': "import type { B } from '../store/b.ts';", 'store/b.ts': '' },
    /may not import store\/b.ts/,
  ],
  ['siblings', { 'store/a.ts': "import { b } from '../tools/b.ts';", 'tools/b.ts': '' }, /same floor/],
  ['packages in core', { 'core/a.ts': "import { z } from 'zod';" }, /core imports nothing/],
  ['I/O in toolsets', { 'toolsets/a.ts': "import { readFile } from 'node:fs';" }, /no I\/O/],
  [
    'inside of the runtime',
    { 'cli/a.ts': "import { x } from '../runtime/executor.ts';", 'runtime/executor.ts': '' },
    /of the runtime/,
  ],
  [
    'dynamic import',
    { 'core/a.ts': "const b = await import('../cli/b.ts');", 'cli/b.ts': '' },
    /may not import cli/,
  ],
  [
    'type cycle',
    { 'core/a.ts': "import type { B } from './b.ts';", 'core/b.ts': "import type { A } from './a.ts';" },
    /import cycle: core\/a.ts → core\/b.ts → core\/a.ts/,
  ],
  ['unknown folder', { 'attic/a.ts': "import { b } from '../core/b.ts';", 'core/b.ts': '' }, /has no floor/],
  ['long file', { 'core/a.ts': '1;\n'.repeat(301) }, /second noun/],
  ['barrel', { 'core/index.ts': "export * from './a.ts';", 'core/a.ts': '' }, /says nothing|no `export \*`/],
  ['default export', { 'core/a.ts': 'export default 1;' }, /no default/],
  ['bad name', { 'core/utils.ts': '' }, /says nothing/],
];

for (const [name, tree, expected] of cases) {
  it(`turns red: ${name}`, () => {
    const problems = check(tree);
    assert.ok(
      problems.some((message) => expected.test(message)),
      problems.join('\n'),
    );
  });
}

it('stays green on a clean tree', () => {
  const clean = {
    'core/a.ts': '// import { x } from "../cli/b.ts"\nexport const a = 1;',
    'models/m.ts':
      "import type {\n  ToolSpec,\n} from '../tools/tool-spec.ts';\nimport { a } from '../core/a.ts';",
    'tools/tool-spec.ts': '',
    'cli/b.ts': "import { a } from '../core/a.ts';\nimport type { F } from '../runtime/runtime-face.ts';",
    'runtime/runtime-face.ts': '',
  };
  assert.deepEqual(check(clean), []);
});

it('finds imports however they are written', () => {
  const found = importsOf(
    "import a from 'a'\nimport type {\n B,\n} from 'b';\nexport { c } from 'c';\nimport 'd';\nvoid import('e');",
  );
  assert.deepEqual(
    found.map((one) => [one.line, one.specifier]),
    [
      [1, 'a'],
      [4, 'b'],
      [5, 'c'],
      [6, 'd'],
      [7, 'e'],
    ],
  );
});
