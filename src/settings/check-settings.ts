import * as z from 'zod';
import { CoppiceError } from '../records/coppice-error.ts';
import { jsonType } from '../records/text/json-text.ts';
import { nameHint } from '../render/nearest-name.ts';

/** Returns the value, validated by the schema; `where` follows the key in messages (`in FILE`). Throws `E_CONFIG`, with a suggestion for a misspelt key. */
export function checkSettings<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // A misspelt key also makes the right one missing: report the cause.
  const issue =
    parsed.error.issues.find(({ code }) => code === 'unrecognized_keys') ?? parsed.error.issues[0];
  const path = issue?.path.join('.') ?? '';
  if (issue?.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const full = path === '' ? key : `${path}.${key}`;
    const valid = validKeys(schema, issue.path.map(String));
    throw new CoppiceError('E_CONFIG', `unknown key "${full}" ${where}`, {
      hint: nameHint(key, valid, 'Valid here'),
    });
  }
  const place = path === '' ? 'the configuration' : path;
  if (issue !== undefined && path !== '' && valueAt(value, issue.path) === undefined)
    throw new CoppiceError('E_CONFIG', `${place} ${where}: this key is missing`, {
      hint: `${issue.path.slice(0, -1).join('.')} needs "${String(issue.path.at(-1))}": ${expected(issue)}`,
    });
  const inner = issue?.code === 'invalid_key' ? issue.issues[0] : undefined;
  const hint =
    issue?.code === 'invalid_value'
      ? { hint: nameHint(String(valueAt(value, issue.path)), issue.values.map(String), 'Valid here') }
      : {};
  const found = valueAt(value, issue?.path ?? []);
  const said =
    issue !== undefined && isWrongType(issue)
      ? `${expected(issue)} is expected, and this is ${NAMED[jsonType(found)] ?? String(found)}`
      : (inner ?? issue)?.message;
  throw new CoppiceError('E_CONFIG', `${place} ${where}: ${said}`, hint);
}

/** A value of another type, of which the schema says nothing of its own. */
function isWrongType(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueInvalidType {
  return issue.code === 'invalid_type' && issue.message.startsWith('Invalid');
}

const NAMED: Readonly<Record<string, string>> = {
  array: 'a list ([…])',
  int: 'a whole number',
  object: 'an object ({…})',
  record: 'an object ({…})',
  string: 'a string',
};

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);
}

/** Describes the expected value: `a string`, or what the schema says with `must be …`. */
function expected(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value')
    return `one of ${issue.values.map((one) => `"${String(one)}"`).join(', ')}`;
  if (isWrongType(issue)) return NAMED[issue.expected] ?? `a ${issue.expected}`;
  return issue.message.replace(/^must be /, '');
}

function validKeys(whole: z.ZodType, path: readonly string[]): readonly string[] {
  let schema = whole;
  for (const step of path) schema = into(unwrapped(schema), step);
  const at = unwrapped(schema);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function into(schema: z.ZodType, step: string): z.ZodType {
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  if (schema instanceof z.ZodObject) {
    return (schema.shape[step] ?? schema.def.catchall ?? z.never()) as z.ZodType;
  }
  return schema;
}

function unwrapped(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrapped(schema.unwrap() as z.ZodType)
    : schema;
}
