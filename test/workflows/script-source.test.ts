// Proves which sources are workflow scripts, what is read of their `meta`, and that a refusal names the line of the author's file.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SOURCE_MAX } from '../../src/models/workflow/script-places.ts';
import { compileScript, readMeta } from '../../src/models/workflow/script-source.ts';

const META = "export const meta = { name: 'n', description: 'd' }";

it('meta is read after comments of any length, with its phases, and without the rest of the script', () => {
  const source = `#!/usr/bin/env node\n/* ${'long '.repeat(50_000)}\n*/\n// more\nexport const meta = {
    name: 'review', description: \`all of it\`, 'whenToUse': "often", model: 'x', depth: -1, nested: { a: [1, null, true] },
    phases: [{ title: 'A', detail: 'first' }, { title: 'B', model: 'haiku' }],
  };\nthis is no JavaScript`;
  assert.deepEqual(readMeta(source), {
    name: 'review',
    description: 'all of it',
    when_to_use: 'often',
    phases: [
      { title: 'A', detail: 'first', model: null },
      { title: 'B', detail: null, model: 'haiku' },
    ],
  });
});

const refused: readonly (readonly [name: string, source: string, message: RegExp])[] = [
  ['nothing', '', /line 1 .*first statement/],
  ['another first statement', `\n\nconst a = 1\n${META}`, /line 3 .*first statement/],
  ['let', "export let meta = { name: 'n', description: 'd' }", /first statement/],
  [
    'a variable',
    '\nexport const meta = { name: NAME, description: "d" }',
    /line 2 .*pure literal.*identifier/,
  ],
  ['a call', 'export const meta = {\n name: f(),\n description: "d" }', /line 2 .*call expression/],
  [
    'a template with a value',
    `export const meta = {\n\n name: \`a\${1}\`, description: "d" }`,
    /line 3 .*template literal/,
  ],
  ['a spread', 'export const meta = { ...a, name: "n", description: "d" }', /line 1 .*spreads/],
  ['a getter', 'export const meta = { get name() { return "n" }, description: "d" }', /functions/],
  ['a computed name', 'export const meta = { ["name"]: "n", description: "d" }', /computed/],
  ['a prototype', 'export const meta = { name: "n", description: "d", __proto__: { a: 1 } }', /__proto__/],
  ['a regular expression', 'export const meta = { name: /a/, description: "d" }', /pure literal/],
  ['a list', 'export const meta = []', /meta must be an object/],
  ['no description', 'export const meta = { name: "n" }', /meta\.description must be a text/],
  [
    'a phase without a title',
    'export const meta = { name: "n", description: "d", phases: [{}] }',
    /phases\[0\]\.title/,
  ],
  ['10 MB', `${META}\n//${'x'.repeat(10_000_000)}`, /10,000,0\d\d characters.*at most 1,000,000/],
  ['nested too deeply', `export const meta = ${'['.repeat(60_000)}`, /[Nn]ot enough stack space/],
];
for (const [name, source, message] of refused)
  it(`meta is refused: ${name}`, () => {
    assert.throws(() => readMeta(source), { code: 'E_SCRIPT', message });
  });

const wrong: readonly (readonly [name: string, body: string, message: RegExp])[] = [
  ['a wrong character', 'const a = 1\nconst b = ;', /line 3 .*Unexpected token \(column 11\)/],
  ['import', 'import fs from "node:fs"', /line 2 .*no import/],
  ['import()', 'const fs = await import("node:fs")', /line 2 .*no import/],
  ['another export', '\nexport const a = 1', /line 3 .*only meta is exported/],
  ['a way out of the function', '})(); (async () => {', /line 2 .*Unexpected token/],
  ['TypeScript', 'const a: number = 1', /line 2 .*Unexpected token/],
  ['nested too deeply', `return ${'['.repeat(400_000)}`, /[Nn]ot enough stack space/],
];
for (const [name, body, message] of wrong)
  it(`a script is refused: ${name}`, () => {
    assert.throws(() => compileScript(`${META}\n${body}`), { code: 'E_SCRIPT', message });
  });

it('a script may await, return, and be as long as is allowed', () => {
  const body = `${META}\nfor await (const a of []) await a;\nundeclared = 1\nif (a) { return 1 } // end`;
  assert.match(compileScript(body).program, /^\(async \(\) => \{ {7}const meta = /);
  assert.equal(compileScript(body.padEnd(SOURCE_MAX, ' ')).meta.name, 'n');
});
