/** Proves that ids that a process makes in sequence are adjacent in an index and otherwise random. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idSequence } from '../../src/runtime/runtime-options.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('ids are UUIDs with ascending prefixes, also after the last number; the rest is random', () => {
  const ids = Array.from({ length: 3 * 64 }, idSequence(0xfffe));
  for (const id of ids) assert.match(id, UUID);
  const beginnings = ids.map((id) => id.slice(0, 4));
  assert.deepEqual(
    [0, 63, 64, 127, 128, 191].map((index) => beginnings[index]),
    ['fffe', 'fffe', 'ffff', 'ffff', '0000', '0000'],
  );
  assert.equal(new Set(ids.map((id) => id.slice(4))).size, ids.length);
});

test('processes begin at different numbers', () => {
  const beginnings = Array.from({ length: 8 }, () => idSequence()().slice(0, 4));
  assert.ok(new Set(beginnings).size > 1, `all begin with ${beginnings[0]}`);
});
