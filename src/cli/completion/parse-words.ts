import type { Command, Option } from 'commander';
import { argumentPlace, optionPlace, type Place } from './word-kind.ts';

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
export function parseWords(program: Command, words: readonly string[]): ParsedWords {
  const values = new Map<string, string>();
  const help = program.createHelp();
  let [command, path, helped]: [Command, string, boolean] = [program, '', false];
  let [count, dashes]: [number, boolean] = [0, false];
  let flag: string | null = null;
  // `help` takes the name of a command, then of one below it.
  const below = (): readonly Command[] =>
    helped ? command.commands.filter((one) => one.name() !== 'help') : help.visibleCommands(command);
  const options = (): readonly Option[] => (helped ? [] : help.visibleOptions(command));
  const valuePlace = (name: string): Place | null => {
    const option = options().find(({ short, long }) => short === name || long === name);
    return option === undefined ? null : optionPlace(option);
  };
  for (const word of words.slice(0, -1)) {
    const [name, value] = flagAndValue(word);
    const next = below().find((one) => one.name() === word);
    if (flag !== null) {
      values.set(flag, word);
      flag = null;
    } else if (!dashes && word === '--') dashes = true;
    else if (!dashes && value !== null) values.set(name, value);
    else if (!dashes && /^-./.test(word)) flag = valuePlace(word) === null ? null : word;
    else if (!dashes && next !== undefined) {
      if (word === 'help') helped = true;
      else [command, path] = [next, `${path} ${word}`.trim()];
      count = 0;
    } else count += 1;
  }
  const last = words.at(-1) ?? '';
  const walked = { words: null, place: null, lead: '', typed: last, values };
  if (flag !== null) return { ...walked, place: valuePlace(flag) };
  const [name, value] = flagAndValue(last);
  if (!dashes && value !== null)
    return { ...walked, place: valuePlace(name), lead: `${name}=`, typed: value };
  if (!dashes && last.startsWith('-')) return { ...walked, words: options().flatMap(flagWords) };
  if (!dashes && below().length > 0)
    return {
      ...walked,
      words: below().map((one) => ({ value: one.name(), description: one.description() })),
    };
  const places = helped ? [] : command.registeredArguments;
  const argument = places[count] ?? (places.at(-1)?.variadic ? places.at(-1) : undefined);
  return { ...walked, place: argument === undefined ? null : argumentPlace(argument, path) };
}

function flagWords({ short, long, description }: Option): Candidate[] {
  return [short, long].flatMap((value) => (value === undefined ? [] : [{ value, description }]));
}

/** Splits `--tree=ab`; the value is null if the word has none. */
function flagAndValue(word: string): [string, string | null] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word, null] : [word.slice(0, at), word.slice(at + 1)];
}
