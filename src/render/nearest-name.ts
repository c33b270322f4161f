import { distance } from 'fastest-levenshtein';

/** Nobody meant a name by a longer text, and a comparison takes the product of two lengths. */
const LENGTH_MAX = 200;

/** The name that was probably meant; null when none is so near (`most` letters away). Case does not count. */
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
    const away = lettersAway(name.toLowerCase(), wanted);
    if (away < nearest) [best, nearest] = [name, away];
  }
  return best;
}

/** Two neighbours that changed places are one slip. */
function lettersAway(name: string, wanted: string): number {
  const at = [...name].findIndex((letter, index) => letter !== wanted[index]);
  const swapped = name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2);
  return at >= 0 && swapped === wanted ? 1 : distance(name, wanted);
}

/** `Did you mean x? `, with the blank behind it, or nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const nearest = nearestName(given, known);
  return nearest === null ? '' : `Did you mean ${nearest}? `;
}
