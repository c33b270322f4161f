import * as z from 'zod';
import type { Agent } from '../../records/agent/agent.ts';
import type { Call } from '../../records/agent/state.ts';
import type { ToolSpec } from '../../records/tool.ts';
import { refuse } from './acts/agent-reference.ts';
import type { Decision, Need, ToolsetTool, ToolsetView } from './toolset.ts';
import type { ToolsetTerms } from './toolset-terms.ts';

/** Maximum time limit of a task in seconds: a day. */
export const MAX_TASK_SECONDS = 86_400;

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

type CheckedTool<T> = Omit<ToolsetTool, 'spec' | 'decode' | 'needs'> & {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<T>;
  readonly decode: (value: T, call: Call, view: ToolsetView) => Decision;
  /** Not called for invalid arguments, which are refused. */
  readonly needs?: (value: T, call: Call, self: Agent, terms: ToolsetTerms) => readonly Need[];
};

/** Makes a tool of a toolset whose `needs` and `decode` see only valid arguments. */
export function checkedTool<T>(tool: CheckedTool<T>): ToolsetTool {
  const { name, description, schema, decode, needs, ...rest } = tool;
  return {
    ...rest,
    spec: specOf({ name, description, schema }),
    needs(input, call, self, terms) {
      const parsed = needs === undefined ? null : schema.safeParse(input);
      return parsed?.success === true ? (needs?.(parsed.data, call, self, terms) ?? []) : [];
    },
    decode(input, call, view) {
      const parsed = parseArguments(schema, input);
      return parsed.ok ? decode(parsed.value, call, view) : refuse('INVALID_ARG', parsed.message);
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
