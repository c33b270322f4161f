import { errorJson } from '../documents/error-json.ts';
import type { ResultContent } from '../records/conversation/message.ts';

/** What a tool answers: JSON as text. */
export interface ToolAnswer {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly isError?: true;
}

export function textResult(value: object): ToolAnswer {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}

export function errorResult(text: string): ToolAnswer {
  return { content: [{ type: 'text', text }], isError: true };
}

export function refused(code: string, message: string, hint: string | null = null): ToolAnswer {
  return errorResult(JSON.stringify({ error: { code, message, ...(hint === null ? {} : { hint }) } }));
}

/** An error as a result, which models read and mend. */
export function failed(error: unknown): ToolAnswer {
  const { code, message, hint } = errorJson(error);
  return refused(code, message, hint);
}

/** The agents that a call created. */
export function idsOf({ output }: ResultContent): readonly string[] {
  return (JSON.parse(output) as { agents: readonly { agent_id: string }[] }).agents.map(
    ({ agent_id }) => agent_id,
  );
}
