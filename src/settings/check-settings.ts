import { inspect } from 'node:util';
import * as z from 'zod';
import { CoppiceError } from '../records/coppice-error.ts';
import { isJsonObject, jsonType } from '../records/text/json-text.ts';
import { didYouMean, nameHint, noSuchName } from '../render/nearest-name.ts';

/** Returns the value, validated by the schema; `where` follows the key in messages (`in FILE`). Throws `E_CONFIG`, with a suggestion for a misspelt key. */
export function checkSettings<T>(
  schema: z.ZodType<T>,
  value: unknown,
  where: string,
  whole = `the configuration ${where}`,
): T {
  const read = readSettings(schema, value, where, whole);
  if ('data' in read) return read.data;
  const { message, ...hint } = read;
  throw new CoppiceError('E_CONFIG', message, hint);
}

/** The value, or what is wrong with it in words of people; `whole` names what has no key. */
export function readSettings<T>(
  schema: z.ZodType<T>,
  value: unknown,
  where: string,
  whole: string,
): { readonly data: T } | { readonly message: string; readonly hint?: string } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { data: parsed.data };
  // A misspelt key also makes the right one missing: report the cause.
  const issue =
    parsed.error.issues.find(({ code }) => code === 'unrecognized_keys') ?? parsed.error.issues[0];
  const path = issue?.path.join('.') ?? '';
  if (issue?.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const full = path === '' ? key : `${path}.${key}`;
    const valid = validKeys(schema, issue.path.map(String));
    return { message: `unknown key "${full}" ${where}`, hint: nameHint(key, valid, 'Valid here') };
  }
  const found = valueAt(value, issue?.path ?? []);
  const place = path === '' ? whole : `${path} ${where}`;
  if (issue !== undefined && path !== '' && found === undefined) {
    const outer = issue.path.slice(0, -1).join('.') || whole;
    const hint = `${outer} needs "${String(issue.path.at(-1))}": ${expected(issue)}`;
    return { message: `${place}: this key is missing`, hint };
  }
  if (issue?.code === 'invalid_value') {
    const shown = typeof found === 'string' ? JSON.stringify(found) : inspect(found, { depth: 0 });
    const message = `${place}: ${shown} is not ${expected(issue)}`;
    const hint = didYouMean(String(found), issue.values.map(String)).trim();
    return { message, ...(hint !== '' && { hint }) };
  }
  const inner = issue?.code === 'invalid_key' ? issue.issues[0] : undefined;
  const said =
    issue !== undefined && isWrongType(issue)
      ? `${expected(issue)} is expected, and this is ${shownValue(found)}`
      : (sizeNeeded(issue) ?? (inner ?? issue)?.message);
  return { message: `${place}: ${said}` };
}

/** What a number, a text or a list that is too small or too large must be: `must be at least 1`; undefined where the schema says it in its own words. */
function sizeNeeded(issue: z.core.$ZodIssue | undefined): string | undefined {
  if ((issue?.code !== 'too_small' && issue?.code !== 'too_big') || !issue.message.startsWith('Too ')) return;
  const [bound, edge] = issue.code === 'too_small' ? [issue.minimum, 'at least'] : [issue.maximum, 'at most'];
  if (issue.origin === 'string') return `must have ${edge} ${bound} characters`;
  if (issue.origin === 'array') return `must have ${edge} ${bound} entries`;
  const beyond = issue.code === 'too_small' ? 'more than' : 'less than';
  return `must be ${issue.inclusive === false ? beyond : edge} ${bound}`;
}

/**
 * Throws for what a program gives `method` as its options and cannot mean: no object (`E_INVALID_ARGUMENT`), an option that there is not, a value of another
 * kind (`E_CONFIG`).
 */
export function checkGiven(
  schema: z.ZodObject,
  given: unknown,
  method: string,
  known: readonly string[] = Object.keys(schema.shape),
): void {
  if (!isJsonObject(given) || given instanceof Promise)
    throw new CoppiceError('E_INVALID_ARGUMENT', `${method}: ${shownValue(given)} is given as options`, {
      hint: `Options: ${known.join(', ')}`,
    });
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  const unknown = said.find(([name]) => !known.includes(name));
  if (unknown !== undefined)
    throw noSuchName('E_CONFIG', `${method} has no option`, unknown[0], known, 'Options');
  checkSettings<unknown>(schema, Object.fromEntries(said), `of ${method}`, method);
}

/** A value of another type, of which the schema says nothing of its own. */
function isWrongType(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueInvalidType {
  return issue.code === 'invalid_type' && issue.message.startsWith('Invalid');
}

function shownValue(found: unknown): string {
  if (found instanceof Promise) return 'a promise: await it';
  const is_plain = !isJsonObject(found) || z.core.util.isPlainObject(found);
  return (is_plain && NAMED[jsonType(found)]) || inspect(found, { depth: 0 });
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
