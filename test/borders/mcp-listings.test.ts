/** Proves that one oddity in a server's greeting or in its list of tools costs at most the tool that has it, which is named. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { closeOpened } from '../close-opened.ts';
import { testingServer } from '../tools/mcp-servers/servers.ts';
import { GREETING, OBJECT, rawServer } from './raw-mcp.ts';

after(closeOpened);

const GOOD = { name: 'good', inputSchema: OBJECT };

/** An odd tool beside a good one: what it becomes, or why it is set aside. */
const TOOLS: readonly (readonly [title: string, tool: unknown, found: string | RegExp])[] = [
  ['annotations: null', { name: 'odd', inputSchema: OBJECT, annotations: null }, 'odd'],
  ['annotations as text', { name: 'odd', inputSchema: OBJECT, annotations: 'read-only' }, 'odd'],
  ['a hint as text', { name: 'odd', inputSchema: OBJECT, annotations: { readOnlyHint: 'yes' } }, 'odd'],
  ['_meta: null', { name: 'odd', inputSchema: OBJECT, _meta: null }, 'odd'],
  ['icons: null', { name: 'odd', inputSchema: OBJECT, icons: null }, 'odd'],
  ['icons without an address', { name: 'odd', inputSchema: OBJECT, icons: [{}] }, 'odd'],
  ['title: null', { name: 'odd', title: null, inputSchema: OBJECT }, 'odd'],
  ['description: null', { name: 'odd', description: null, inputSchema: OBJECT }, 'odd'],
  ['a description that is a list', { name: 'odd', description: ['a', 'b'], inputSchema: OBJECT }, 'odd'],
  ['execution: null', { name: 'odd', execution: null, inputSchema: OBJECT }, 'odd'],
  [
    'an outputSchema with a root $ref',
    { name: 'odd', inputSchema: OBJECT, outputSchema: { $ref: '#/$defs/X', $defs: { X: OBJECT } } },
    'odd',
  ],
  [
    'an outputSchema that is a list',
    { name: 'odd', inputSchema: OBJECT, outputSchema: { type: 'array' } },
    'odd',
  ],
  ['outputSchema: null', { name: 'odd', inputSchema: OBJECT, outputSchema: null }, 'odd'],
  ['no inputSchema', { name: 'odd' }, 'odd'],
  ['inputSchema: null', { name: 'odd', inputSchema: null }, 'odd'],
  ['inputSchema: true', { name: 'odd', inputSchema: true }, 'odd'],
  ['inputSchema: {}', { name: 'odd', inputSchema: {} }, 'odd'],
  ['an inputSchema without a type', { name: 'odd', inputSchema: { properties: {} } }, 'odd'],
  [
    'an inputSchema of type object or null',
    { name: 'odd', inputSchema: { type: ['object', 'null'] } },
    'odd',
  ],
  [
    'an inputSchema with a root $ref',
    { name: 'odd', inputSchema: { $ref: '#/$defs/X', $defs: { X: OBJECT } } },
    'odd',
  ],
  [
    'an inputSchema of type string',
    { name: 'odd', inputSchema: { type: 'string' } },
    /^odd: its input is not an object, but of type string$/,
  ],
  [
    'an inputSchema that refers to a list',
    { name: 'odd', inputSchema: { $ref: '#/$defs/X', $defs: { X: { type: 'array' } } } },
    /^odd: its input is not an object, but of type array$/,
  ],
  ['inputSchema: false', { name: 'odd', inputSchema: false }, /^odd: its input schema is not a schema$/],
  [
    'an inputSchema that is text',
    { name: 'odd', inputSchema: '{"type":"object"}' },
    /^odd: its input schema is not a schema$/,
  ],
  [
    'an inputSchema that is a list',
    { name: 'odd', inputSchema: [] },
    /^odd: its input schema is not a schema$/,
  ],
  ['no name', { inputSchema: OBJECT }, /^tool 2: it has no name$/],
  ['name: null', { name: null, inputSchema: OBJECT }, /^tool 2: it has no name$/],
  ['an empty name', { name: '', inputSchema: OBJECT }, /^tool 2: it has no name$/],
  ['a name that is a number', { name: 7, inputSchema: OBJECT }, /^tool 2: it has no name$/],
  [
    'a name of 300 characters',
    { name: 'n'.repeat(300), inputSchema: OBJECT },
    /^n{40}…: its name has more than 256/,
  ],
  ['a name that another has', { name: 'good', inputSchema: OBJECT }, /^good: another tool has this name$/],
  ['null', null, /^tool 2: it has no name$/],
  ['text', 'odd', /^tool 2: it has no name$/],
];

describe('a tool in a listing', () => {
  for (const [title, tool, found] of TOOLS)
    it(title, async () => {
      const server = await rawServer(() => ({ tools: [GOOD, tool, { ...GOOD, name: 'last' }] }));
      const names = (await server.tools()).map(({ name }) => name);
      const aside = server.aside.map(({ name, why }) => `${name}: ${why}`);
      if (typeof found === 'string') assert.deepEqual([names, aside], [['good', found, 'last'], []]);
      else {
        assert.deepEqual([names, aside.length], [['good', 'last'], 1]);
        assert.match(aside[0] ?? '', found);
      }
    });
});

/** Oddities beside the tools. */
const RESULTS: readonly (readonly [title: string, more: object])[] = [
  ['nextCursor: null', { nextCursor: null }],
  ['an empty nextCursor', { nextCursor: '' }],
  ['a nextCursor that is a number', { nextCursor: 0 }],
  ['_meta: null', { _meta: null }],
  ['_meta as text', { _meta: 'none' }],
  ['ttlMs as text', { ttlMs: '5' }],
  ['unknown fields', { total: 1, pagination: { page: 1 } }],
];

describe('a listing', () => {
  for (const events of [false, true])
    for (const [title, more] of RESULTS)
      it(`with ${title}, ${events ? 'as an event' : 'as JSON'}`, async () => {
        const server = await rawServer(() => ({ tools: [GOOD], ...more }), { events });
        assert.deepEqual([(await server.tools()).map(({ name }) => name), server.aside], [['good'], []]);
      });

  it('whose second page fails has the tools of the first, and says so', async () => {
    const server = await rawServer(({ params }) =>
      params?.cursor === undefined ? { tools: [GOOD], nextCursor: 'b' } : undefined,
    );
    assert.deepEqual(
      (await server.tools()).map(({ name }) => name),
      ['good'],
    );
    assert.match(JSON.stringify(server.aside), /tools from number 2 on.*violates the protocol/);
  });

  it('that is no list has no tools', async () => {
    for (const tools of [null, {}, 'none'])
      assert.deepEqual(await (await rawServer(() => ({ tools }))).tools(), []);
  });
});

/** Oddities of the greeting. */
const GREETINGS: readonly (readonly [title: string, more: object])[] = [
  ['without capabilities', { capabilities: undefined }],
  ['with capabilities: null', { capabilities: null }],
  ['that does not say that it has tools', { capabilities: {} }],
  ['with a capability that is true', { capabilities: { tools: true, logging: true } }],
  ['without serverInfo', { serverInfo: undefined }],
  ['with a version that is a number', { serverInfo: { name: 'x', version: 2 } }],
  ['with instructions: null', { instructions: null }],
  ['with _meta: null', { _meta: null }],
];

describe('a greeting', () => {
  for (const [title, more] of GREETINGS)
    it(title, async () => {
      const server = await rawServer(
        ({ method }) => (method === 'initialize' ? { ...GREETING, ...more } : { tools: [GOOD] }),
        { greets: true },
      );
      assert.deepEqual(
        (await server.tools()).map(({ name }) => name),
        ['good'],
      );
    });
});

it('a program with odd tools has the others', async () => {
  const server = testingServer({ tools: [GOOD, { name: 'odd', annotations: null, inputSchema: null }, {}] });
  assert.deepEqual(
    (await server.tools()).map(({ name }) => name),
    ['good', 'odd'],
  );
  assert.deepEqual(server.aside, [{ name: 'tool 3', why: 'it has no name' }]);
});
