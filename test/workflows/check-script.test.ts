// Proves that a dry run counts what a script does with invented results, ends for every script, and that what it invents satisfies the schemas.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Ajv } from 'ajv';
import { checkScript } from '../../src/models/workflow/check-script.ts';
import { inventedValue } from '../../src/models/workflow/invented-value.ts';
import { checkDocument } from '../../src/trees/workflow/saved-workflows.ts';
import { META } from './played-script.ts';

it('calls, phases, depth, notices and the end are counted', async () => {
  const source = `export const meta = { name: 'n', description: 'd', phases: [{ title: 'Find' }, { title: 'Never' }, { title: 'Verify' }] }
    phase('Find')
    const list = { type: 'object', required: ['found'], properties: { found: { type: 'array', items: { type: 'string', enum: ['x'] } } } }
    const found = await parallel([1, 2, 3].map((n) => () => agent('find ' + n, { schema: list })))
    await sleep(60)
    const checked = await pipeline(found.flatMap((one) => one.found), (one) => agent('check ' + one, { phase: 'Verify', lable: 'l' }))
    if (await ask('good?', { choices: ['yes', 'no'] }) === 'yes') return [checked.length, new Date().toISOString()]`;
  const check = await checkScript({ source });
  assert.deepEqual(
    [...check.phases],
    [
      ['Find', 3],
      ['Never', 0],
      ['Verify', 6],
    ],
  );
  assert.deepEqual([check.calls.length, check.depth, check.notices.length], [11, 4, 6]);
  assert.match(check.notices[0] ?? '', /^line 6: agent\(\): the option "lable"/);
  assert.deepEqual(check.end, { type: 'done', result: '[6,"1970-01-01T00:01:10.000Z"]' });
});

const endings: readonly (readonly [name: string, body: string, end: RegExp])[] = [
  [
    'until nothing is found',
    "let found; do found = await agent('more', { schema: { type: 'array', items: { type: 'string' } } }); while (found.length > 0); return 1",
    /"done"/,
  ],
  ['without end', "for (;;) await agent('again')", /"bounded"|more than|at most/],
  ['an error', "const one = await agent('a')\none.x.y", /"line":3/],
  ['stuck', 'await new Promise(() => {})', /"stuck"/],
];
for (const [name, body, end] of endings)
  it(`a dry run ends: ${name}`, async () => {
    assert.match(JSON.stringify((await checkScript({ source: META + body })).end), end);
  });

it('a schema that no result could match is told, once, where the run would refuse it', async () => {
  const source = `${META}const schema = { type: 'object', required: ['a'], properties: { a: { enum: [1], type: 'string' } } }
    return parallel([1, 2].map((n) => () => agent('go ' + n, { schema })))`;
  const { notices } = await checkDocument({ source, within: [], path: null });
  assert.deepEqual(notices, [
    'line 3: agent(): schema: /properties/a contradicts itself: no value that it lists matches the rest of it',
  ]);
});

it('a script that cannot run is refused', async () => {
  await assert.rejects(checkScript({ source: `${META}const a = ;` }), {
    code: 'E_SCRIPT',
    message: /^line 2 of the workflow script/,
  });
});

const schemas: readonly object[] = [
  {
    type: 'object',
    required: ['a', 'z'],
    properties: {
      a: { type: 'integer', minimum: 3, multipleOf: 5 },
      b: { type: 'number', exclusiveMaximum: 0 },
      c: { type: ['null', 'boolean'] },
    },
  },
  {
    type: 'array',
    minItems: 3,
    uniqueItems: true,
    items: { type: 'object', properties: { id: { type: 'string' } } },
  },
  { type: 'array', maxItems: 1, items: { enum: ['x', 'y'] } },
  { type: 'string', minLength: 40, maxLength: 50 },
  { type: 'string', maxLength: 3 },
  { type: 'string', pattern: '^[A-Z]+-[0-9]+$' },
  { type: 'string', pattern: '^[0-9a-f]{40}$' },
  { anyOf: [{ type: 'integer', minimum: 7 }, { type: 'string' }] },
  {
    allOf: [
      { type: 'object', required: ['a'], properties: { a: { const: 1 } } },
      { required: ['b'], properties: { b: { type: 'string' } } },
    ],
  },
  {
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          children: { type: 'array', items: { $ref: '#/$defs/node' } },
        },
      },
    },
  },
  {
    $ref: '#/$defs/a%20~1%20node',
    $defs: { 'a / node': { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    additionalProperties: false,
    properties: {},
  },
  { properties: { constructor: { type: 'string' } }, required: ['constructor'] },
  {},
];
for (const schema of schemas)
  it(`an invented value satisfies ${JSON.stringify(schema).slice(0, 70)}`, () => {
    const validate = new Ajv({ strict: false }).compile(schema);
    for (const entries of [0, 2]) {
      const value = JSON.parse(JSON.stringify(inventedValue(schema, entries)));
      assert.ok(validate(value), `${JSON.stringify(value)}: ${JSON.stringify(validate.errors)}`);
    }
  });

it('a schema without end or with a costly pattern is no trouble', { timeout: 5_000 }, () => {
  const endless = { $ref: '#/a', a: { $ref: '#' } };
  assert.notEqual(inventedValue(endless, 2), undefined);
  const wide = {
    type: 'array',
    minItems: 1e9,
    items: { type: 'array', minItems: 1e9, items: { type: 'string', minLength: 1e9 } },
  };
  assert.ok(Array.isArray(inventedValue(wide, 2)));
  assert.equal(typeof inventedValue({ type: 'string', pattern: '^(0+)+x$' }, 2), 'string');
});
