import { keepNewest } from '../../records/kept-in.ts';
import { parseJson } from '../../records/text/json-text.ts';
import { type CompiledSchema, compileSchema } from './json-schema/compile-schema.ts';
import { TooCostly, Walk } from './json-schema/walk.ts';

type Schema = Readonly<Record<string, unknown>>;
type Read =
  | { readonly ok: true; readonly schema: CompiledSchema }
  | { readonly ok: false; readonly fault: string };

/** Maximum total weight of the distinct schemas of one call; the same as for a single schema. */
const CALL_WEIGHT_MAX = 5_000;

/** Cache of compiled schemas by text, since the tasks of one call mostly share one. Least recently used first. */
const known = new Map<string, Read>();
const KNOWN_MAX = 64;

/** Whether the call contains schemas, which take time to compile. */
export function bringsSchema(input: unknown): boolean {
  const brings = (one: unknown) => typeof one === 'object' && one !== null && 'output_schema' in one;
  const tasks = (input as { readonly tasks?: unknown } | null)?.tasks;
  return brings(input) || (Array.isArray(tasks) && tasks.some(brings));
}

/** Why a JSON Schema cannot be used, or what in it no result could match; null if it can. Never throws. */
export function schemaFault(schema: Schema): string | null {
  const found = readSchema(schema);
  return found.ok ? found.schema.contradiction : found.fault;
}

/** Why the schemas of one call are too large in total; null if they are not (`schemaFault` checks each of them). Never throws. */
export function schemasFault(schemas: Iterable<Schema>): string | null {
  const seen = new Set<Read>();
  let weight = 0;
  for (const schema of schemas) {
    const found = readSchema(schema);
    if (!found.ok) return null;
    if (!seen.has(found)) weight += found.schema.weight;
    seen.add(found);
    if (weight > CALL_WEIGHT_MAX)
      return 'the different output schemas of this call are too large together: give fewer, or simpler ones';
  }
  return null;
}

/** Why a result does not match its schema, as a sentence for its model; null if it matches. Never throws. */
export function resultFault(schema: Schema, result: string): string | null {
  const parsed = parseJson(result);
  if (!parsed.ok)
    return `the result must be JSON that matches the schema of the task, but it cannot be parsed: ${parsed.error}`;
  const found = readSchema(schema);
  // Only for a task from an older version, which accepted the schema.
  if (!found.ok)
    return `the schema of the task cannot be used (${found.fault}): call submit_error and put your result there`;
  const walk = new Walk();
  try {
    walk.apply(found.schema.checks, parsed.value, '');
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error;
    return `the result is too large to be checked against the schema of the task (${error.message}): make it shorter`;
  }
  return walk.faults.length === 0
    ? null
    : `the result does not match the schema of the task: ${walk.faults.join('; ')}`;
}

function readSchema(schema: Schema): Read {
  try {
    const text = JSON.stringify(schema);
    const found = known.get(text) ?? compiled(schema);
    keepNewest(known, text, found, KNOWN_MAX);
    return found;
  } catch {
    return { ok: false, fault: 'it is nested too deeply' };
  }
}

function compiled(schema: Schema): Read {
  try {
    return { ok: true, schema: compileSchema(schema) };
  } catch (error) {
    return { ok: false, fault: error instanceof Error ? error.message : String(error) };
  }
}
