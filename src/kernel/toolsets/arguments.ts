import * as z from 'zod';
import type { ToolSpec } from '../../records/tool.ts';

/** Maximum problems reported for one call. */
const PROBLEMS_MAX = 8;

/** Validates a model's arguments against the tool's schema; the message names the field. */
export function parseArguments<T>(
  schema: z.ZodType<T>,
  input: unknown,
): { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string } {
  const parsed = schema.safeParse(input);
  if (parsed.success) return { ok: true, value: parsed.data };
  const problems = parsed.error.issues.slice(0, PROBLEMS_MAX).map((issue) => {
    const field = issue.path.length === 0 ? 'arguments' : `field "${issue.path.join('.')}"`;
    return `${field}: ${issue.message}`;
  });
  return { ok: false, message: problems.join('; ') };
}

/** The description of a tool for models. Its JSON Schema is generated on first use, because most processes use few of the tools. */
export function specOf(tool: {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
}): ToolSpec {
  const { name, description, schema } = tool;
  let input: ToolSpec['input'] | undefined;
  return {
    name,
    description,
    get input() {
      input ??= inputSchema(schema);
      return input;
    },
  };
}

/** The JSON Schema sent to providers. Without `null` types, which our schemas accept as absent but some providers reject. */
export function inputSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...plain } = withoutNull(z.toJSONSchema(schema, { io: 'input' })) as Record<
    string,
    unknown
  >;
  return plain;
}

function withoutNull(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNull);
  if (typeof schema !== 'object' || schema === null) return schema;
  const plain = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withoutNull(value)]));
  const { anyOf, type, ...rest } = plain;
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null');
    return { ...plain, type: types.length === 1 ? types[0] : types };
  }
  if (!Array.isArray(anyOf)) return plain;
  const said = anyOf.filter((one) => (one as { type?: unknown }).type !== 'null');
  return said.length === 1 ? { ...(said[0] as object), ...rest } : { ...plain, anyOf: said };
}
