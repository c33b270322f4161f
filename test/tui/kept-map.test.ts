// Proves that the kept map is an ordered map whose versions never change each other, and that a change touches few places at any size.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { KeptMap } from '../../src/tui/state/kept-map.ts';

type Value = { readonly value: number };

it('holds what a plain map would hold, and every older version what it held', () => {
  const step = fc.tuple(fc.nat({ max: 70 }), fc.option(fc.nat()));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      let map = KeptMap.empty<Value>();
      const model = new Map<string, Value>();
      const versions: [KeptMap<Value>, Map<string, Value>][] = [];
      for (const [key, value] of steps) {
        const name = `k${key}`;
        if (value === null) {
          map = map.without(name);
          model.delete(name);
        } else {
          const held = { value };
          map = map.with(name, held);
          model.set(name, held);
        }
        versions.push([map, new Map(model)]);
      }
      for (const [kept, held] of versions) {
        assert.equal(kept.size, held.size);
        assert.deepEqual(new Map(kept), held);
        for (const [name, value] of held) assert.equal(kept.get(name), value);
      }
    }),
  );
});

it('keeps the order in which keys first came', () => {
  let map = KeptMap.empty<Value>();
  for (const key of ['c', 'a', 'b']) map = map.with(key, { value: 1 });
  assert.deepEqual([...map.with('c', { value: 2 }).keys()], ['c', 'a', 'b']);
  assert.deepEqual([...map.without('c').keys()], ['a', 'b']);
});

it('lets two versions of one map go different ways', () => {
  const base = KeptMap.empty<Value>().with('a', { value: 1 });
  const left = base.with('b', { value: 2 });
  const right = base.with('c', { value: 3 });
  assert.deepEqual([...left.keys()], ['a', 'b']);
  assert.deepEqual([...right.keys()], ['a', 'c']);
  assert.equal(left.get('c'), undefined);
  assert.deepEqual([...base.keys()], ['a']);
});

it('shares values and returns itself when nothing changes', () => {
  const value = { value: 1 };
  const map = KeptMap.empty<Value>().with('a', value);
  assert.equal(map.with('a', value), map);
  assert.equal(map.without('b'), map);
});
