/** Values per chunk: a change copies one chunk, and the references to all chunks. */
const CHUNK = 64;

type Chunk<V> = readonly (V | undefined)[];

/**
 * A persistent map: `with` and `without` return a new map that shares all but one chunk with the old one. Values are in the order in which
 * their keys were first added, even after they were set again; a key that is removed and added again gets its old place back.
 */
export class PersistentMap<V extends object> {
  /** The place of each key: append-only, and shared by all versions. A version without a key has no value at its place. */
  readonly #places: Map<string, number>;
  readonly #chunks: readonly (Chunk<V> | undefined)[];
  readonly size: number;

  private constructor(places: Map<string, number>, chunks: readonly (Chunk<V> | undefined)[], size: number) {
    this.#places = places;
    this.#chunks = chunks;
    this.size = size;
  }

  static empty<V extends object>(): PersistentMap<V> {
    return new PersistentMap<V>(new Map(), [], 0);
  }

  get(key: string): V | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#chunks[Math.floor(place / CHUNK)]?.[place % CHUNK];
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  with(key: string, value: V): PersistentMap<V> {
    const before = this.get(key);
    if (before === value) return this;
    const place = this.#places.get(key) ?? this.#places.size;
    this.#places.set(key, place);
    return this.#set(place, value, before === undefined ? this.size + 1 : this.size);
  }

  without(key: string): PersistentMap<V> {
    const place = this.#places.get(key);
    return place === undefined || !this.has(key) ? this : this.#set(place, undefined, this.size - 1);
  }

  #set(place: number, value: V | undefined, size: number): PersistentMap<V> {
    const index = Math.floor(place / CHUNK);
    const chunk = [...(this.#chunks[index] ?? [])];
    chunk[place % CHUNK] = value;
    const chunks = [...this.#chunks];
    chunks[index] = chunk;
    return new PersistentMap<V>(this.#places, chunks, size);
  }

  *values(): Generator<V> {
    for (const chunk of this.#chunks) {
      for (const value of chunk ?? []) if (value !== undefined) yield value;
    }
  }
}
