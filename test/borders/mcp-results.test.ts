/** Proves that one odd block, field or envelope of a server's answer costs only itself, and that a call that did not run is not called unknown. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, describe, it } from 'node:test';
import { closeOpened } from '../close-opened.ts';
import { callOne, OBJECT, rawServer, WRITTEN } from './raw-mcp.ts';

after(closeOpened);

const TOOLS = { tools: [{ name: 'one', inputSchema: OBJECT }] };
const FINE = { type: 'text', text: 'fine' };
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** Odd blocks before a good one. */
const BLOCKS: readonly (readonly [title: string, block: unknown, told: RegExp])[] = [
  ['an unknown type', { type: 'weird', foo: 1 }, /^\[a block of type weird is left out: not supported\]$/],
  ['an unknown type with text', { type: 'markdown', text: 'hello' }, /^hello$/],
  ['no type', { foo: 1 }, /^\[a block of type unknown is left out/],
  ['no type, but text', { text: 'hello' }, /^hello$/],
  ['text: null', { type: 'text', text: null }, /^\[a block of type text is left out: it has no text\]$/],
  ['text that is an object', { type: 'text', text: { a: 1 } }, /^\[a block of type text is left out/],
  ['annotations: null', { type: 'text', text: 'hello', annotations: null }, /^hello$/],
  ['_meta: null', { type: 'text', text: 'hello', _meta: null }, /^hello$/],
  [
    'a picture without data',
    { type: 'image', mimeType: 'image/png' },
    /^\[a picture is left out: it has no data\]$/,
  ],
  ['a picture without a mimeType', { type: 'image', data: PIXEL }, /^\[picture 1: image\/png/],
  [
    'a picture as a data URL',
    { type: 'image', data: `data:image/png;base64,${PIXEL}`, mimeType: null },
    /^\[picture 1: image\/png/,
  ],
  [
    'a picture that is none',
    { type: 'image', data: '<html>', mimeType: 'image/png' },
    /^\[a picture is left out: it is not a png/,
  ],
  ['audio without a mimeType', { type: 'audio', data: 'AAAA' }, /^\[audio \(unknown\) is left out/],
  ['a link without a name', { type: 'resource_link', uri: 'file:///a' }, /^\[unknown: file:\/\/\/a\]$/],
  ['a resource that is null', { type: 'resource', resource: null }, /^\[unknown\] \[a resource is left out/],
  ['a resource without a uri', { type: 'resource', resource: { text: 'inner' } }, /^\[unknown\]\ninner$/],
  ['null', null, /^\[a block is left out: it is not an object\]$/],
  ['text alone', 'hello', /^hello$/],
];

describe('a block with', () => {
  for (const [title, block, told] of BLOCKS)
    it(title, async () => {
      const server = await rawServer(({ method }) =>
        method === 'tools/list' ? TOOLS : { content: [block, FINE] },
      );
      const said = await callOne(server);
      assert.match(said, /^ok: [\s\S]*\nfine$/);
      assert.match(said.slice('ok: '.length, -'\nfine'.length), told);
    });
});

/** Odd results. */
const RESULTS: readonly (readonly [title: string, result: unknown, told: RegExp])[] = [
  ['content: null', { content: null }, /^ok: \[no output\]$/],
  ['no content', {}, /^ok: \[no output\]$/],
  ['only structuredContent', { structuredContent: { a: 1 } }, /^ok: \{\s+"a": 1\s+\}$/],
  ['structuredContent that is a list', { structuredContent: [1] }, /^ok: \[\s+1\s+\]$/],
  ['structuredContent that is text', { structuredContent: 'plain' }, /^ok: plain$/],
  ['structuredContent: null', { content: [FINE], structuredContent: null }, /^ok: fine$/],
  [
    'structuredContent of another type beside content',
    { content: [FINE], structuredContent: 5 },
    /^ok: fine$/,
  ],
  ['content as text', { content: 'plain' }, /^ok: plain$/],
  ['content that is one block', { content: FINE }, /^ok: fine$/],
  ['isError: null', { content: [FINE], isError: null }, /^ok: fine$/],
  ['isError as text', { content: [FINE], isError: 'true' }, /^error: fine$/],
  ['isError "false"', { content: [FINE], isError: 'false' }, /^ok: fine$/],
  ['_meta: null', { content: [FINE], _meta: null }, /^ok: fine$/],
  ['resultType of another type', { content: [FINE], resultType: 7 }, /^ok: fine$/],
  ['text instead of a result', 'plain', /^ok: plain$/],
];

describe('a result with', () => {
  for (const events of [false, true])
    for (const [title, result, told] of RESULTS)
      it(`${title}, ${events ? 'as an event' : 'as JSON'}`, async () => {
        const answer = ({ method }: { method: string }) => (method === 'tools/list' ? TOOLS : result);
        assert.match(await callOne(await rawServer(answer, { events })), told);
      });
});

type Write = (id: unknown) => readonly [status: number, type: string, body: string];
const JSON_TYPE = 'application/json';
const EVENTS = 'text/event-stream';
const good = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result: { content: [FINE] } });

/** Answers as they are on the wire. */
const FRAMES: readonly (readonly [title: string, write: Write, told: RegExp])[] = [
  [
    'a batch',
    (id) => [200, JSON_TYPE, `[{"jsonrpc":"2.0","method":"notifications/x"},${good(id)}]`],
    /^ok: fine$/,
  ],
  [
    'a batch as an event',
    (id) => [200, EVENTS, `data: [{"jsonrpc":"2.0","method":"notifications/x"},${good(id)}]\n\n`],
    /^ok: fine$/,
  ],
  ['an id as text', (id) => [200, JSON_TYPE, good(String(id))], /^ok: fine$/],
  [
    'no "jsonrpc"',
    (id) => [200, JSON_TYPE, JSON.stringify({ id, result: { content: [FINE] } })],
    /^ok: fine$/,
  ],
  [
    'error: null beside the result',
    (id) => [
      200,
      JSON_TYPE,
      JSON.stringify({ jsonrpc: '2.0', id, error: null, result: { content: [FINE] } }),
    ],
    /^ok: fine$/,
  ],
  ['another content type', (id) => [200, 'text/plain; charset=utf-8', good(id)], /^ok: fine$/],
  ['a page that is not JSON', () => [200, 'text/html', '<html>'], /outcome of the call is unknown/],
  ['a byte order mark', (id) => [200, JSON_TYPE, `\uFEFF${good(id)}`], /^ok: fine$/],
  ['an event without an empty line at the end', (id) => [200, EVENTS, `data: ${good(id)}`], /^ok: fine$/],
  [
    'events with CR LF',
    (id) => [200, EVENTS, `: hello\r\nevent: message\r\ndata:${good(id)}\r\n\r\n`],
    /^ok: fine$/,
  ],
  [
    'an event in two lines of data',
    (id) => [200, EVENTS, `data: {"jsonrpc":"2.0","id":${id},\ndata: "result":{"content":[]}}\n\n`],
    /^ok: \[no output\]$/,
  ],
  [
    'a line separator in the text',
    (id) => [200, EVENTS, `data: ${good(id).replace('fine', 'a\u2028data: b')}\n\n`],
    /^ok: a\u2028data: b$/,
  ],
  [
    'an error whose code is text',
    (id) => [
      200,
      JSON_TYPE,
      JSON.stringify({ jsonrpc: '2.0', id, error: { code: '-32602', message: 'no such thing' } }),
    ],
    /^error: the MCP server raw answered with error -32602: .*no such thing$/,
  ],
  [
    'an error without a message',
    (id) => [200, JSON_TYPE, JSON.stringify({ jsonrpc: '2.0', id, error: { code: -1 } })],
    /^error: the MCP server raw answered with error -1: [^?]*$/,
  ],
  [
    'an error that is text',
    (id) => [200, JSON_TYPE, JSON.stringify({ jsonrpc: '2.0', id, error: 'boom' })],
    /^error: the MCP server raw answered with error -32603: .*boom$/,
  ],
  [
    'status 403',
    () => [403, JSON_TYPE, '{"error":"not for you"}'],
    /^error: the MCP server raw refused the request with status 403: .*not for you"\}$/,
  ],
  [
    'status 429',
    () => [429, 'text/plain', 'slow down'],
    /^error: the MCP server raw refused the request with status 429: .*slow down$/,
  ],
  [
    'status 503',
    () => [503, 'text/plain', 'later'],
    /^error: the MCP server raw refused the request with status 503: .*later$/,
  ],
  ['status 500', () => [500, 'text/plain', 'oops'], /oops\. The outcome of the call is unknown/],
  ['status 504', () => [504, 'text/plain', 'gateway'], /gateway\. The outcome of the call is unknown/],
];

describe('an answer with', () => {
  for (const [title, write, told] of FRAMES)
    it(title, async () => {
      const server = await rawServer(({ method, id }, _: IncomingMessage, response: ServerResponse) => {
        if (method !== 'tools/call') return TOOLS;
        const [status, type, body] = write(id);
        response.writeHead(status, { 'content-type': type }).end(body);
        return WRITTEN;
      });
      assert.match(await callOne(server), told);
    });
});

/** How servers say that they do not know a session. */
const LOST: readonly (readonly [status: number, body: string])[] = [
  [404, '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}'],
  [404, ''],
  [
    400,
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}',
  ],
  [400, 'Invalid or missing session ID'],
];

describe('a lost session', () => {
  for (const [status, body] of LOST)
    for (const times of [1, 9])
      it(`${status} ${body.slice(0, 20)}, ${times === 1 ? 'is opened again' : 'is opened again only once'}`, async () => {
        let [calls, lists] = [0, 0];
        const server = await rawServer(({ method }, _, response) => {
          if (method === 'tools/list') lists += 1;
          if (method !== 'tools/call') return TOOLS;
          calls += 1;
          if (calls > times) return { content: [{ type: 'text', text: `call ${calls}` }] };
          response.writeHead(status, { 'content-type': JSON_TYPE }).end(body);
          return WRITTEN;
        });
        const said = await callOne(server);
        assert.match(
          said,
          times === 1 ? /^ok: call 2$/ : /^error: the MCP server raw has lost the session: [^?]*$/,
        );
        assert.doesNotMatch(said, /unknown/);
        assert.deepEqual([calls, lists], [2, 2]);
      });
});
