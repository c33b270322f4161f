import { APICallError } from '@ai-sdk/provider';
import type { ToolSpec } from '../../records/tool.ts';

/** Where Google, Anthropic and OpenAI say which tool they refuse: its place in the list. */
const PLACE = /\b(?:function_?declarations?|tools(?!\[\d+\]\.function_?declarations?))(?:\[|\.)(\d+)/i;

/** The tool because of which a provider refused a request; undefined if its error names none by its name, in quotes, or by its place. */
export function refusedTool(error: unknown, tools: readonly ToolSpec[]): ToolSpec | undefined {
  if (!APICallError.isInstance(error) || (error.statusCode !== 400 && error.statusCode !== 422))
    return undefined;
  const said = `${error.message} ${error.responseBody ?? ''}`;
  const quoted = new Set(said.match(/(?<=["'`])[\w-]{1,64}(?=\\?(?:['`]|"(?!\s*:)))/g));
  const place = PLACE.exec(said)?.[1];
  return (
    tools.find(({ name }) => quoted.has(name) && /tool|function|schema/i.test(said)) ??
    (place === undefined ? undefined : tools[Number(place)])
  );
}
