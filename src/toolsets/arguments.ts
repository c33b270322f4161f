import { z } from 'zod';

/** Checks what a model wrote against the schema of a tool; the message names the field. */
export function parseArguments<T>(
  schema: z.ZodType<T>,
  input: unknown,
): { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string } {
  const parsed = schema.safeParse(input);
  if (parsed.success) return { ok: true, value: parsed.data };
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.length === 0 ? 'arguments' : `field "${issue.path.join('.')}"`;
    return `${field}: ${issue.message}`;
  });
  return { ok: false, message: problems.join('; ') };
}

/** The plain JSON Schema that providers are sent. */
export function inputSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>;
  return plain;
}
