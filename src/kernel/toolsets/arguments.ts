import * as z from 'zod';
import type { ToolSpec } from '../../records/tool.ts';

/** Of what is wrong with a call, so much is told. */
const PROBLEMS_MAX = 8;

/** Checks what a model wrote against the schema of a tool; the message names the field. */
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

/** What a model is told of a tool. Its schema is made when it is first read: most processes use few of the tools that there are. */
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

/** The plain JSON Schema that providers are sent. That null counts as left out is no part of it: not every provider takes such a union. */
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
