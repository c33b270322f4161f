/**
 * Proves that the schema of a server's tool becomes one that every provider takes, without asking for anything else than the server does: what is not understood
 * is left out, names of fields that a provider refuses are replaced, and arguments arrive under the server's own names.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import * as fc from 'fast-check';
import { argumentsFault } from '../../src/kernel/toolsets/json-schema/arguments-fault.ts';
import { toolSchema, withServerNames } from '../../src/tools/mcp-servers/tool-schema.ts';
import { closeOpened } from '../close-opened.ts';
import { callOne, rawServer } from './raw-mcp.ts';

after(closeOpened);

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any;
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** What Anthropic, OpenAI or Google refuse in a schema; null if nothing. */
function refused(schema: Json, root: Json = schema): string | null {
  if (typeof schema === 'boolean') return 'a schema that is true or false';
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'not a schema';
  const types = [schema.type ?? []].flat();
  if (types.some((type) => !TYPES.includes(type))) return `type ${schema.type}`;
  if (types.includes('array') && schema.items === undefined) return 'an array without items';
  for (const key of ['title', 'description', 'pattern', 'format'])
    if (key in schema && typeof schema[key] !== 'string') return `${key} of another type`;
  if ('required' in schema) {
    if (!Array.isArray(schema.required) || new Set(schema.required).size < schema.required.length)
      return 'required is no set';
    if (schema.properties !== undefined)
      for (const name of schema.required)
        if (!Object.hasOwn(schema.properties, name)) return `requires ${name}, which is no property`;
  }
  if ('enum' in schema && (!Array.isArray(schema.enum) || schema.enum.length === 0)) return 'an empty enum';
  if (typeof schema.$ref === 'string' && !/^#/.test(schema.$ref)) return `refers to ${schema.$ref}`;
  if ('properties' in schema)
    for (const name of Object.keys(schema.properties))
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) return `a property ${name}`;
  const inner = [
    ...['properties', '$defs', 'definitions', 'patternProperties'].flatMap((key) =>
      Object.values(schema[key] ?? {}),
    ),
    ...['anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap((key) => schema[key] ?? []),
    ...['items', 'not', 'contains'].flatMap((key) => (key in schema ? [schema[key]] : [])),
  ];
  return inner.map((one) => refused(one, root)).find((fault) => fault !== null) ?? null;
}

function adapted(schema: Json): Json {
  const made = toolSchema(schema);
  assert.ok(typeof made !== 'string', String(made));
  assert.equal(made.input.type, 'object');
  assert.equal(refused(made.input), null, JSON.stringify(made.input));
  return made;
}

/** A field as the server describes it, and as models see it. */
const FIELDS: readonly (readonly [title: string, field: Json, seen: Json])[] = [
  ['an array without items', { type: 'array' }, { type: 'array', items: {} }],
  ['an array or null', { type: ['array', 'null'] }, { type: ['array', 'null'], items: {} }],
  [
    'an array in anyOf',
    { anyOf: [{ type: 'array' }, { type: 'string' }] },
    { anyOf: [{ type: 'array', items: {} }, { type: 'string' }] },
  ],
  ['items: true', { type: 'array', items: true }, { type: 'array', items: {} }],
  ['items of a tuple', { type: 'array', items: [{ type: 'string' }] }, { type: 'array', items: {} }],
  [
    'an array in an array',
    { type: 'array', items: { type: 'array' } },
    { type: 'array', items: { type: 'array', items: {} } },
  ],
  ['text or null', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
  ['one type in a list', { type: ['string'] }, { type: 'string' }],
  ['no type in a list', { type: [] }, {}],
  ['type: null', { type: null }, {}],
  ['an unknown type', { type: 'any', description: 'x' }, { description: 'x' }],
  ['a type of another language', { type: ['str', 'string'] }, {}],
  ['true', true, {}],
  ['false', false, { not: {} }],
  ['null', null, {}],
  ['const', { const: 'k' }, { const: 'k' }],
  ['an enum with the same value twice', { enum: ['a', 'a', 'b'] }, { enum: ['a', 'b'] }],
  ['an empty enum', { type: 'string', enum: [] }, { type: 'string' }],
  ['enum: null', { type: 'string', enum: null }, { type: 'string' }],
  ['an enum with empty text', { type: 'string', enum: ['', 'a'] }, { type: 'string', enum: ['', 'a'] }],
  ['description: null', { type: 'string', description: null }, { type: 'string' }],
  ['format: null', { type: 'string', format: null }, { type: 'string' }],
  [
    'exclusiveMinimum: true',
    { type: 'integer', minimum: 0, exclusiveMinimum: true },
    { type: 'integer', minimum: 0 },
  ],
  ['minimum as text', { type: 'integer', minimum: '1' }, { type: 'integer' }],
  ['minLength: -1', { type: 'string', minLength: -1 }, { type: 'string' }],
  ['a pattern of another language', { type: 'string', pattern: '(?i)^a$' }, { type: 'string' }],
  ['required: true', { type: 'string', required: true }, { type: 'string' }],
  ['additionalProperties: null', { type: 'object', additionalProperties: null }, { type: 'object' }],
  [
    'additionalProperties: false',
    { type: 'object', additionalProperties: false },
    { type: 'object', additionalProperties: false },
  ],
  [
    'additionalProperties with an array',
    { type: 'object', additionalProperties: { type: 'array' } },
    { type: 'object', additionalProperties: { type: 'array', items: {} } },
  ],
  ['properties: null', { type: 'object', properties: null, required: null }, { type: 'object' }],
  [
    'an object that requires a stranger',
    { type: 'object', properties: { a: {} }, required: ['a', 'b'] },
    { type: 'object', properties: { a: {} }, required: ['a'] },
  ],
  [
    'branches that require',
    { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
  ],
  ['an empty anyOf', { anyOf: [] }, {}],
  ['a reference to nothing', { $ref: '#/$defs/None', description: 'x' }, { description: 'x' }],
  ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }, {}],
  ['a reference that recurs', { $ref: '#/$defs/N' }, { $ref: '#/$defs/N' }],
  ['a reference to the root', { $ref: '#' }, { $ref: '#' }],
  [
    '$schema and $id within',
    { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x', type: 'string' },
    { type: 'string' },
  ],
];

describe('a field with', () => {
  for (const [title, field, seen] of FIELDS)
    it(title, () => {
      const N = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#/$defs/N' } } } };
      const { input } = adapted({
        type: 'object',
        properties: { field, other: { type: 'string' } },
        $defs: { N },
      });
      assert.deepEqual(input.properties, { field: seen, other: { type: 'string' } });
      assert.deepEqual(input.$defs, { N });
    });
});

/** Names that some provider refuses, and what a model reads instead. */
const NAMES: readonly (readonly [name: string, seen: RegExp])[] = [
  ['$filter', /^filter_[0-9a-f]{8}$/],
  ['filter[status]', /^filter_status_[0-9a-f]{8}$/],
  ['名前', /^field_[0-9a-f]{8}$/],
  ['größe', /^gr_e_[0-9a-f]{8}$/],
  ['with space', /^with_space_[0-9a-f]{8}$/],
  ['a/b', /^a_b_[0-9a-f]{8}$/],
  ['', /^field_[0-9a-f]{8}$/],
  ['n'.repeat(70), /^n{50}_[0-9a-f]{8}$/],
  ['__proto__ ', /^_?_?proto_?_[0-9a-f]{8}$/],
  ['a.b-c_d', /^a\.b-c_d$/],
];

describe('a field called', () => {
  for (const [name, seen] of NAMES)
    it(JSON.stringify(name.slice(0, 20)), async () => {
      const inner = { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
      const inputSchema = {
        type: 'object',
        properties: {
          [name]: { type: 'integer', description: 'How many.' },
          list: { type: 'array', items: inner },
        },
        required: [name],
      };
      const made = adapted(inputSchema);
      const [shown = ''] = made.input.required;
      assert.match(shown, seen);
      if (shown !== name) {
        const { description } = made.input.properties[shown];
        assert.equal(description, `How many. (its own name is ${JSON.stringify(name)})`);
      }
      assert.match(argumentsFault(made.input, {}) ?? '', new RegExp(shown));
      const server = await rawServer(({ method, params }) =>
        method === 'tools/list'
          ? { tools: [{ name: 'one', inputSchema }] }
          : { content: JSON.stringify(params?.arguments) },
      );
      const said = await callOne(server, { [shown]: 3, list: [{ [shown]: 'x' }], other: { b: 1 } });
      assert.equal(said, `ok: ${JSON.stringify({ [name]: 3, list: [{ [name]: 'x' }], other: { b: 1 } })}`);
    });

  it('two names that look alike stay apart', () => {
    const { input } = adapted({ type: 'object', properties: { $a: {}, a$: {}, a: {} } });
    assert.equal(Object.keys(input.properties).length, 3);
  });

  it('a branch that requires such a name requires what models see', () => {
    const { input } = adapted({ properties: { $a: {} }, not: { required: ['$a'] } });
    assert.deepEqual([input.not.required], [Object.keys(input.properties)]);
  });

  it('a reference through such a name leads nowhere, and is left out', () => {
    const { input } = adapted({
      type: 'object',
      properties: { $a: { type: 'string' }, b: { $ref: '#/properties/$a' }, c: { $ref: '#/properties/b' } },
    });
    assert.deepEqual([input.properties.b, input.properties.c], [{}, { $ref: '#/properties/b' }]);
  });
});

it('any schema at all becomes one that every provider takes, or is set aside, and means no less', () => {
  const word = fc.constantFrom(
    'type',
    'items',
    'properties',
    'required',
    'enum',
    '$ref',
    'anyOf',
    '$defs',
    'a',
    '$b',
    'pattern',
    '__proto__',
  );
  const value = fc.constantFrom<Json>(
    null,
    true,
    0,
    '',
    'string',
    'array',
    'object',
    '#',
    '#/$defs/a',
    '#/properties/$b',
    '(',
    ['a'],
    ['a', 'a'],
    [],
    {},
  );
  const { schema } = fc.letrec<{ schema: Json; any: Json }>((tie) => ({
    any: fc.oneof({ maxDepth: 5 }, value, tie('schema'), fc.array(tie('any'), { maxLength: 2 })),
    schema: fc.dictionary(word, tie('any'), { maxKeys: 5 }),
  }));
  fc.assert(
    fc.property(schema, fc.dictionary(word, value), (given, input) => {
      const made = toolSchema(given);
      if (typeof made === 'string') return;
      assert.equal(refused(made.input), null, JSON.stringify(made.input));
      assert.deepEqual(toolSchema(made.input), { input: made.input, names: new Map() });
      const back = withServerNames(made, input);
      assert.equal(Object.keys(back as object).length, Object.keys(input).length);
    }),
    { numRuns: 2_000 },
  );
});
