import { cutText } from '../records/text/cut-text.ts';
import { clean } from '../render/clean.ts';
import { nearestName } from '../render/nearest-name.ts';

const LISTED = 10;
const SHOWN = 80;

/** The error for a name that is not configured: `there is no webhook "opz"; did you mean "ops"? Configured: ops, crm`. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const wanted = cutText(clean(name), SHOWN);
  const none = `there is no ${kind} ${JSON.stringify(wanted)}`;
  if (known.length === 0) return `${none}, and none is configured`;
  const nearest = nearestName(wanted, known);
  const more = known.length > LISTED ? ` and ${known.length - LISTED} more` : '';
  return `${none}${nearest !== null ? `; did you mean "${nearest}"?` : '.'} Configured: ${known.slice(0, LISTED).join(', ')}${more}`;
}
