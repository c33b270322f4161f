import type { CommandShape, Place } from './command-shape.ts';

export interface Walked {
  /** What the last word may be; null when it is a flag, a command, or nothing is known of it. */
  readonly place: Place | null;
  /** The part of the last word that is to be completed: `--tree=ab` means `ab`. */
  readonly typed: string;
  /** Values of flags before it, the last of each. */
  readonly values: ReadonlyMap<string, string>;
}

/** Reads a command line up to its last word, which is being typed. The scripts for the shells do the same. */
export function walkWords(shapes: readonly CommandShape[], words: readonly string[]): Walked {
  const shapeAt = (path: string): CommandShape | undefined => shapes.find((one) => one.path === path);
  const values = new Map<string, string>();
  let shape = shapeAt('');
  let [count, dashes]: [number, boolean] = [0, false];
  let flag: string | null = null;
  const valuePlace = (name: string): Place | null =>
    shape?.flags.find((one) => one.names.includes(name))?.value ?? null;
  for (const word of words.slice(0, -1)) {
    const [name, value] = halves(word);
    if (flag !== null) {
      values.set(flag, word);
      flag = null;
    } else if (!dashes && word === '--') dashes = true;
    else if (!dashes && value !== null) values.set(name, value);
    else if (!dashes && /^-./.test(word)) flag = valuePlace(word) === null ? null : word;
    else if (!dashes && shape?.commands.some((one) => one.name === word)) {
      shape = shapeAt(`${shape.path} ${word}`.trim());
      count = 0;
    } else count += 1;
  }
  const last = words.at(-1) ?? '';
  if (flag !== null) return { place: valuePlace(flag), typed: last, values };
  const [name, value] = halves(last);
  if (!dashes && value !== null) return { place: valuePlace(name), typed: value, values };
  if ((!dashes && last.startsWith('-')) || shape === undefined) return { place: null, typed: last, values };
  const place = shape.places[count] ?? (shape.variadic ? shape.places.at(-1) : undefined);
  return { place: place ?? null, typed: last, values };
}

/** `--tree=ab` in two; null when there is no value in the word. */
function halves(word: string): [string, string | null] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word, null] : [word.slice(0, at), word.slice(at + 1)];
}
