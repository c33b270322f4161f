import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  type Client,
  type ElicitResult,
  isInputRequiredResult,
} from '@modelcontextprotocol/client';
import { isJsonObject } from '../../../records/text/json-text.ts';
import { clean } from '../../../render/clean.ts';
import { McpError } from '../mcp-error.ts';

/** Maximum times that one call may ask for input. */
const ROUNDS_MAX = 20;
/** Delay before a call is repeated for which the server requested no input. */
const PAUSE_MS = 500;

type Params = Parameters<Client['callTool']>[0];
type Options = NonNullable<Parameters<Client['callTool']>[1]>;

/**
 * Makes a call of version 2026-07-28: the server answers with requests for input, and is called again with the responses and its own state until it has a
 * result. It does not begin before it has all input, so nothing is done twice.
 */
export async function callInRounds(
  client: Client,
  params: Params,
  options: Options & { readonly signal: AbortSignal },
  elicit: (params: unknown) => Promise<ElicitResult>,
): Promise<CallToolResult> {
  let given: object = {};
  for (let round = 1; ; round += 1) {
    const answer: unknown = await client.callTool(
      { ...params, ...given },
      { ...options, allowInputRequired: true },
    );
    if (!isInputRequiredResult(answer)) return answer as CallToolResult;
    if (round > ROUNDS_MAX) throw new McpError(`requested input more than ${ROUNDS_MAX} times`);
    const { inputRequests = {}, requestState } = answer as {
      readonly inputRequests?: Readonly<Record<string, unknown>>;
      readonly requestState?: string;
    };
    const responses: Record<string, ElicitResult> = {};
    // One after the other, because a person answers them.
    for (const [key, request] of Object.entries(inputRequests)) {
      const method = isJsonObject(request) ? request.method : undefined;
      if (!isJsonObject(request) || method !== 'elicitation/create')
        throw new McpError(`asked for ${clean(String(method)).slice(0, 100)}, which is not supported`);
      responses[key] = await elicit(request.params);
    }
    const keys = Object.keys(responses).length;
    if (keys === 0) await sleep(PAUSE_MS, undefined, { signal: options.signal }).catch(() => undefined);
    given = {
      ...(keys > 0 && { inputResponses: responses }),
      ...(requestState !== undefined && { requestState }),
    };
  }
}
