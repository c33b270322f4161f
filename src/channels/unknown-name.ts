import { distance } from 'fastest-levenshtein';
import { clean } from '../render/clean.ts';

const LISTED = 10;
const SHOWN = 80;

/** One sentence on a name that nothing is configured under: `there is no webhook "opz"; did you mean "ops"? Configured: ops, crm`. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const wanted = clean(name).slice(0, SHOWN).toWellFormed();
  const none = `there is no ${kind} ${JSON.stringify(wanted)}`;
  if (known.length === 0) return `${none}, and none is configured`;
  const [nearest = ''] = [...known].sort((a, b) => distance(a, wanted) - distance(b, wanted));
  const meant = distance(nearest, wanted) <= Math.max(2, nearest.length / 3);
  const more = known.length > LISTED ? ` and ${known.length - LISTED} more` : '';
  return `${none}${meant ? `; did you mean "${nearest}"?` : '.'} Configured: ${known.slice(0, LISTED).join(', ')}${more}`;
}
