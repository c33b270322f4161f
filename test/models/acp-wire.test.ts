// Proves that no message of an agent program blocks the process: too many values or bytes end the connection, and the contents of strings are not counted as
// values.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MessageTooLargeError } from '@agentclientprotocol/sdk';
import { AcpTurn } from '../../src/models/agent-programs/acp-turn.ts';
import { acpWire } from '../../src/models/agent-programs/acp-wire.ts';
import { MESSAGE_BYTES, MESSAGE_DEPTH, MESSAGE_VALUES } from '../../src/processes/output/json-meter.ts';

/** Returns the updates that arrive, and how the stream ends. */
async function sent(
  updates: readonly unknown[],
  chunk_bytes = 65_536,
): Promise<readonly [unknown[], unknown]> {
  const text = updates
    .map((params) => `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}\n`)
    .join('');
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const stdout = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at + chunk_bytes));
      at += chunk_bytes;
      if (at >= bytes.length) controller.close();
    },
  });
  const seen: unknown[] = [];
  const { stream } = acpWire(new WritableStream(), stdout, (params) => seen.push(params));
  const end = await stream.readable.pipeTo(new WritableStream()).catch((error: unknown) => error);
  return [seen, end];
}

it('large texts come through, whatever stands in them', async () => {
  const texts = [',:{['.repeat(MESSAGE_VALUES), '\\",'.repeat(1_000_000), '"'.repeat(1_000_000)];
  const [seen, end] = await sent(texts);
  assert.ok(seen.every((text, index) => text === texts[index]) && seen.length === texts.length);
  assert.equal(end, undefined);
  const [bits] = await sent([{ 'a"\\': ['\\', '"', ',', '漢'] }], 1);
  assert.deepEqual(bits, [{ 'a"\\': ['\\', '"', ',', '漢'] }]);
});

function nested(levels: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

it('a message of too many values, levels or bytes ends the stream, and is not read', async () => {
  const hostile = [
    Array(MESSAGE_VALUES).fill({}),
    Object.fromEntries(Array.from({ length: MESSAGE_VALUES / 2 }, (_, index) => [`${index}`, 1])),
    'x'.repeat(MESSAGE_BYTES),
    nested(MESSAGE_DEPTH),
  ];
  for (const params of hostile) {
    const [seen, end] = await sent(['before', params, 'behind']);
    assert.deepEqual(seen, ['before']);
    assert.ok(end instanceof MessageTooLargeError);
  }
});

it('many messages of some values each are many, not large', async () => {
  const [seen, end] = await sent(Array(5).fill(Array(MESSAGE_VALUES / 4).fill([])));
  assert.equal(seen.length, 5);
  assert.equal(end, undefined);
});

it('of a title of megabytes the beginning is read', () => {
  const names: string[] = [];
  const turn = new AcpTurn((delta) => delta.type === 'call' && names.push(delta.name));
  const before = process.cpuUsage();
  for (let index = 0; index < 5; index += 1) turn.call(`${index}`, 'a  b '.repeat(3_000_000));
  // Reading the titles whole would take seventeen seconds.
  assert.ok(process.cpuUsage(before).user < 3_000_000);
  assert.deepEqual([names.length, names[0]], [5, 'a b '.repeat(50)]);
});

it('of two answers to one request the first counts, and one to no request is dropped', async () => {
  const answers = [1, 1, 7].map((id) => `${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`).join('');
  const asked = Promise.withResolvers<void>();
  const stdin = new WritableStream<Uint8Array>({ write: () => asked.resolve() });
  const stdout = new ReadableStream<Uint8Array>({
    async start(controller) {
      await asked.promise;
      controller.enqueue(new TextEncoder().encode(answers));
      controller.close();
    },
  });
  const { stream } = acpWire(stdin, stdout, () => undefined);
  const writer = stream.writable.getWriter();
  void writer.write({ jsonrpc: '2.0', id: 1, method: 'ask', params: {} });
  const seen: unknown[] = [];
  await stream.readable.pipeTo(new WritableStream({ write: (message) => void seen.push(message) }));
  assert.deepEqual(seen, [{ jsonrpc: '2.0', id: 1, result: {} }]);
});
