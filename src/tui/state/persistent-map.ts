/** Values that a change copies, beside one reference for each such chunk. */
const CHUNK = 64;

type Chunk<V> = readonly (V | undefined)[];

/**
 * A persistent map: `with` and `without` return another one that shares all but one chunk with it. Values stand in the order in which
 * their keys first came, also after they were set again; a key that was taken out and comes back has its old place.
 */
export class PersistentMap<V extends object> {
  /** Which place a key has: shared by all versions, and only ever added to. A version that lacks a key has nothing at its place. */
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
