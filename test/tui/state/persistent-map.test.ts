// Proves that the persistent map is an ordered map whose versions never affect each other.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { PersistentMap } from '../../../src/tui/state/persistent-map.ts';

type Value = { readonly key: string; readonly value: number };

function mapOf(...keys: string[]): PersistentMap<Value> {
  return keys.reduce((map, key) => map.with(key, { key, value: 0 }), PersistentMap.empty<Value>());
}

function keysOf(map: PersistentMap<Value>): string[] {
  return [...map.values()].map(({ key }) => key);
}

/** More keys than fit in one chunk. */
const KEYS = Array.from({ length: 200 }, (_, index) => `k${index}`);

it('equals a plain map, and every older version keeps its entries', () => {
  const step = fc.tuple(fc.constantFrom(...KEYS), fc.option(fc.nat()));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.nat({ max: KEYS.length }), (steps, born) => {
      let map = mapOf(...KEYS.slice(0, born));
      const model = new Map([...map.values()].map((value) => [value.key, value]));
      const versions: [PersistentMap<Value>, Map<string, Value>][] = [];
      for (const [key, value] of steps) {
        if (value === null) {
          map = map.without(key);
          model.delete(key);
        } else {
          const held = { key, value };
          map = map.with(key, held);
          model.set(key, held);
        }
        versions.push([map, new Map(model)]);
      }
      for (const [kept, held] of versions) {
        assert.equal(kept.size, held.size);
        assert.deepEqual(new Map([...kept.values()].map((value) => [value.key, value])), held);
        for (const key of KEYS) {
          assert.equal(kept.get(key), held.get(key));
          assert.equal(kept.has(key), held.has(key));
        }
      }
    }),
  );
});

it('keeps keys in the order of insertion', () => {
  const map = mapOf('c', 'a', 'b');
  assert.deepEqual(keysOf(map.with('c', { key: 'c', value: 2 })), ['c', 'a', 'b']);
  assert.deepEqual(keysOf(map.without('c')), ['a', 'b']);
  assert.deepEqual(keysOf(map.without('c').with('c', { key: 'c', value: 3 })), ['c', 'a', 'b']);
});

it('two versions of one map can diverge', () => {
  const base = mapOf(...KEYS.slice(0, 63));
  const left = base.with('left', { key: 'left', value: 2 });
  const right = base.with('right', { key: 'right', value: 3 });
  assert.deepEqual(keysOf(left), [...KEYS.slice(0, 63), 'left']);
  assert.deepEqual(keysOf(right), [...KEYS.slice(0, 63), 'right']);
  assert.equal(left.get('right'), undefined);
  assert.deepEqual(keysOf(base), KEYS.slice(0, 63));
});

it('shares values and returns itself when nothing changes', () => {
  const value = { key: 'a', value: 1 };
  const map = PersistentMap.empty<Value>().with('a', value);
  assert.equal(map.with('a', value), map);
  assert.equal(map.without('b'), map);
});
