import { orElse } from '../../../records/coppice-error.ts';
import { keptIn } from '../../../records/kept-in.ts';
import { type CompiledSchema, compileSchema } from './compile-schema.ts';
import { TooCostly, Walk } from './walk.ts';

type Schema = Readonly<Record<string, unknown>>;

const compiled = new WeakMap<Schema, CompiledSchema | null>();

/** Tells a model where its arguments do not match the schema of a tool; null if they match, or if the check is left to the server. Never throws. */
export function argumentsFault(schema: Schema, input: unknown): string | null {
  // Null: the schema is unsupported, or too costly to check.
  const found = keptIn(compiled, schema, () => orElse(() => compileSchema(schema), null));
  if (found === null) return null;
  const walk = new Walk();
  try {
    walk.apply(found.checks, input, '');
  } catch (error) {
    if (error instanceof TooCostly) return null;
    throw error;
  }
  return walk.faults.length === 0
    ? null
    : walk.faults.map((fault) => fault.replace(/^the result /, 'the arguments ')).join('\n');
}
