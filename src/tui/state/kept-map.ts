const BITS = 5;
const WIDTH = 1 << BITS;
const MASK = WIDTH - 1;

type Node = readonly unknown[];

/**
 * A map that is never changed: `with` returns another one that shares all but a few dozen places with it, whatever the size. Keys stand
 * in the order in which they first came, also after they were set again; one that was taken out and comes back has its old place.
 */
export class KeptMap<V extends object> implements ReadonlyMap<string, V> {
  /** Which place a key has: shared by all versions, and only ever added to. A version that lacks a key has nothing at its place. */
  readonly #places: Map<string, number>;
  readonly #root: Node;
  readonly #depth: number;
  readonly size: number;

  private constructor(places: Map<string, number>, root: Node, depth: number, size: number) {
    this.#places = places;
    this.#root = root;
    this.#depth = depth;
    this.size = size;
  }

  static empty<V extends object>(): KeptMap<V> {
    return new KeptMap<V>(new Map(), [], 1, 0);
  }

  get(key: string): V | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : (this.#at(place) as V | undefined);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  with(key: string, value: V): KeptMap<V> {
    const before = this.get(key);
    if (before === value) return this;
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#places.size;
      this.#places.set(key, place);
    }
    return this.#set(place, value, before === undefined ? this.size + 1 : this.size);
  }

  without(key: string): KeptMap<V> {
    const place = this.#places.get(key);
    return place === undefined || !this.has(key) ? this : this.#set(place, undefined, this.size - 1);
  }

  #at(place: number): unknown {
    if (place >= WIDTH ** this.#depth) return undefined;
    let node: unknown = this.#root;
    for (let level = this.#depth - 1; level >= 0; level -= 1) {
      if (node === undefined) return undefined;
      node = (node as Node)[(place >> (level * BITS)) & MASK];
    }
    return node;
  }

  #set(place: number, value: V | undefined, size: number): KeptMap<V> {
    let [root, depth] = [this.#root, this.#depth];
    while (place >= WIDTH ** depth) {
      root = [root];
      depth += 1;
    }
    return new KeptMap<V>(this.#places, put(root, depth - 1, place, value), depth, size);
  }

  *entries(): MapIterator<[string, V]> {
    for (const [key, place] of this.#places) {
      const value = this.#at(place) as V | undefined;
      if (value !== undefined) yield [key, value];
    }
  }

  *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  forEach(visit: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }
}

function put(node: Node, level: number, place: number, value: unknown): Node {
  const copy = [...node];
  const index = (place >> (level * BITS)) & MASK;
  copy[index] = level === 0 ? value : put((copy[index] as Node | undefined) ?? [], level - 1, place, value);
  return copy;
}
