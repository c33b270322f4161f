// Proves that the floors checker fails for each rule that it enforces, names file, line and remedy, and passes on a clean tree.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { it } from 'node:test';
import { CROWDED, describeFloors, FLOORS } from '../../scripts/floor-table.ts';
import { checkFloors } from '../../scripts/floors.ts';
import { temporaryFolder } from '../temporary-folder.ts';

type Tree = Readonly<Record<string, string>>;

/** Writes the tree, checks it, and returns each problem as `place:line: message`. */
function check(tree: Tree): string[] {
  const root = temporaryFolder();
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
}

const red: readonly (readonly [string, Tree, RegExp])[] = [
  [
    'a type imported upwards',
    { 'records/a.ts': "\n\nimport type { B } from '../store/b.ts';", 'store/b.ts': '' },
    /^records\/a\.ts:3: records \(floor 0\) may not import store\/b\.ts \(floor 5\)/,
  ],
  [
    'an import over several lines, upwards',
    { 'tools/a.ts': "import {\n  b,\n} from '../runtime/b.ts';", 'runtime/b.ts': '' },
    /^tools\/a\.ts:3: tools \(floor 3\) may not import runtime\/b\.ts/,
  ],
  [
    'something exported on from above',
    { 'store/a.ts': "export { b } from '../cli/b.ts';", 'cli/b.ts': '' },
    /^store\/a\.ts:1: store \(floor 5\) may not import cli\/b\.ts/,
  ],
  [
    'a type named by import() from above',
    { 'store/a.ts': "export type A = import('../cli/b.ts').B;", 'cli/b.ts': '' },
    /^store\/a\.ts:1: store \(floor 5\) may not import cli\/b\.ts/,
  ],
  [
    'a dynamic import upwards, inside a template',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text under test
    { 'tools/a.ts': "export const a = `${await import('../cli/b.ts')} text`;", 'cli/b.ts': '' },
    /^tools\/a\.ts:1: tools \(floor 3\) may not import cli\/b\.ts/,
  ],
  [
    'a dynamic import that computes its name',
    { 'tools/a.ts': 'export const a = (name: string) => import(name);' },
    /^tools\/a\.ts:1: .*cannot be checked/,
  ],
  [
    'siblings',
    { 'render/a.ts': "import { b } from '../processes/b.ts';", 'processes/b.ts': '' },
    /^render\/a\.ts:1: render and processes are on the same floor/,
  ],
  [
    'two doors',
    { 'tui/a.ts': "import { b } from '../cron/b.ts';", 'cron/b.ts': '' },
    /tui and cron are on the same floor/,
  ],
  [
    'a package in records',
    { 'records/a.ts': "import { z } from 'zod';" },
    /records import nothing, not even zod/,
  ],
  [
    'a built-in module in records, for its type',
    { 'records/a.ts': "import type { Stats } from 'node:fs';" },
    /records import nothing, not even node:fs/,
  ],
  [
    'processes in the kernel',
    { 'kernel/a.ts': "import { spawn } from 'node:child_process';" },
    /kernel does no I\/O, so it may not import node:child_process/,
  ],
  [
    'a built-in module that the kernel loads later',
    { 'kernel/a.ts': "export const a = () => createRequire(import.meta.url)('node:fs');" },
    /^kernel\/a\.ts:1: .*may not import node:fs/,
  ],
  [
    'a package that the records load later',
    { 'records/a.ts': "export const a = () => createRequire(import.meta.url)('zod');" },
    /records import nothing, not even zod/,
  ],
  [
    'a package loaded by a name that is computed',
    { 'tools/a.ts': 'export const a = (name: string) => createRequire(import.meta.url)(name);' },
    /^tools\/a\.ts:1: .*cannot be checked/,
  ],
  [
    'a clock in the records',
    { 'records/a.ts': '\nexport const at = Date.now();' },
    /^records\/a\.ts:2: .*reads a clock/,
  ],
  ['another clock', { 'records/a.ts': 'export const at = new Date();' }, /reads a clock/],
  ['ids in records', { 'records/a.ts': 'export const id = crypto.randomUUID();' }, /makes randomness or ids/],
  ['await in records', { 'records/a.ts': 'export const a = async () => 1;' }, /awaits/],
  ['http in the kernel', { 'kernel/a.ts': "export const a = fetch('http://x');" }, /does I\/O/],
  ['the environment in records', { 'records/a.ts': 'export const a = process.env;' }, /touches the process/],
  ['a timer in the kernel', { 'kernel/a.ts': 'setTimeout(() => 1, 2);' }, /sets a timer/],
  [
    'the inside of the runtime, from a door',
    {
      'serve/a.ts': "import { x } from '../runtime/executor.ts';",
      'runtime/executor.ts': '//\n'.repeat(451),
    },
    /of the runtime, serve may import only runtime\/open-runtime\.ts/,
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
    { 'coppice.ts': "import { x } from './cron/a.ts';", 'cron/a.ts': '' },
    /the library may not import the door cron\/a\.ts/,
  ],
  [
    'a wire protocol in the engine, by a type',
    {
      'core.ts': "export { open } from './runtime/open-runtime.ts';",
      'runtime/open-runtime.ts': "export { open } from './deep.ts';",
      'runtime/deep.ts': "import type { Wire } from '../models/wire/wire.ts';",
      'models/wire/wire.ts': '',
    },
    /^runtime\/deep\.ts:1: core\.ts may not reach the file models\/wire\/wire\.ts \(core\.ts → runtime\/open-runtime\.ts → runtime\/deep\.ts → models\/wire\/wire\.ts\)/,
  ],
  [
    'a built-in tool in the engine, loaded later',
    {
      'core.ts': "export const later = () => import('./kernel/a.ts');",
      'kernel/a.ts': "import { bash } from '../tools/bash.ts';",
      'tools/bash.ts': '',
    },
    /^kernel\/a\.ts:1: core\.ts may not reach the file tools\/bash\.ts/,
  ],
  [
    'PostgreSQL in the engine',
    { 'core.ts': "import './store/postgres/a.ts';", 'store/postgres/a.ts': '' },
    /^core\.ts:1: core\.ts may not reach the file store\/postgres\/a\.ts/,
  ],
  [
    'another package in the engine',
    { 'core.ts': "import './store/store.ts';", 'store/store.ts': "import pg from 'pg';" },
    /core\.ts may not reach the package pg \(core\.ts → store\/store\.ts\)/,
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
    { 'attic/a.ts': "import { b } from '../records/b.ts';", 'records/b.ts': '' },
    /the folder attic has no floor/,
  ],
  [
    'a cycle of types',
    {
      'records/a.ts': "import type { B } from './b.ts';",
      'records/b.ts': "import type { A } from './a.ts';",
    },
    /^records\/a\.ts:1: import cycle: records\/a\.ts → records\/b\.ts → records\/a\.ts\. Move/,
  ],
  [
    'a file that imports itself',
    { 'records/a.ts': "import type { A } from './a.ts';" },
    /import cycle: records\/a\.ts → records\/a\.ts/,
  ],
  [
    'a second cycle behind the first',
    {
      'records/a.ts': "import './b.ts';",
      'records/b.ts': "import './a.ts';\nimport './c.ts';",
      'records/c.ts': "import './d.ts';",
      'records/d.ts': "import './c.ts';",
    },
    /import cycle: records\/c\.ts → records\/d\.ts → records\/c\.ts/,
  ],
  [
    'sibling folders that import each other, by files that do not',
    {
      'tui/keys/deep/a.ts': "import '../../views/b.ts';",
      'tui/views/b.ts': '',
      'tui/views/c.ts': "import '../keys/d.ts';",
      'tui/keys/d.ts': '',
    },
    /^tui\/keys\/deep\/a\.ts:1: imports tui\/views\/b\.ts, and tui\/views\/c\.ts imports tui\/keys\/d\.ts/,
  ],
  ['a long file', { 'records/a.ts': '1;\n'.repeat(451) }, /^records\/a\.ts:451: has 451 lines/],
  ['a barrel by name', { 'records/index.ts': '' }, /index\.ts says nothing/],
  [
    'a star export',
    { 'records/b.ts': '', 'records/a.ts': "\nexport * from './b.ts';" },
    /^records\/a\.ts:2: no `export \*`/,
  ],
  [
    'a star export of types',
    { 'records/b.ts': '', 'records/a.ts': "export type * from './b.ts';" },
    /no `export \*`/,
  ],
  ['a default export', { 'records/a.ts': 'export default 1;' }, /^records\/a\.ts:1: no default exports/],
  [
    'a default export by renaming',
    { 'records/a.ts': 'const a = 1;\nexport { a as default };' },
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
    (name) => [`the name ${name}`, { [`records/${name}`]: '' }, /says nothing about what is in it/] as const,
  ),
  [
    'a folder with too many names',
    Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`store/deep/f${n}.ts`, ''])),
    /^store\/deep:1: holds 17 names/,
  ],
  ['an allowance for names that nobody needs any more', { 'a.ts': '' }, /^:1: needs no allowance any more/],
  [
    'a name in camel case',
    { 'records/waitEdges.ts': '' },
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
    'records/a.ts': [
      '// import { x } from "../cli/b.ts"',
      '/* export * from "../cli/b.ts" */',
      'export const said = "import x from \'../cli/b.ts\'; export default 1; await x";',
      'export const pattern = /import x from "zod"/;',
      'export const when = (at: number) => new Date(at).toISOString();',
      'export const state = { process: 1, fetch: 2 };',
      'export const one = state.process;',
    ].join('\n'),
    'models/m.ts':
      "import type {\n  ToolSpec,\n} from '../processes/mark.ts';\nimport { one } from '../records/a.ts';",
    'processes/mark.ts': "import { spawn } from 'node:child_process';\nexport const url = import.meta.url;",
    'kernel/t.ts': "import { z } from 'zod';",
    'tui/app.ts': "import './keys/d.ts';",
    'tui/keys/d.ts': "import '../app-context.ts';\nimport '../views/b.ts';",
    'tui/views/b.ts': "import './deep/c.ts';",
    'tui/views/deep/c.ts': "import '../e.ts';",
    'cli/b.ts':
      "import { one } from '../records/a.ts';\nimport type { F } from '../runtime/runtime-face.ts';",
    'serve/s.ts': "export const open = () => import('../runtime/open-runtime.ts');",
    'runtime/runtime-face.ts': '',
    'runtime/open-runtime.ts': "import './runtime-face.ts';",
    'coppice.ts': "export { one } from './records/a.ts';\nimport { open } from './runtime/open-runtime.ts';",
    'core.ts': "import { open } from './runtime/open-runtime.ts';\nimport './store/store.ts';",
    'store/store.ts': "import { z } from 'zod';",
  };
  const crowded = (line: string) =>
    line.endsWith('needs no allowance any more: take it out of scripts/floor-table.ts.');
  assert.deepEqual(
    check(clean).filter((line) => !crowded(line)),
    [],
  );
});

it('shows every floor, and every allowance with its reason', () => {
  const table = describeFloors();
  for (const folder of Object.keys(FLOORS).filter((name) => name !== ''))
    assert.match(table, new RegExp(`\\b${folder}\\b`));
  for (const { reason } of Object.values(CROWDED)) assert.ok(table.includes(reason));
});
