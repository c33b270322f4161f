/** What of an issue of zod is read here. */
interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
  readonly expected?: string;
}

const issues_shown = 5;

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (value === null || typeof value !== 'object') return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function explain(issue: Issue, fields: readonly string[], input: unknown): string {
  const field = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const unknown = (issue.keys ?? [])
      .map((key) => `field "${field === '' ? key : `${field}.${key}`}"`)
      .join(', ');
    const known = field === '' ? `; the fields are: ${fields.join(', ') || '(none)'}` : '';
    return `${unknown}: not known${known}`;
  }
  const value = valueAt(input, issue.path);
  const where = field === '' ? 'the input' : `field "${field}"`;
  if (value === undefined && field !== '' && /^invalid_(type|union)$/.test(issue.code ?? ''))
    return `${where}: missing (expected ${issue.expected ?? 'a value'})`;
  if (issue.code === 'invalid_type') {
    return `${where}: expected ${issue.expected}, received ${typeName(value)}`;
  }
  return `${where}: ${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`;
}

/** Describes what is wrong with a tool's input, one line per field, for the model: `field "timeout": expected number, received string`. */
export function explainIssues(issues: readonly Issue[], fields: readonly string[], input: unknown): string {
  const lines = issues.slice(0, issues_shown).map((issue) => explain(issue, fields, input));
  if (issues.length > issues_shown) lines.push(`and ${issues.length - issues_shown} more`);
  return lines.join('\n');
}
