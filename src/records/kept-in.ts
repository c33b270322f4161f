/** What a map keeps for the key; made first, and kept, if that is nothing. */
export function keptIn<Key, Known>(
  map: { get(key: Key): Known | undefined; set(key: Key, value: Known): unknown },
  key: Key,
  make: (key: Key) => Known,
): Known {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
}

/** Adds to the count that a map keeps for the key; what is counted down to nothing is not kept. Returns the new count. */
export function countIn<Key>(counts: Map<Key, number>, key: Key, change: number): number {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
  return count;
}

/** Keeps the value as the newest of the map; of more than `most`, the oldest goes. Returns the key that went, if one did. */
export function keepNewest<Key, Known>(
  map: Map<Key, Known>,
  key: Key,
  value: Known,
  most: number,
): Key | undefined {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return undefined;
  const [oldest] = map.keys();
  map.delete(oldest as Key);
  return oldest;
}
