/** Invalid values and damage to messages, reproducible by seed. */

/** Returns an integer from 0 (inclusive) to `below` (exclusive). */
export type Random = (below: number) => number;

/** Mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  'x',
  '\ud800',
  '\0',
  '../..',
  '__proto__',
  [],
  {},
  [[]],
  { toString: 1 },
  'a'.repeat(5_000),
];

/** Returns a copy in which one value, at any depth, is replaced, removed or added. */
export function changedFrame(frame: Record<string, unknown>, random: Random): unknown {
  const copy = structuredClone(frame);
  let place: Record<string, unknown> = copy;
  while (true) {
    const keys = Object.keys(place);
    const key = keys.length === 0 ? 'new' : pick(keys, random);
    const below = place[key];
    if (typeof below === 'object' && below !== null && random(3) > 0) {
      place = below as Record<string, unknown>;
      continue;
    }
    const how = random(3);
    if (how === 0) delete place[key];
    else if (how === 1) place[key] = pick(ODD, random);
    else
      Object.defineProperty(place, pick(['__proto__', 'extra', 'id'], random), {
        value: pick(ODD, random),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    return copy;
  }
}

/** Returns a copy in which bytes are changed, removed, duplicated or inserted. */
export function damagedFrame(frame: Buffer, random: Random): Buffer {
  const bytes = [...frame];
  for (let times = 1 + random(4); times > 0; times -= 1) {
    const at = random(bytes.length + 1);
    const how = random(4);
    if (how === 0) bytes[at] = random(256);
    else if (how === 1) bytes.splice(at, 1 + random(20));
    else if (how === 2) bytes.splice(at, 0, ...bytes.slice(at, at + random(20)));
    else bytes.splice(at, 0, random(256));
  }
  return Buffer.from(bytes.map((byte) => byte ?? 0));
}

export function pick<Value>(from: readonly Value[], random: Random): Value {
  return from[random(from.length)] as Value;
}
