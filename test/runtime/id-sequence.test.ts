/**
 * Proves that ids of agents that a process makes in sequence differ from their first characters on, are close together in an index at a few places, and are
 * otherwise random; and that all other ids are close together at one place.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idSequence } from '../../src/runtime/runtime-options.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('ids are UUIDs that begin differently, also after the last number; those of one place are close together; the rest is random', () => {
  const newId = idSequence(0xfffe);
  const ids = Array.from({ length: 3 * 256 }, () => newId('agent'));
  for (const id of ids) assert.match(id, UUID);
  for (let from = 0; from + 16 <= ids.length; from += 1)
    assert.equal(new Set(ids.slice(from, from + 16).map((id) => id[0])).size, 16);
  const beginnings = ids.map((id) => id.slice(0, 4));
  assert.equal(new Set(beginnings).size, ids.length);
  // A commit of a tree of a hundred touches few places of an index.
  for (const [index, id] of ids.entries()) {
    const next = ids[index + 16];
    if (next !== undefined)
      assert.equal((Number(`0x${id.slice(1, 4)}`) + 1) % 4096, Number(`0x${next.slice(1, 4)}`));
  }
  assert.equal(new Set(ids.map((id) => id.slice(4))).size, ids.length);
});

test('ids of letters and runs follow each other, whatever agents are made between them', () => {
  const newId = idSequence(0xfffd);
  const ids = Array.from({ length: 4 }, () => [newId(), newId('agent')][0] as string);
  for (const id of ids) assert.match(id, UUID);
  assert.deepEqual(
    ids.map((id) => id.slice(0, 4)),
    ['fffe', 'ffff', '0000', '0001'],
  );
  assert.equal(new Set(ids.map((id) => id.slice(4))).size, ids.length);
});

test('processes begin at different numbers', () => {
  const beginnings = Array.from({ length: 8 }, () => idSequence()().slice(0, 4));
  assert.ok(new Set(beginnings).size > 1, `all begin with ${beginnings[0]}`);
});
