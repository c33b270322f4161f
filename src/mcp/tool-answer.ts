import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { errorJson } from '../documents/error-json.ts';

/** The answer of a tool: JSON as text and, unless it is an error, as an object that `outputOf` describes. */
export interface ToolAnswer {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

export function textResult(value: object): ToolAnswer {
  // Only `send` answers a list: for several receivers.
  const structuredContent = Array.isArray(value) ? { sent: value } : { ...value };
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent };
}

export function errorResult(text: string): ToolAnswer {
  return { content: [{ type: 'text', text }], isError: true };
}

export function refused(code: string, message: string, hint: string | null = null): ToolAnswer {
  return errorResult(JSON.stringify({ error: { code, message, ...(hint === null ? {} : { hint }) } }));
}

/** The answer to a call that is in the ledger and that nobody has carried out in time. */
export function notCarriedOut(): ToolAnswer {
  return refused(
    'NOT_AVAILABLE',
    'the call was recorded, but not carried out in time: it waits for an approval, or no process leads your agent',
    'It is carried out later: do not repeat it; list_agents and wait show what came of it.',
  );
}

/** An error of the protocol for what a client gave. */
export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Converts an error to a result, which the client's model can read and act on. */
export function failed(error: unknown): ToolAnswer {
  const { code, message, hint } = errorJson(error);
  return refused(code.replace(/^E_/, ''), message, hint);
}
