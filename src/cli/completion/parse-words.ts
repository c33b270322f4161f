import type { CommandShape, FlagShape, Place } from './command-shape.ts';

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

export interface ParsedWords {
  /** Flags or commands that the last word can become; null when it is a value. */
  readonly words: readonly Candidate[] | null;
  /** Kind of value that the last word is; null if unknown. */
  readonly place: Place | null;
  /** Prefix of the last word that is kept: `--tree=` of `--tree=ab`. */
  readonly lead: string;
  /** The part to complete: `ab`. */
  readonly typed: string;
  /** The last value of each flag before the last word. */
  readonly values: ReadonlyMap<string, string>;
}

/** Parses a command line up to its last word, which is being typed. */
export function parseWords(shapes: readonly CommandShape[], words: readonly string[]): ParsedWords {
  const shapeAt = (path: string): CommandShape | undefined => shapes.find((one) => one.path === path);
  const values = new Map<string, string>();
  let shape = shapeAt('');
  let [count, dashes]: [number, boolean] = [0, false];
  let flag: string | null = null;
  const valuePlace = (name: string): Place | null =>
    shape?.flags.find((one) => one.names.includes(name))?.value ?? null;
  for (const word of words.slice(0, -1)) {
    const [name, value] = flagAndValue(word);
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
  const walked = { words: null, place: null, lead: '', typed: last, values };
  if (flag !== null) return { ...walked, place: valuePlace(flag) };
  const [name, value] = flagAndValue(last);
  if (!dashes && value !== null)
    return { ...walked, place: valuePlace(name), lead: `${name}=`, typed: value };
  if (shape === undefined) return walked;
  if (!dashes && last.startsWith('-')) return { ...walked, words: shape.flags.flatMap(flagWords) };
  if (!dashes && shape.commands.length > 0)
    return {
      ...walked,
      words: shape.commands.map(({ name: value, description }) => ({ value, description })),
    };
  const place = shape.places[count] ?? (shape.variadic ? shape.places.at(-1) : undefined);
  return { ...walked, place: place ?? null };
}

function flagWords({ names, description }: FlagShape): Candidate[] {
  return names.map((value) => ({ value, description }));
}

/** Splits `--tree=ab`; the value is null if the word has none. */
function flagAndValue(word: string): [string, string | null] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word, null] : [word.slice(0, at), word.slice(at + 1)];
}
