/**
 * Proves that over HTTP, from version 2026-07-28 of the protocol on, a tool whose fields are to be sent as headers and cannot be is not offered, and that its name
 * and the reason are told; that the other tools stay, valid ones are called with their headers, and nothing changes with older servers.
 */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { after, describe, it } from 'node:test';
import { closeOpened } from '../close-opened.ts';
import { callOne, GREETING, rawServer } from './raw-mcp.ts';

after(closeOpened);

const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  serverInfo: { name: 'raw', version: '1' },
  ttlMs: 0,
  cacheScope: 'private',
};

const TEXT = { type: 'string' };
const header = (name: unknown, more: object = TEXT) => ({ ...more, 'x-mcp-header': name });
const fields = (properties: object) => ({ type: 'object', properties });

/** A schema, and the end of the reason for which its tool is set aside; null if it is not. */
const SCHEMAS: readonly (readonly [title: string, schema: object, why: RegExp | null])[] = [
  ['a text', fields({ a: header('Tenant') }), null],
  [
    'an integer and a boolean',
    fields({ a: header('A', { type: 'integer' }), b: header('B', { type: 'boolean' }) }),
    null,
  ],
  ['a field of a field', fields({ a: fields({ b: header('Deep') }) }), null],
  ['every character of a name', fields({ a: header("!#$%&'*+-.^_`|~09azAZ") }), null],
  ['a field with that name', fields({ 'x-mcp-header': TEXT }), null],
  ['a default with that key', fields({ a: { type: 'object', default: header('no name') } }), null],
  ['no name', fields({ a: header('') }), /does not name a header$/],
  ['a name with a blank', fields({ a: header('My Header') }), /does not name a header$/],
  ['a name with a colon', fields({ a: header('A: b') }), /does not name a header$/],
  ['a name with a line break', fields({ a: header('A\r\nB: c') }), /does not name a header$/],
  ['a name in another script', fields({ a: header('Größe') }), /does not name a header$/],
  ['a name that is a number', fields({ a: header(7) }), /does not name a header$/],
  ['a name that is null', fields({ a: header(null) }), /does not name a header$/],
  ['a number', fields({ a: header('A', { type: 'number' }) }), /not a string, an integer or a boolean$/],
  ['an object', fields({ a: header('A', fields({})) }), /not a string, an integer or a boolean$/],
  ['a list', fields({ a: header('A', { type: 'array' }) }), /not a string, an integer or a boolean$/],
  [
    'a text or null',
    fields({ a: header('A', { type: ['string', 'null'] }) }),
    /not a string, an integer or a boolean$/,
  ],
  ['no type', fields({ a: header('A', {}) }), /not a string, an integer or a boolean$/],
  [
    'a name twice',
    fields({ a: header('Tenant'), b: fields({ c: header('TENANT') }) }),
    /names a header twice$/,
  ],
  ['the whole input', header('A', fields({})), /not at a field of the arguments$/],
  ['items', fields({ a: { type: 'array', items: header('A') } }), /not at a field of the arguments$/],
  [
    'items of a tuple',
    fields({ a: { type: 'array', items: [header('A')] } }),
    /not at a field of the arguments$/,
  ],
  ['a field of items', fields({ a: { type: 'array', items: fields({ b: header('A') }) } }), /not at a field/],
  ['one of several', fields({ a: { anyOf: [header('A'), TEXT] } }), /not at a field of the arguments$/],
  ['a definition', { ...fields({ a: { $ref: '#/$defs/x' } }), $defs: { x: header('A') } }, /not at a field/],
  [
    'further fields',
    { ...fields({}), additionalProperties: header('A') },
    /not at a field of the arguments$/,
  ],
  ['fields of a pattern', { ...fields({}), patternProperties: { '^a': header('A') } }, /not at a field/],
  ['a condition', { ...fields({}), if: fields({ a: header('A') }) }, /not at a field of the arguments$/],
];

async function listed(schema: object, modern = true, seen: IncomingHttpHeaders[] = []) {
  const tools = [
    { name: 'odd', inputSchema: schema },
    { name: 'good', inputSchema: fields({ a: TEXT }) },
  ];
  return rawServer(
    ({ method }, request) => {
      seen.push(request.headers);
      if (method === 'server/discover') return modern ? DISCOVERED : undefined;
      if (method === 'initialize') return GREETING;
      if (method === 'tools/call')
        return { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };
      return { resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' };
    },
    { greets: true },
  );
}

describe('no argument is a header that the protocol does not allow:', () => {
  for (const [title, schema, why] of SCHEMAS)
    it(title, async () => {
      const server = await listed(schema);
      const names = (await server.tools()).map(({ name }) => name);
      assert.equal((await server.greeting()).version, '2026-07-28');
      assert.deepEqual(names, why === null ? ['odd', 'good'] : ['good']);
      assert.deepEqual(
        server.aside.map(({ name }) => name),
        why === null ? [] : ['odd'],
      );
      if (why !== null)
        assert.match(server.aside[0]?.why ?? '', new RegExp(`^its "x-mcp-header" .*${why.source}`));
      const older = await listed(schema, false);
      assert.deepEqual(
        (await older.tools()).map(({ name }) => name),
        ['odd', 'good'],
      );
    });
});

it('a valid one is sent with the call', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = await listed(fields({ a: header('Tenant') }), true, seen);
  assert.equal(await callOne(server, { a: 'mine' }), 'ok: done');
  assert.equal(seen.at(-1)?.['mcp-param-tenant'], 'mine');
});
