import * as z from 'zod';
import type { Agent } from '../../records/agent/agent.ts';
import type { Call } from '../../records/agent/state.ts';
import { plainSchema } from '../../records/plain-schema.ts';
import { explainIssues } from '../../records/text/explain-issues.ts';
import type { ToolSpec } from '../../records/tool.ts';
import { argumentsError } from '../reading/call-errors.ts';
import { readArguments } from '../reading/read-arguments.ts';
import { refuse } from './acts/agent-reference.ts';
import type { Decision, Need, ToolsetTool, ToolsetView } from './toolset.ts';
import type { ToolsetTerms } from './toolset-terms.ts';

/** Maximum time limit of a task in seconds: a day. */
export const MAX_TASK_SECONDS = 86_400;

/** Validates arguments against the tool's schema; the message names the field, and shows a right call of the tool `spec`. */
export function parseArguments<T>(
  schema: z.ZodType<T>,
  input: unknown,
  spec?: ToolSpec,
): { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string } {
  const parsed = schema.safeParse(input);
  if (parsed.success) return { ok: true, value: parsed.data };
  const fault = explainIssues(parsed.error.issues, input);
  return { ok: false, message: spec === undefined ? fault : argumentsError(spec, fault, input) };
}

/** As `parseArguments`, for a tool of Coppice whose calls pass no model's reader: what does not fit is read as it is meant. */
export function parseMeant<T>(
  name: string,
  schema: z.ZodType<T>,
  written: unknown,
): ReturnType<typeof parseArguments<T>> {
  const fitting = parseArguments(schema, written);
  if (fitting.ok) return fitting;
  const spec = { name, description: '', input: inputSchema(schema) };
  return parseArguments(schema, readArguments({ ...spec, own: true }, written).input, spec);
}

type CheckedTool<T> = Omit<ToolsetTool, 'spec' | 'fits' | 'decode' | 'needs'> & {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<T>;
  /** What models are shown instead of `schema`. */
  readonly sent?: z.ZodType;
  readonly decode: (value: T, call: Call, view: ToolsetView) => Decision;
  /** Not called for invalid arguments, which are refused. */
  readonly needs?: (value: T, call: Call, self: Agent, terms: ToolsetTerms) => readonly Need[];
};

/** Makes a tool of a toolset whose `needs` and `decode` see only valid arguments. */
export function checkedTool<T>(tool: CheckedTool<T>): ToolsetTool {
  const { name, description, schema, sent = schema, decode, needs, ...rest } = tool;
  // The JSON Schema is made on first use, because most processes use few of the tools.
  let sent_input: ToolSpec['input'] | undefined;
  const spec: ToolSpec = {
    name,
    description,
    get input() {
      sent_input ??= inputSchema(sent);
      return sent_input;
    },
  };
  return {
    ...rest,
    spec,
    fits: (input) => schema.safeParse(input).success,
    needs(input, call, self, terms) {
      const parsed = needs === undefined ? null : schema.safeParse(input);
      return parsed?.success === true ? (needs?.(parsed.data, call, self, terms) ?? []) : [];
    },
    decode(input, call, view) {
      const parsed = parseArguments(schema, input, view.sent(spec));
      return parsed.ok ? decode(parsed.value, call, view) : refuse('INVALID_ARG', parsed.message);
    },
  };
}

/** The JSON Schema sent to providers. */
export function inputSchema(schema: z.ZodType): Record<string, unknown> {
  return plainSchema(z.toJSONSchema(schema, { io: 'input' }));
}
