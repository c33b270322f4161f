// Proves that a schema written by a model is usable or is refused with the place and the rule, that it accepts exactly what JSON Schema
// specifies, and that no schema and no result blocks the process or overflows its call stack.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { resultFault, schemaFault, schemasFault } from '../../../src/kernel/toolsets/output-schema.ts';
import { DEEP } from '../../house/deep.ts';

type Schema = Record<string, unknown>;

const deep = (levels: number, open = '[', close = ']') => open.repeat(levels) + close.repeat(levels);

/** Generous upper bound of CPU time: bounded work takes a twentieth of it, unbounded work takes minutes. */
const PROMPT_MS = 1_000;

function promptly<T>(what: () => T): T {
  const start = process.cpuUsage();
  const result = what();
  const { user, system } = process.cpuUsage(start);
  assert.ok((user + system) / 1_000 < PROMPT_MS, `took ${(user + system) / 1_000} ms of the processor`);
  return result;
}

describe('schemas that are refused', () => {
  const circle = { $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } };
  const refused: readonly (readonly [Schema, RegExp])[] = [
    [{ $ref: '#' }, /refers to itself without going deeper/],
    [{ properties: { x: { anyOf: [{ $ref: '#' }, { $ref: '#/$defs/a' }] } }, ...circle }, /refers to itself/],
    [{ $async: true }, /\/\$async: the keyword "\$async" is not supported/],
    [{ $ref: 'https://example.com/schema' }, /\/\$ref: a reference is "#"/],
    [{ $ref: '#/$defs/none' }, /there is no #\/\$defs\/none/],
    [{ $schema: 'https://example.com/mine' }, /\/\$schema must name a draft/],
    [{ properties: { a: { $id: 'x' } } }, /\/properties\/a\/\$id is not supported below the top/],
    [{ properties: { a: { pattern: '(?=a)' } } }, /the pattern "\(\?=a\)" cannot be used \(no look-around/],
    [{ pattern: '(((a{9}){9}){9}){9}' }, /repeats too much/],
    [{ pattern: '\\pL{100}' }, /repeats too much/],
    [{ pattern: 'a'.repeat(501) }, /at most 500 characters/],
    [{ pattern: 5 }, /\/pattern must be a string/],
    [{ type: 'array', minItems: 3, maxItems: 1 }, /it contradicts itself: minItems is more than maxItems/],
    [
      { properties: { a: { minimum: 2, maximum: 1 } } },
      /\/properties\/a contradicts itself: minimum is more/,
    ],
    [{ required: ['a'], properties: {}, additionalProperties: false }, /"a" is required, and not allowed/],
    [
      { required: ['a'], properties: { a: false } },
      /it contradicts itself: "a" is required, and not allowed/,
    ],
    [
      { items: { type: 'string', enum: [1, 2] } },
      /\/items contradicts itself: no value that it lists matches/,
    ],
    [{ const: 'ab', maxLength: 1 }, /it contradicts itself: no value that it lists matches the rest/],
    [
      { allOf: [{ type: 'string' }, { type: 'number' }] },
      /it contradicts itself: its types exclude each other/,
    ],
    [{ type: 'integer', allOf: [{ minimum: 5 }, { maximum: 1 }] }, /minimum is more than maximum/],
    [{ not: {} }, /it contradicts itself: it allows nothing/],
    [{ required: ['a'], properties: { a: { not: {} } } }, /"a" is required, and not allowed/],
    [{ required: ['a'], properties: { a: { allOf: [true, false] } } }, /"a" is required, and not allowed/],
    [
      {
        ...{ type: 'object', properties: { a: { type: 'string' } } },
        allOf: [{ required: ['a'], properties: { a: { type: 'null' } } }],
      },
      /"a" is required, and its types exclude each other/,
    ],
    [
      { properties: { a: { type: 'string' } }, allOf: [{ enum: [1] }, { type: 'string' }] },
      /no value that it lists matches the rest/,
    ],
    [{ type: 'strin' }, /\/type must be one or several of string, /],
    [{ items: { type: 7 } }, /\/items\/type must be/],
    [{ exclusiveMinimum: true }, /\/exclusiveMinimum must be a number/],
    [{ minLength: -1 }, /\/minLength must be a whole number/],
    [{ multipleOf: 0 }, /\/multipleOf must be a number above 0/],
    [{ multipleOf: '2' }, /\/multipleOf must be a number above 0/],
    [{ uniqueItems: 1 }, /\/uniqueItems must be true or false/],
    [{ required: 'a' }, /\/required must be a list of names/],
    [{ enum: [] }, /\/enum must be a list of values/],
    [{ allOf: {} }, /\/allOf must be a list of schemas/],
    [{ properties: [] }, /must be an object with a schema for each name/],
    [{ unevaluatedProperties: false }, /the keyword "unevaluatedProperties" is not supported/],
    [{ enum: Array.from({ length: 6_000 }, (_, index) => index) }, /too large/],
    [{ description: 'x'.repeat(70_000) }, /characters; the maximum is 65536/],
    [JSON.parse(`${'{"items":'.repeat(100)}{}${'}'.repeat(100)}`), /nested deeper than 64 levels/],
    [JSON.parse(`${'{"items":'.repeat(100_000)}{}${'}'.repeat(100_000)}`), /nested too deeply|characters/],
  ];
  for (const [schema, text] of refused)
    it(String(text), () => assert.match(promptly(() => schemaFault(schema)) ?? 'accepted', text));

  it('long chains of references', () => {
    const $defs: Schema = { last: { type: 'string' } };
    for (let index = 0; index < 1_500; index += 1)
      $defs[index] = { $ref: `#/$defs/${index === 1_499 ? 'last' : index + 1}` };
    const schema = { $ref: '#/$defs/0', $defs };
    assert.equal(schemaFault(schema), null);
    assert.match(resultFault(schema, '"x"') ?? '', /too large to be checked/);
  });

  it('several that are too large together, though each alone is accepted', () => {
    const one = (index: number) => ({ enum: Array.from({ length: 2_000 }, (_, at) => at + index) });
    assert.equal(schemaFault(one(1)), null);
    assert.equal(schemasFault([one(1), one(1), one(1)]), null);
    assert.match(schemasFault([one(1), one(2), one(3)]) ?? '', /too large together/);
  });
});

describe('schemas that are accepted', () => {
  for (const $schema of [
    'http://json-schema.org/draft-07/schema#',
    'http://json-schema.org/draft-07/schema',
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2019-09/schema',
  ])
    it($schema, () => {
      const schema = {
        $schema,
        $id: 'https://example.com/x',
        type: 'object',
        definitions: { n: { type: 'number' } },
      };
      assert.equal(schemaFault({ ...schema, properties: { a: { $ref: '#/definitions/n' } } }), null);
      assert.match(
        resultFault({ ...schema, properties: { a: { $ref: '#/definitions/n' } } }, '{"a":"1"}') ?? '',
        /\/a must be number/,
      );
    });

  it('a field that must not be there, by a schema that allows nothing', () => {
    const schema = { properties: { a: { not: {} }, b: { type: 'number', allOf: [{ type: 'integer' }] } } };
    assert.equal(schemaFault(schema), null);
    assert.equal(resultFault(schema, '{"b":1}'), null);
    assert.match(resultFault(schema, '{"a":1}') ?? '', /\/a /);
  });

  it('tuples as in draft 07', () => {
    const schema = { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false };
    assert.equal(resultFault(schema, '["a",1]'), null);
    assert.match(resultFault(schema, '["a",1,2]') ?? '', /\/2 is not allowed here/);
  });

  it('a recursive tree', () => {
    const schema = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } } };
    assert.equal(resultFault(schema, '{"kids":[{"kids":[]}]}'), null);
    assert.match(resultFault(schema, '{"kids":[{"kids":[1]}]}') ?? '', /\/kids\/0\/kids\/0 must be object/);
  });

  it('bounds, with the values at and beyond each; other types are not bounded', () => {
    const bounds: readonly (readonly [Schema, within: unknown, beyond: unknown])[] = [
      [{ minimum: 2 }, 2, 1.9],
      [{ maximum: 2 }, 2, 2.1],
      [{ exclusiveMinimum: 2 }, 2.1, 2],
      [{ exclusiveMaximum: 2 }, 1.9, 2],
      [{ multipleOf: 0.5 }, 1.5, 1.6],
      [{ minLength: 2 }, '漢🎋', '🎋'],
      [{ maxLength: 2 }, '漢🎋', 'abc'],
      [{ minItems: 1 }, [0], []],
      [{ maxItems: 1 }, [0], [0, 1]],
      [{ minProperties: 1 }, { a: 0 }, {}],
      [{ maxProperties: 1 }, { a: 0 }, { a: 0, b: 0 }],
      [{ uniqueItems: true }, [0, 1], [0, 0]],
    ];
    for (const [schema, within, beyond] of bounds) {
      const fault = (value: unknown) => resultFault(schema, JSON.stringify(value));
      assert.deepEqual([fault(within), fault(null)], [null, null], JSON.stringify(schema));
      assert.notEqual(fault(beyond), null, JSON.stringify(schema));
    }
    assert.equal(resultFault({ uniqueItems: false }, '[0,0]'), null);
  });

  it('compares objects regardless of the order of keys', () => {
    const [one, other] = ['{"a":1,"b":2}', '{"b":2,"a":1}'];
    for (const schema of [{ const: JSON.parse(one) }, { enum: [JSON.parse(one)] }])
      assert.equal(resultFault(schema, other), null);
    assert.match(resultFault({ uniqueItems: true }, `[${one},${other}]`) ?? '', /duplicate items/);
  });

  it('patterns, with the escapes of JSON Schema', () => {
    assert.equal(resultFault({ pattern: '^\\u00e9[\\u{61}-c]\\d{4}$' }, '"éb2026"'), null);
    assert.match(resultFault({ pattern: '^\\u00e9$' }, '"e"') ?? '', /must match pattern/);
    assert.equal(resultFault({ pattern: 'b' }, '"abc"'), null, 'a pattern is looked for anywhere');
  });
});

describe('hostile results', () => {
  const long = 'a'.repeat(60_000);
  const cases: readonly (readonly [string, Schema, string, RegExp | null])[] = [
    [
      'a pattern that explodes',
      { properties: { a: { pattern: '^(a+)+$' } } },
      `{"a":"${long}!"}`,
      /must match pattern/,
    ],
    [
      'a pattern on a very long text',
      { pattern: '(x+x+)+y[ab]{400}' },
      JSON.stringify('ab'.repeat(500_000)),
      /too many steps/,
    ],
    [
      'a pattern on very many texts',
      { items: { pattern: '^(a|b)*c$' } },
      JSON.stringify(Array(40_000).fill('abababababab')),
      /\/7 must match pattern "[^"]+"$/,
    ],
    ['3,000 brackets', { items: { $ref: '#' } }, deep(3_000), /nested deeper than 128 levels/],
    ['100,000 braces', {}, deep(100_000, '{"a":', '}'), /nested deeper than 128 levels|cannot be read/],
    [
      'as many values as are read',
      { uniqueItems: true, items: { type: 'integer' } },
      JSON.stringify([...Array(40_000).keys()]),
      null,
    ],
    [
      'more values than are read',
      {},
      JSON.stringify(Array(60_000).fill(0)),
      /contains more than 50000 values/,
    ],
    [
      'very many that are equal',
      { uniqueItems: true },
      JSON.stringify(Array(2_000).fill({ a: [1, 2, 3] })),
      /duplicate/,
    ],
    [
      'very many values for each of twenty alternatives',
      { anyOf: Array(20).fill({ items: { type: 'integer' } }) },
      JSON.stringify([...Array(40_000).keys(), 'x']),
      /too many steps/,
    ],
    ['every combination', combinations(12), deep(100), /too many steps|too large/],
    [
      'very many faults',
      { items: { type: 'string' } },
      JSON.stringify(Array(40_000).fill(1)),
      /\/7 must be string$/,
    ],
  ];
  for (const [name, schema, result, text] of cases)
    it(name, () => {
      assert.equal(schemaFault(schema), null);
      const fault = promptly(() => resultFault(schema, result));
      if (text === null) assert.equal(fault, null);
      else assert.match(fault ?? 'accepted', text);
      assert.ok((fault ?? '').length < 3_000);
    });

  it('a schema accepted by an older version does not trap the agent', () => {
    assert.match(
      resultFault({ $ref: '#' }, '{}') ?? '',
      /cannot be used \(it refers to itself.*submit_error/,
    );
  });
});

/** A schema in which each level is checked twice by the level above. */
function combinations(levels: number): Schema {
  const $defs: Schema = { [levels]: { items: { $ref: '#' } } };
  for (let level = 0; level < levels; level += 1)
    $defs[level] = {
      anyOf: [{ allOf: [{ $ref: `#/$defs/${level + 1}` }, false] }, { $ref: `#/$defs/${level + 1}` }],
    };
  return { $ref: '#/$defs/0', $defs };
}

const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, 0, 1, 2.5, -3, '', 'a', 'ab', '漢字', 'constructor'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'constructor', '__proto__'), tie('any'), { maxKeys: 3 }),
  ),
})).any;

const schema: fc.Arbitrary<unknown> = fc.letrec((tie) => {
  const some = fc.array(tie('any'), { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), tie('any'), { maxKeys: 2 });
  const size = fc.nat({ max: 3 });
  return {
    any: fc.oneof(
      { maxDepth: 4 },
      fc.boolean(),
      fc.record(
        {
          type: fc.constantFrom('string', 'number', 'integer', 'object', 'array', 'null', ['string', 'null']),
          enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) }),
          const: value,
          minLength: size,
          maxLength: size,
          minItems: size,
          maxItems: size,
          minProperties: size,
          maxProperties: size,
          minimum: size,
          exclusiveMaximum: size,
          multipleOf: fc.constantFrom(1, 2, 0.5),
          uniqueItems: fc.boolean(),
          required: fc.uniqueArray(fc.constantFrom('a', 'b', 'constructor'), { maxLength: 2 }),
          pattern: fc.constantFrom('^a', 'b$', '^.{1,2}$', '字'),
        },
        { requiredKeys: [] },
      ),
      fc.record(
        {
          properties: named,
          patternProperties: fc.record({ '^a': tie('any') }),
          additionalProperties: tie('any'),
          propertyNames: tie('any'),
          items: tie('any'),
          prefixItems: some,
          allOf: some,
          anyOf: some,
          oneOf: some,
          not: tie('any'),
          if: tie('any'),
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: tie('any'),
          else: tie('any'),
        },
        { requiredKeys: [] },
      ),
    ),
  };
}).any;

const oracle = new Ajv2020({ strict: false, logger: false, validateSchema: false, ownProperties: true });
// Only unevaluatedProperties needs this option; with it, the code that ajv generates for a few schemas refers to undeclared variables.
oracle.opts.unevaluated = false;

it('agrees with another implementation on random schemas and values', () => {
  fc.assert(
    fc.property(schema, value, (given, one) => {
      fc.pre(typeof given === 'object');
      const text = JSON.stringify(one);
      const wanted = oracle.validate(given as Schema, JSON.parse(text)) as boolean;
      assert.equal(resultFault(given as Schema, text) === null, wanted, JSON.stringify([given, one]));
    }),
    { numRuns: DEEP ? 120 : 40 },
  );
});
