import type { CommandShape, FlagShape, Place } from './command-shape.ts';

/** A place as the scripts know it: choices with spaces between, or `@file`, `@folder`, `@ask` (ask coppice), `@any`. */
export function placeWord({ kind, choices }: Place): string {
  if (choices !== null) return choices.join(' ');
  if (kind === 'text') return '@any';
  return kind === 'file' || kind === 'folder' ? `@${kind}` : '@ask';
}

export interface CommandRow {
  readonly path: string;
  /** A line each: word, tab, description. */
  readonly subs: string;
  readonly flags: string;
  /** A place each line; the last begins with `+` when it takes any number. */
  readonly places: string;
}

export function commandRows(shapes: readonly CommandShape[]): CommandRow[] {
  return shapes.map(({ path, commands, flags, places, variadic }) => ({
    path,
    subs: commands.map(({ name, description }) => line(name, description)).join('\n'),
    flags: flags.flatMap(({ names, description }) => names.map((name) => line(name, description))).join('\n'),
    places: places
      .map((place, index) => `${variadic && index === places.length - 1 ? '+' : ''}${placeWord(place)}`)
      .join('\n'),
  }));
}

function line(word: string, description: string): string {
  return `${word}\t${description.replaceAll(/\s+/g, ' ')}`;
}

export interface ValueRow {
  /** `PATH|FLAG`; `*|FLAG` where all commands that have the flag agree. */
  readonly patterns: readonly string[];
  readonly place: string;
}

/** What flags take. A flag without a value is in no row. */
export function valueRows(shapes: readonly CommandShape[]): ValueRow[] {
  const by_name = new Map<string, Map<string, string[]>>();
  const enter = (path: string, { names, value }: FlagShape): void => {
    const place = value === null ? '' : placeWord(value);
    for (const name of names) {
      const places = by_name.get(name) ?? new Map<string, string[]>();
      by_name.set(name, places.set(place, [...(places.get(place) ?? []), `${path}|${name}`]));
    }
  };
  for (const { path, flags } of shapes) for (const flag of flags) enter(path, flag);
  return [...by_name].flatMap(([name, places]) =>
    [...places]
      .filter(([place]) => place !== '')
      .map(([place, patterns]) => ({ place, patterns: places.size === 1 ? [`*|${name}`] : patterns })),
  );
}
