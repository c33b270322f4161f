import { schemaFault } from '../kernel/toolsets/output-schema.ts';
import type { Failure } from '../records/agent/failure.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { outcomeWithText } from '../records/run/outcome.ts';
import { parseJson } from '../records/text/json-text.ts';
import type { TreeOutcome } from '../runtime/runtime-face.ts';

type Validated<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly unknown[] | undefined;
      }[];
    };

/** A schema of zod, or of another library that follows the Standard Schema and can say it as a JSON Schema. */
export interface TypedSchema<Value> {
  readonly '~standard': {
    readonly validate: (value: unknown) => Validated<Value> | Promise<Validated<Value>>;
    readonly jsonSchema?: { readonly input: (options: { target: 'draft-2020-12' }) => object };
  };
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** The form of a result: a typed schema, or a plain JSON Schema. */
export type OutputSchema<Value> = TypedSchema<Value> | JsonSchema;

/** How an agent ended, and what it brought. `output` is null without a schema. */
export type AgentOutcome<Value> = Omit<TreeOutcome, 'failure'> &
  ({ readonly failure: null; readonly output: Value } | { readonly failure: Failure; readonly output: null });

/** The schema as models are told it. Throws `E_INVALID_ARGUMENT` for one that cannot be used. */
export function jsonSchemaOf(schema: OutputSchema<unknown>, method: string): JsonSchema {
  const refused = (why: string) =>
    new CoppiceError('E_INVALID_ARGUMENT', `${method}: output cannot be used: ${why}`, {
      hint: 'Give a zod schema such as z.object({ … }), or a JSON Schema',
    });
  if (typeof schema !== 'object' || schema === null) throw refused('it is no schema');
  try {
    const { $schema: _, ...json } = plainSchema(schema) as Record<string, unknown>;
    const fault = schemaFault(json);
    if (fault === null) return json;
    throw new Error(fault);
  } catch (error) {
    throw refused((error as Error).message);
  }
}

function plainSchema(schema: OutputSchema<unknown>): object {
  if (!isTyped(schema)) return schema;
  const { jsonSchema } = schema['~standard'];
  if (jsonSchema === undefined) throw new Error('its library does not say it as a JSON Schema');
  return jsonSchema.input({ target: 'draft-2020-12' });
}

function isTyped(schema: OutputSchema<unknown>): schema is TypedSchema<unknown> {
  return '~standard' in schema;
}

/** Reads what an agent has submitted. `schema`: as the program has it; it may say more than its JSON Schema, which was checked when it was submitted. */
export async function withOutput<Value>(
  settled: TreeOutcome,
  owes: boolean,
  schema?: OutputSchema<Value>,
): Promise<AgentOutcome<Value>> {
  const { root, failure } = settled;
  if (failure !== null) return { ...settled, failure, output: null };
  if (!owes) return { ...settled, failure, output: null as Value };
  if (root.state.type !== 'completed') return withoutResult(settled, 'it rests, and has submitted no result');
  const { result } = root.state;
  const parsed = parseJson(result);
  if (!parsed.ok) return withoutResult(settled, `the result is no JSON: ${parsed.error}`);
  const { value } = parsed;
  const read: Validated<unknown> =
    schema !== undefined && isTyped(schema) ? await schema['~standard'].validate(value) : { value };
  if (read.issues === undefined)
    return { ...settled, reply: result, failure: null, output: read.value as Value };
  const [issue] = read.issues;
  const place = issue?.path?.map((key) => (key as { key?: unknown }).key ?? key).join('.') ?? '';
  return withoutResult(
    settled,
    `the result does not fit: ${place === '' ? '' : `${place}: `}${issue?.message}`,
  );
}

function withoutResult<Value>(settled: TreeOutcome, error: string): AgentOutcome<Value> {
  const failure = { kind: 'no_result', error, retryable: false } as const;
  return { ...settled, ...outcomeWithText('failed', `no_result: ${error}`), failure, output: null };
}
