// Proves that the floors checker turns red for each rule that it keeps, names file, line and remedy, and stays green on a clean tree.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { it } from 'node:test';
import { describeFloors, FLOORS, LONGER, SIBLINGS } from '../../scripts/floor-table.ts';
import { checkFloors } from '../../scripts/floors.ts';

type Tree = Readonly<Record<string, string>>;

/** Writes the tree, checks it, and returns each problem as `place:line: message`. */
function check(tree: Tree): string[] {
  const root = mkdtempSync(join(tmpdir(), 'coppice-floors-'));
  try {
    const src = join(root, 'src');
    const files = Object.entries(tree).map(([path, text]) => {
      const file = join(src, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    });
    return checkFloors(src, files).map(
      ({ file, line, message }) => `${relative(src, file).split(sep).join('/')}:${line}: ${message}`,
    );
  } finally {
    rmSync(root, { recursive: true });
  }
}

const red: readonly (readonly [string, Tree, RegExp])[] = [
  [
    'a type imported upwards',
    { 'core/a.ts': "\n\nimport type { B } from '../store/b.ts';", 'store/b.ts': '' },
    /^core\/a\.ts:3: core \(floor 0\) may not import store\/b\.ts \(floor 4\)/,
  ],
  [
    'an import over several lines, upwards',
    { 'tools/a.ts': "import {\n  b,\n} from '../runtime/b.ts';", 'runtime/b.ts': '' },
    /^tools\/a\.ts:3: tools \(floor 1\) may not import runtime\/b\.ts/,
  ],
  [
    'something exported on from above',
    { 'store/a.ts': "export { b } from '../cli/b.ts';", 'cli/b.ts': '' },
    /^store\/a\.ts:1: store \(floor 4\) may not import cli\/b\.ts/,
  ],
  [
    'a type named by import() from above',
    { 'store/a.ts': "export type A = import('../cli/b.ts').B;", 'cli/b.ts': '' },
    /^store\/a\.ts:1: store \(floor 4\) may not import cli\/b\.ts/,
  ],
  [
    'a dynamic import upwards, inside a template',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text under test
    { 'tools/a.ts': "export const a = `${await import('../cli/b.ts')} text`;", 'cli/b.ts': '' },
    /^tools\/a\.ts:1: tools \(floor 1\) may not import cli\/b\.ts/,
  ],
  [
    'a dynamic import that computes its name',
    { 'tools/a.ts': 'export const a = (name: string) => import(name);' },
    /^tools\/a\.ts:1: .*cannot be checked/,
  ],
  [
    'siblings',
    { 'render/a.ts': "import { b } from '../tools/b.ts';", 'tools/b.ts': '' },
    /^render\/a\.ts:1: render and tools are on the same floor/,
  ],
  [
    'the other way round of an allowed sibling',
    { 'tools/a.ts': "import type { M } from '../models/model.ts';", 'models/model.ts': '' },
    /tools and models are on the same floor/,
  ],
  [
    'more of a sibling than what is allowed',
    { 'models/a.ts': "import type { T } from '../tools/tool.ts';", 'tools/tool.ts': '' },
    /models and tools are on the same floor/,
  ],
  [
    'two doors',
    { 'tui/a.ts': "import { b } from '../server/b.ts';", 'server/b.ts': '' },
    /tui and server are on the same floor/,
  ],
  ['a package in core', { 'core/a.ts': "import { z } from 'zod';" }, /core imports nothing, not even zod/],
  [
    'a built-in module in core, for its type',
    { 'core/a.ts': "import type { Stats } from 'node:fs';" },
    /core imports nothing, not even node:fs/,
  ],
  [
    'processes in a toolset',
    { 'toolsets/a.ts': "import { spawn } from 'node:child_process';" },
    /toolsets does no I\/O, so it may not import node:child_process/,
  ],
  ['a clock in core', { 'core/a.ts': '\nexport const at = Date.now();' }, /^core\/a\.ts:2: .*reads a clock/],
  ['another clock', { 'core/a.ts': 'export const at = new Date();' }, /reads a clock/],
  ['ids in core', { 'core/a.ts': 'export const id = crypto.randomUUID();' }, /makes randomness or ids/],
  ['await in core', { 'core/a.ts': 'export const a = async () => 1;' }, /awaits/],
  ['http in a toolset', { 'toolsets/a.ts': "export const a = fetch('http://x');" }, /does I\/O/],
  ['the environment in core', { 'core/a.ts': 'export const a = process.env;' }, /touches the process/],
  ['a timer in a toolset', { 'toolsets/a.ts': 'setTimeout(() => 1, 2);' }, /sets a timer/],
  [
    'the inside of the runtime, from a door',
    {
      'server/a.ts': "import { x } from '../runtime/executor.ts';",
      'runtime/executor.ts': '//\n'.repeat(301),
    },
    /of the runtime, server may import only runtime\/open-runtime\.ts/,
  ],
  [
    'the inside of the runtime, from the library',
    { 'coppice.ts': "import { x } from './runtime/cell.ts';", 'runtime/cell.ts': '' },
    /of the runtime, the library may import only/,
  ],
  [
    'a deeper file with a name of the face',
    {
      'cli/a.ts': "import { x } from '../runtime/deep/runtime-face.ts';",
      'runtime/deep/runtime-face.ts': '',
    },
    /of the runtime, cli may import only/,
  ],
  [
    'a door in the library',
    { 'coppice.ts': "import { x } from './server/a.ts';", 'server/a.ts': '' },
    /the library may not import the door server\/a\.ts/,
  ],
  [
    'the library in the command line',
    { 'cli/a.ts': "import { x } from '../coppice.ts';", 'coppice.ts': '' },
    /cli and the library are on the same floor/,
  ],
  [
    'a file outside of src',
    { 'cli/a.ts': "import { x } from '../../test/x.ts';" },
    /src imports only from src/,
  ],
  [
    'a folder without a floor',
    { 'attic/a.ts': "import { b } from '../core/b.ts';", 'core/b.ts': '' },
    /the folder attic has no floor/,
  ],
  [
    'a cycle of types',
    { 'core/a.ts': "import type { B } from './b.ts';", 'core/b.ts': "import type { A } from './a.ts';" },
    /^core\/a\.ts:1: import cycle: core\/a\.ts → core\/b\.ts → core\/a\.ts\. Move/,
  ],
  [
    'a file that imports itself',
    { 'core/a.ts': "import type { A } from './a.ts';" },
    /import cycle: core\/a\.ts → core\/a\.ts/,
  ],
  [
    'a second cycle behind the first',
    {
      'core/a.ts': "import './b.ts';",
      'core/b.ts': "import './a.ts';\nimport './c.ts';",
      'core/c.ts': "import './d.ts';",
      'core/d.ts': "import './c.ts';",
    },
    /import cycle: core\/c\.ts → core\/d\.ts → core\/c\.ts/,
  ],
  ['a long file', { 'core/a.ts': '1;\n'.repeat(301) }, /^core\/a\.ts:301: has 301 lines/],
  [
    'a file longer than its allowance',
    { 'runtime/executor.ts': '1;\n'.repeat(401) },
    /has 401 lines: a file over 400/,
  ],
  [
    'an allowance that nobody needs any more',
    { 'runtime/executor.ts': '1;\n'.repeat(300) },
    /needs no allowance any more/,
  ],
  ['a barrel by name', { 'core/index.ts': '' }, /index\.ts says nothing/],
  [
    'a star export',
    { 'core/b.ts': '', 'core/a.ts': "\nexport * from './b.ts';" },
    /^core\/a\.ts:2: no `export \*`/,
  ],
  [
    'a star export of types',
    { 'core/b.ts': '', 'core/a.ts': "export type * from './b.ts';" },
    /no `export \*`/,
  ],
  ['a default export', { 'core/a.ts': 'export default 1;' }, /^core\/a\.ts:1: no default exports/],
  [
    'a default export by renaming',
    { 'core/a.ts': 'const a = 1;\nexport { a as default };' },
    /:2: no default/,
  ],
  ...[
    'utils.ts',
    'helper.ts',
    'helpers/a.ts',
    'misc.ts',
    'lease-manager.ts',
    'types.ts',
    'test-utils.ts',
  ].map(
    (name) => [`the name ${name}`, { [`core/${name}`]: '' }, /says nothing about what is in it/] as const,
  ),
  [
    'a name in camel case',
    { 'core/waitEdges.ts': '' },
    /waitEdges\.ts: names of files and folders are kebab-case/,
  ],
];

for (const [name, tree, expected] of red) {
  it(`turns red: ${name}`, () => {
    const problems = check(tree);
    assert.ok(
      problems.some((problem) => expected.test(problem)),
      `expected ${expected}, got:\n${problems.join('\n') || 'no problem'}`,
    );
  });
}

it('stays green on a clean tree', () => {
  const clean = {
    'core/a.ts': [
      '// import { x } from "../cli/b.ts"',
      '/* export * from "../cli/b.ts" */',
      'export const said = "import x from \'../cli/b.ts\'; export default 1; await x";',
      'export const pattern = /import x from "zod"/;',
      'export const when = (at: number) => new Date(at).toISOString();',
      'export const state = { process: 1, fetch: 2 };',
      'export const one = state.process;',
    ].join('\n'),
    'models/m.ts':
      "import type {\n  ToolSpec,\n} from '../tools/tool-spec.ts';\nimport { one } from '../core/a.ts';",
    'tools/tool-spec.ts': "import { spawn } from 'node:child_process';\nexport const url = import.meta.url;",
    'toolsets/t.ts': "import { z } from 'zod';",
    'cli/b.ts': "import { one } from '../core/a.ts';\nimport type { F } from '../runtime/runtime-face.ts';",
    'server/s.ts': "export const open = () => import('../runtime/open-runtime.ts');",
    'runtime/runtime-face.ts': '',
    'runtime/open-runtime.ts': "import './runtime-face.ts';",
    'coppice.ts': "export { one } from './core/a.ts';\nimport { open } from './runtime/open-runtime.ts';",
  };
  assert.deepEqual(check(clean), []);
});

it('shows every floor, and every allowance with its reason', () => {
  const table = describeFloors();
  for (const folder of Object.keys(FLOORS).filter((name) => name !== ''))
    assert.match(table, new RegExp(`\\b${folder}\\b`));
  for (const { reason } of [...SIBLINGS, ...Object.values(LONGER)]) assert.ok(table.includes(reason));
});
