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
