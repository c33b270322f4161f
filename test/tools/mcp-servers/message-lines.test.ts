/** Proves that messages are found in whatever a program writes, in pieces of any size and within bounds, and that other output ends nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { MESSAGE_BYTES } from '../../../src/processes/output/json-meter.ts';
import { LimitExceeded } from '../../../src/tools/mcp-servers/wire/flood-watch.ts';
import { MessageLines } from '../../../src/tools/mcp-servers/wire/stdio-messages.ts';

function read(text: string, cuts: readonly number[] = []): { messages: unknown[]; noise: string } {
  const lines = new MessageLines(() => 0);
  const bytes = Buffer.from(text);
  const messages: unknown[] = [];
  let from = 0;
  for (const at of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
    messages.push(...lines.push(bytes.subarray(from, Math.max(from, at))));
    from = Math.max(from, at);
  }
  return { messages, noise: lines.noise };
}

describe('lines of a program', () => {
  it('are messages or noise, however they are cut', () => {
    const line = fc.oneof(
      fc.json({ maxDepth: 3 }).map((json) => `{"a":${json}}`),
      fc.string().map((text) => text.replaceAll(/[\n\r]/g, '')),
      fc.constant('{"broken": '),
      fc.constant(''),
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        fc.array(fc.nat(300), { maxLength: 6 }),
        (texts, cuts) => {
          const text = texts.map((one) => `${one}\n`).join('');
          const expected = texts.flatMap((one) => {
            try {
              return /^\s*[[{]/.test(one) ? [JSON.parse(one) as unknown] : [];
            } catch {
              return [];
            }
          });
          assert.deepEqual(
            read(
              text,
              cuts.filter((cut) => cut < Buffer.byteLength(text)),
            ).messages,
            expected,
          );
        },
      ),
    );
  });

  it('are kept as far as they tell what is wrong', () => {
    assert.deepEqual(read('usage: server [options]\n{"id":1}\n'), {
      messages: [{ id: 1 }],
      noise: 'usage: server [options]\n',
    });
  });

  it('are refused when they are too long, too deep, or too many', () => {
    assert.throws(() => read(`{"a":"${'x'.repeat(MESSAGE_BYTES)}`), LimitExceeded);
    assert.throws(() => read(`{"a":[${'1,'.repeat(900_000)}`), LimitExceeded);
    assert.throws(() => read(`{"a":${'['.repeat(300)}`), LimitExceeded);
    assert.throws(() => read('{}\n'.repeat(10_001)), LimitExceeded);
    assert.equal(read(`{"a":"${'['.repeat(300)}\\"{{{"}\n`).messages.length, 1);
  });

  it('are counted anew after a while', () => {
    let now = 0;
    const lines = new MessageLines(() => now);
    for (let round = 0; round < 5; round += 1) {
      assert.equal([...lines.push(Buffer.from('{}\n'.repeat(9_000)))].length, 9_000);
      now += 11_000;
    }
  });
});
