import { APICallError } from '@ai-sdk/provider';
import type { ToolSpec } from '../../records/tool.ts';

/** Where Google, Anthropic and OpenAI say which tool they refuse: its place in the list. */
const PLACE = /\b(?:function_?declarations?|tools(?!\[\d+\]\.function_?declarations?))(?:\[|\.)(\d+)/i;

const REFUSALS: readonly unknown[] = [400, 422];
/** Gateways, and errors in a stream without a code, call a refusal a fault of the server. */
const FAULTS: readonly unknown[] = [500, 502];
const FAULTY = /invalid|schema|too long|missing/i;

/** The tool because of which a provider refused a request; undefined if its error names none by its name, in quotes, or by its place. */
export function refusedTool(error: unknown, tools: readonly ToolSpec[]): ToolSpec | undefined {
  if (!APICallError.isInstance(error)) return undefined;
  const said = `${error.message} ${error.responseBody ?? ''}`;
  if (!REFUSALS.includes(error.statusCode) && !(FAULTS.includes(error.statusCode) && FAULTY.test(said)))
    return undefined;
  const quoted = new Set(said.match(/(?<=["'`])[\w-]{1,64}(?=\\?(?:['`]|"(?!\s*:)))/g));
  const place = PLACE.exec(said)?.[1];
  return (
    tools.find(({ name }) => quoted.has(name) && /tool|function|schema/i.test(said)) ??
    (place === undefined ? undefined : tools[Number(place)])
  );
}
