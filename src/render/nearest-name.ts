import { distance } from 'fastest-levenshtein';
import { CoppiceError, type ErrorCode } from '../records/coppice-error.ts';

/** Maximum characters of a name that is compared: the comparison takes time proportional to the product of both lengths. */
const LENGTH_MAX = 200;

/** Minimum characters of a name within another. */
const BEGINNING_MIN = 3;

/** The closest known name within `most` edits, ignoring case; null if there is none. */
export function nearestName(
  given: string,
  known: Iterable<string>,
  most = Math.max(2, Math.floor(given.length / 3)),
): string | null {
  if (given.length > LENGTH_MAX) return null;
  const wanted = given.toLowerCase();
  let best: string | null = null;
  let nearest = most + 1;
  for (const name of known) {
    const away = editsBetween(name.toLowerCase(), wanted);
    if (away < nearest) [best, nearest] = [name, away];
  }
  return best;
}

/** Edit distance; a single swap of two adjacent characters counts as one edit. */
function editsBetween(name: string, wanted: string): number {
  const at = [...name].findIndex((letter, index) => letter !== wanted[index]);
  const swapped = name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2);
  return at >= 0 && swapped === wanted ? 1 : distance(name, wanted);
}

/** The only known name that begins with the other, or with which the other begins; null without one. */
function longerName(given: string, known: Iterable<string>): string | null {
  const wanted = given.toLowerCase();
  const alike = [...known].filter((name) => {
    const [short = '', long = ''] = [name.toLowerCase(), wanted].sort((a, b) => a.length - b.length);
    return short.length >= BEGINNING_MIN && long.startsWith(short);
  });
  return alike.length === 1 ? (alike[0] ?? null) : null;
}

/** `Did you mean x? ` with its trailing space, or an empty string. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const nearest = nearestName(given, known) ?? longerName(given, known);
  return nearest === null ? '' : `Did you mean ${nearest}? `;
}

/** Hint for an unknown name: `Did you mean read? Tools: bash, read`. `noun` names the list. */
export function nameHint(given: string, known: readonly string[], noun: string): string {
  return `${didYouMean(given, known)}${noun}: ${known.join(', ') || 'none'}`;
}

/** Error for an unknown name: `no tool called "raed"`, where `what` is the text before the name. */
export function noSuchName(
  code: ErrorCode,
  what: string,
  given: string,
  known: readonly string[],
  noun: string,
): CoppiceError {
  return new CoppiceError(code, `${what} "${given}"`, { hint: nameHint(given, known, noun) });
}
