/**
 * A short stand-in for texts that would be long to keep: equal texts have equal fingerprints, different ones almost surely not.
 * Two 32-bit FNV-1a hashes over UTF-16 units and the lengths; not for anything that an adversary may gain from.
 */
export function fingerprint(texts: readonly string[]): string {
  let [one, two] = [0x811c9dc5, 0xc9dc5118];
  for (const text of texts) {
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      one = Math.imul(one ^ unit, 0x01000193);
      two = Math.imul(two ^ unit, 0x85ebca6b);
    }
    one = Math.imul(one ^ text.length, 0x01000193);
    two = Math.imul(two ^ text.length, 0x85ebca6b);
  }
  return [one, two].map((hash) => (hash >>> 0).toString(16).padStart(8, '0')).join('');
}
