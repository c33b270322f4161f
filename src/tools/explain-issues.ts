import type * as z from 'zod';

type Issue = z.core.$ZodIssue;

const issues_shown = 5;

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at > 0 ? '.' : ''}${String(key)}`))
    .join('');
}

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
  const field = fieldName(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const unknown = issue.keys.map((key) => `field "${field === '' ? key : `${field}.${key}`}"`).join(', ');
    const known = field === '' ? `; the fields are: ${fields.join(', ') || '(none)'}` : '';
    return `${unknown}: not known${known}`;
  }
  const value = valueAt(input, issue.path);
  const where = field === '' ? 'the input' : `field "${field}"`;
  if (issue.code === 'invalid_type') {
    if (value === undefined && field !== '') return `${where}: missing (expected ${issue.expected})`;
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
