// Proves that imports and exports are found in every notation, with their lines, and never in plain text.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { scanModule } from '../../scripts/scan-module.ts';

function specifiers(text: string): (string | null)[] {
  return scanModule(text).references.map((one) => one.specifier);
}

it('finds every form of import and export', () => {
  const found = scanModule(
    [
      "import a from 'a'",
      'import type {',
      ' B,',
      "} from 'b';",
      "export { c } from 'c';",
      "import 'd';",
      "void import('e');",
      "type F = import('f').F;",
      "import g, { type h as i, default as j } from 'g';",
      "import * as k from 'h'; export * as l from 'i'; export type { M } from 'j';",
      "import n from './n.json' with { type: 'json' };",
      'import\no\nfrom\n`k`.l;',
      "import {} from 'm'",
    ].join('\n'),
  );
  assert.deepEqual(
    found.references.map((one) => [one.line, one.specifier]),
    [
      [1, 'a'],
      [4, 'b'],
      [5, 'c'],
      [6, 'd'],
      [7, 'e'],
      [8, 'f'],
      [9, 'g'],
      [10, 'h'],
      [10, 'i'],
      [10, 'j'],
      [11, './n.json'],
      [15, 'k'],
      [16, 'm'],
    ],
  );
});

it('is not deceived by text, names and other keywords', () => {
  assert.deepEqual(
    specifiers(
      [
        "// import a from 'a'",
        "/* import 'b' */ const text = \"import c from 'c'\";",
        "const from = 'd'; export const to = from, x = 'e';",
        "export { from };\nconst y = 'f';",
        "export type G = { from: 'g' };",
        'const pattern = /import "h"/; const half = x / 2; const more = "/import(\'i\')/";',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template is what is scanned
        "const t = `import 'j' ${`from 'k' ${1}`} from 'l'`;",
        "loader.import('m'); import.meta.resolve('n');",
      ].join('\n'),
    ),
    [],
  );
});

it('goes on behind templates and regular expressions', () => {
  const code = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template is what is scanned
    "const t = `a ${{ b: `c ${1}` }} d`; import('x');",
    "const r = (a) / 2; const s = [1] / /['\"`]/.exec('')!.length; import('y');",
    "const u = () => { return /'/ }; import('z');",
  ].join('\n');
  assert.deepEqual(specifiers(code), ['x', 'y', 'z']);
});

it('says when a name is computed', () => {
  assert.deepEqual(specifiers('import(name); import("a" + b); import("c", { with: {} });'), [
    null,
    null,
    'c',
  ]);
});
