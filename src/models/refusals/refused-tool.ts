import { APICallError } from '@ai-sdk/provider';
import type { ToolSpec } from '../../records/tool.ts';

/** Where Google, Anthropic and OpenAI say which tool they refuse: its place in the list. */
const PLACE = /\b(?:function_?declarations?|tools(?!\[\d+\]\.function_?declarations?))(?:\[|\.)(\d+)/i;

/** Gateways, and errors in a stream without a code, call a refusal a fault of the server. */
const FAULTY = /invalid|schema|too long|missing/i;

/** The tool because of which a provider refused a request; undefined if its error names none by its name, in quotes, or by its place. */
export function refusedTool(error: unknown, tools: readonly ToolSpec[]): ToolSpec | undefined {
  if (!APICallError.isInstance(error)) return undefined;
  const said = `${error.message} ${error.responseBody ?? ''}`;
  const { statusCode: status = 0 } = error;
  if (status !== 400 && status !== 422 && !([500, 502].includes(status) && FAULTY.test(said)))
    return undefined;
  const quoted = new Set(said.match(/(?<=["'`])[\w-]{1,64}(?=\\?(?:['`]|"(?!\s*:)))/g));
  const place = PLACE.exec(said)?.[1];
  return (
    tools.find(({ name }) => quoted.has(name) && /tool|function|schema/i.test(said)) ??
    (place === undefined ? undefined : tools[Number(place)])
  );
}
