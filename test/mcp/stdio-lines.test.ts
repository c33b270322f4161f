/** Proves that lines that are not valid messages get the error of the specification, with the id if it can be read, and that the connection continues. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { StdioLines } from '../../src/mcp/stdio-lines.ts';

it('lines that are no messages', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const lines = new StdioLines(input, output);
  const taken: unknown[] = [];
  lines.onmessage = (message) => taken.push(message);
  await lines.start();
  const good = { jsonrpc: '2.0', id: 'ä', method: 'ping' };
  const answer = { jsonrpc: '2.0', id: 3, result: {} };
  const sent: readonly (readonly [string, object | readonly object[] | null])[] = [
    ['not json', { code: -32700 }],
    ['{"jsonrpc":"2.0","id":2', { code: -32700 }],
    [`${'['.repeat(500)}${']'.repeat(500)}`, { code: -32700 }],
    ['', null],
    ['[]', { code: -32600 }],
    ['5', { code: -32600 }],
    ['{"jsonrpc":"1.0","id":4,"method":"ping"}', { id: 4, code: -32600 }],
    ['{"jsonrpc":"2.0","id":"a","method":7}', { id: 'a', code: -32600 }],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', { code: -32600 }],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', { code: -32600 }],
    [`{"jsonrpc":"2.0","id":${2 ** 53},"method":"ping"}`, { code: -32600 }],
    [`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, { code: -32600 }],
    // Too large to be traversed, small enough to be answered with its id.
    [`{"jsonrpc":"2.0","id":"long","method":"${'x'.repeat(2_000_000)}"}`, { id: 'long', code: -32600 }],
    [
      `{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":[${'0,'.repeat(50_000)}0]}}`,
      { id: 7, code: -32600 },
    ],
    [
      `{"jsonrpc":"2.0","id":8,"method":"x","params":{"a":${'['.repeat(150)}${']'.repeat(150)}}}`,
      { id: 8, code: -32600 },
    ],
    [`{"jsonrpc":"2.0","id":9,"result":{"a":"${'x'.repeat(2_000_000)}"}}`, { code: -32600 }],
    ['{"jsonrpc":"2.0","id":5}', { id: 5, code: -32600 }],
    ['{"jsonrpc":"2.0","id":6,"method":"ping","params":[1]}', { id: 6, code: -32600 }],
    ...[1.5, {}, [], true].map((token): [string, object] => [
      JSON.stringify({ jsonrpc: '2.0', id: 11, method: 'ping', params: { _meta: { progressToken: token } } }),
      { id: 11, code: -32600 },
    ]),
    ['[5,{"jsonrpc":"2.0","id":10}]', [{ code: -32600 }, { id: 10, code: -32600 }]],
    [JSON.stringify(answer), null],
    [JSON.stringify(good), null],
  ];
  const bytes = Buffer.from(sent.map(([line]) => `${line}\n`).join(''));
  // Pieces end anywhere, even within a character.
  for (let at = 0; at < bytes.length; at += at < 1_000 ? 7 : 9_999)
    input.write(bytes.subarray(at, at + (at < 1_000 ? 7 : 9_999)));
  input.end();
  await lines.closed;
  output.end();
  const answers = (await text(output))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ id, error }) => ({ ...(id === undefined ? {} : { id }), code: error.code }));
  assert.deepEqual(
    answers,
    sent.flatMap(([, expected]) => expected ?? []),
  );
  assert.deepEqual(taken, [answer, good]);
});

it('batches, and null where a client has nothing to say', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const lines = new StdioLines(input, output);
  const taken: unknown[] = [];
  lines.onmessage = (message) => taken.push(message);
  await lines.start();
  const call = (id: number, params: unknown) => ({ jsonrpc: '2.0', id, method: 'tools/call', params });
  const sent = [
    [call(1, { name: 'a', arguments: null }), call(2, null), { jsonrpc: '2.0', method: 'notifications/x' }],
    call(3, { name: 'a', _meta: null, arguments: { b: null } }),
    call(4, { name: 'a', _meta: { progressToken: null, c: null } }),
  ];
  input.end(sent.map((one) => `${JSON.stringify(one)}\n`).join(''));
  await lines.closed;
  assert.equal(output.read(), null);
  assert.deepEqual(taken, [
    call(1, { name: 'a' }),
    { jsonrpc: '2.0', id: 2, method: 'tools/call' },
    { jsonrpc: '2.0', method: 'notifications/x' },
    call(3, { name: 'a', arguments: { b: null } }),
    call(4, { name: 'a', _meta: { c: null } }),
  ]);
});
