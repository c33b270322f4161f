import { jsonType } from './json-text.ts';

/** What of an issue of zod is read here. */
interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
  readonly expected?: string;
}

const ISSUES_SHOWN = 5;

function explain(
  { code = '', path, message, keys = [], expected = 'a value' }: Issue,
  input: unknown,
): string {
  const nameOf = (place: readonly PropertyKey[]) => `field "${place.map(String).join('.')}"`;
  if (code === 'unrecognized_keys')
    return `${keys.map((key) => nameOf([...path, key])).join(', ')}: not known`;
  const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null)?.[key], input);
  const where = path.length === 0 ? 'the input' : nameOf(path);
  if (value === undefined && path.length > 0 && /^invalid_(type|union)$/.test(code))
    return `${where}: missing (expected ${expected})`;
  if (code === 'invalid_type') return `${where}: expected ${expected}, received ${jsonType(value)}`;
  return `${where}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** Describes what is wrong with a tool's input, one line per field, for the model: `field "timeout": expected number, received string`. */
export function explainIssues(issues: readonly Issue[], input: unknown): string {
  const lines = issues.slice(0, ISSUES_SHOWN).map((issue) => explain(issue, input));
  if (issues.length > ISSUES_SHOWN) lines.push(`and ${issues.length - ISSUES_SHOWN} more`);
  return lines.join('\n');
}
