import * as z from 'zod';
import { toolPermission } from '../permissions/tool-permission.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { plainSchema } from '../records/plain-schema.ts';
import { explainIssues } from '../records/text/explain-issues.ts';
import type { PathContext, Tool, ToolContext, ToolPermission, ToolResult } from '../records/tool.ts';

/** Maximum length of a result. */
export const RESULT_CHARACTERS = 64 * 1024;
/** How long to wait for a tool that ignores its abort signal before it is abandoned. */
export const ABANDON_MS = 5_000;

/** A JSON Schema of type `object`, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ToolDefinition<Input> {
  /** Letters, digits, `_` and `-`, at most 64: what every provider accepts. */
  readonly name: string;
  readonly description: string;
  /** A zod schema of an object, or a JSON Schema of type `object`. Unknown fields are errors. */
  readonly input: z.ZodType<Input> | JsonSchema;
  /** Whether it may run in parallel with other calls of the same message. Default: false. */
  readonly side_by_side?: boolean;
  /** Whether it may be repeated after a crash. Default: false. */
  readonly idempotent?: boolean;
  /** How permission rules judge its calls. Default: ask, by the text of its subject. */
  readonly permission?: Partial<Omit<ToolPermission, 'name'>>;
  /** One line for people and permission patterns. Default: the input as JSON. */
  readonly subject?: (input: Input, cwd?: string) => string;
  /** The change that a run would make to a file, shown to the person who approves it; an exception counts as null. */
  readonly difference?: (input: Input, context: PathContext) => Promise<string | null> | string | null;
  /** Why a run would fail even if approved; an exception counts as null. */
  readonly refusal?: (input: Input, context: PathContext) => Promise<string | null>;
  /** A string is a result with status `ok`; an exception becomes a result with status `error`. */
  readonly run: (input: Input, context: ToolContext) => Promise<ToolResult | string> | ToolResult | string;
}

export const FUNCTION = z.custom((given) => typeof given === 'function', 'expected a function');
const DEFINITION = z.strictObject({
  name: z.string(),
  description: z.string(),
  input: z.custom((given) => typeof given === 'object' && given !== null, 'expected a schema'),
  run: FUNCTION,
  side_by_side: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  subject: FUNCTION.optional(),
  difference: FUNCTION.optional(),
  refusal: FUNCTION.optional(),
  permission: z
    .strictObject({
      default: z.enum(['allow', 'ask', 'deny']),
      allowed: z.array(z.string()),
      subject: z.enum(['command', 'path', 'folder', 'url', 'text', 'agents', 'script']),
      only_reads: z.boolean(),
      bound_by: z.array(z.string()),
    })
    .partial()
    .optional(),
});

/** A tool as a program may give it. */
export const TOOL = z.custom<Tool>(
  (one) => typeof (one as Tool | null)?.spec?.name === 'string' && typeof (one as Tool).run === 'function',
  'is not a tool: defineTool makes one (of the library, "builtInTools" names the built-in ones)',
);

/** Refuses a definition of a program that no compiler has checked. */
export function checkDefinition(shape: z.ZodType, given: unknown): void {
  const { error } = shape.safeParse(given);
  if (error !== undefined)
    throw unusable(String((given as { name?: unknown } | null)?.name), explainIssues(error.issues, given));
}

function unusable(name: string, why: string): CoppiceError {
  return new CoppiceError('E_INVALID_ARGUMENT', `tool "${name}": ${why}`);
}

function schemaOf<Input>(name: string, input: ToolDefinition<Input>['input']): z.ZodType<Input> {
  // An unknown field is a mistake that the model should be told about.
  if (input instanceof z.ZodObject && input.def.catchall === undefined)
    return input.strict() as unknown as z.ZodType<Input>;
  if (input instanceof z.ZodType) return input;
  const strict = input.additionalProperties === undefined ? { ...input, additionalProperties: false } : input;
  try {
    return z.fromJSONSchema(strict as Parameters<typeof z.fromJSONSchema>[0]) as z.ZodType<Input>;
  } catch (error) {
    throw unusable(name, `its JSON Schema cannot be used: ${(error as Error).message}`);
  }
}

function translated(name: string, schema: z.ZodType): object {
  try {
    return z.toJSONSchema(schema, { io: 'input' });
  } catch (error) {
    throw unusable(name, `its input cannot be a JSON Schema: ${(error as Error).message}`);
  }
}

/** Providers accept only an object with properties, without `$schema`. */
function objectSchema(name: string, input: z.ZodType | JsonSchema, schema: z.ZodType): JsonSchema {
  const source = input instanceof z.ZodType ? translated(name, schema) : input;
  const { $schema: _, ...plain } = source as Record<string, unknown>;
  if (plain.type !== 'object')
    throw unusable(name, `the input must be an object schema, not ${String(plain.type)}`);
  return { properties: {}, required: [], additionalProperties: false, ...plain };
}

/** Abandons a tool that does not react to its signal, so that the turn can end. */
export async function orAbandoned(running: Promise<ToolResult>, signal: AbortSignal): Promise<ToolResult> {
  const { promise, resolve } = Promise.withResolvers<ToolResult>();
  const give_up = () =>
    setTimeout(resolve, ABANDON_MS, {
      status: 'cancelled',
      output: 'cancelled; the tool did not stop in time',
    } as const).unref();
  if (signal.aborted) give_up();
  signal.addEventListener('abort', give_up, { once: true });
  return Promise.race([running, promise]).finally(() => signal.removeEventListener('abort', give_up));
}

function isResult(value: unknown): value is ToolResult {
  const { status, output } = (value ?? {}) as Partial<ToolResult>;
  return typeof output === 'string' && /^(?:ok|error|cancelled)$/.test(String(status));
}

async function runDefinition<Input>(
  definition: ToolDefinition<Input>,
  input: Input,
  context: ToolContext,
): Promise<ToolResult> {
  if (context.signal.aborted) return { status: 'cancelled', output: 'cancelled before it started' };
  try {
    // The type says what it returns, but an untyped program may return anything.
    const result: unknown = await definition.run(input, context);
    if (isResult(result)) return { ...result, output: clampOutput(result.output) };
    const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    return { status: 'ok', output: clampOutput(text) };
  } catch (error) {
    const output = clampOutput(error instanceof Error ? error.message : String(error));
    return context.signal.aborted ? { status: 'cancelled', output } : { status: 'error', output };
  }
}

/**
 * Makes a tool that keeps the contract of `Tool`: its input is validated and errors name the field, `run`
 * never throws, its result is bounded, and it ends after an abort.
 *
 * Throws a `CoppiceError` (`E_INVALID_ARGUMENT`) if the definition itself is wrong.
 */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool<Input> {
  checkDefinition(DEFINITION, definition);
  const tool = defineOwnTool(definition, (schema) => ({ ...schema }));
  void tool.spec.input;
  const { default: verdict, allowed } = definition.permission ?? {};
  return { ...tool, own: false, is_judged: verdict !== undefined || allowed !== undefined };
}

/** Names of a program's own tools that its agents may use without approval, unless a rule says otherwise. */
export function freeTools(tools: readonly Tool[]): string[] {
  return tools.flatMap(({ spec, is_judged }) => (is_judged === true ? [] : spec.name));
}

/** `defineTool` for the tools of Coppice: their schemas are translated at the first request, so that no start waits for it; a wrong one throws then. */
export function defineOwnTool<Input>(definition: ToolDefinition<Input>, sent = plainSchema): Tool<Input> {
  const { name, description } = definition;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw unusable(name, 'a name has 1 to 64 letters, digits, "_" or "-"');
  const schema = schemaOf(name, definition.input);
  let plain: JsonSchema | undefined;
  const spec = {
    name,
    description,
    get input() {
      plain ??= sent(objectSchema(name, definition.input, schema));
      return plain;
    },
  };
  return {
    own: true,
    spec,
    permission: toolPermission(name, definition.permission),
    side_by_side: definition.side_by_side ?? false,
    idempotent: definition.idempotent ?? false,
    parse(input) {
      const parsed = schema.safeParse(input);
      if (parsed.success) return { ok: true, input: parsed.data };
      return { ok: false, error: explainIssues(parsed.error.issues, input) };
    },
    subject: definition.subject ?? ((input) => JSON.stringify(input)),
    difference: (...given) => orNull(() => definition.difference?.(...given)),
    refusal: (...given) => orNull(() => definition.refusal?.(...given)),
    run: (input, context) => orAbandoned(runDefinition(definition, input, context), context.signal),
  };
}

async function orNull(
  work: () => Promise<string | null> | string | null | undefined,
): Promise<string | null> {
  try {
    return (await work()) ?? null;
  } catch {
    return null;
  }
}

/**
 * Limits the text of a result to `RESULT_CHARACTERS`, with a note where the middle was left out, and replaces NUL and
 * lone surrogates, because databases refuse both.
 */
export function clampOutput(text: string): string {
  const clean = text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
  if (clean.length <= RESULT_CHARACTERS) return clean.isWellFormed() ? clean : clean.toWellFormed();
  const half = Math.floor(RESULT_CHARACTERS / 2);
  const left_out = clean.length - 2 * half;
  const cut = `${clean.slice(0, half)}\n[… ${left_out} characters left out …]\n${clean.slice(-half)}`;
  return cut.toWellFormed();
}
