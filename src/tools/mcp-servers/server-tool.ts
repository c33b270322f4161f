import { toolPermission } from '../../permissions/tool-permission.ts';
import { quoteStamps } from '../../records/text/untrusted-text.ts';
import type { Tool, ToolContext, ToolResult } from '../../records/tool.ts';
import { orAbandoned } from '../define-tool.ts';
import { type AskPerson, notAnswered } from './asking/elicitation.ts';
import { toolResultOfCall } from './call-result.ts';
import type { ListedTool } from './listed-tool.ts';
import { McpError } from './mcp-error.ts';
import type { McpServer } from './mcp-server.ts';
import { nameForModels } from './server-names.ts';
import { withServerNames } from './tool-schema.ts';

type Input = Record<string, unknown>;

export type ArgumentsFault = (schema: Readonly<Record<string, unknown>>, input: unknown) => string | null;

/** Text that is appended to a result for this agent, for example about changed tools; null for none. */
export type ResultNote = (agent_id: string) => string | null;

/** A server's tool as a `Tool`. By default a person is asked; a call is never repeated after a crash. */
export function serverToolOf(
  server: McpServer,
  listed: ListedTool,
  argumentsFault: ArgumentsFault,
  afterword: ResultNote,
): Tool<Input> {
  const name = nameForModels(server.name, listed.name);
  // The description that a model was given stays; arguments are checked against the server's present schema.
  const now = () => server.listed.find((one) => one.name === listed.name) ?? listed;
  return {
    spec: { name, description: listed.description, input: listed.input },
    permission: toolPermission(name),
    side_by_side: listed.reads_only,
    idempotent: false,
    parse(input) {
      if (typeof input !== 'object' || input === null || Array.isArray(input))
        return { ok: false, error: 'the arguments must be an object' };
      const fault = argumentsFault(now().input, input);
      return fault === null
        ? { ok: true, input: withServerNames(now(), input) as Input }
        : { ok: false, error: fault };
    },
    subject: (input) => JSON.stringify(input),
    async run(input, context) {
      const { asking, told } = witnessed(context);
      const own = server.for(context.agent.id);
      const result = await orAbandoned(run(own, now(), input, asking), context.signal);
      for (const refusal of own.takeRefusals()) context.notice?.(refusal);
      const changes = context.signal.aborted ? null : afterword(context.agent.id);
      const said = [...told, ...(changes === null ? [] : [changes])].map((one) => `\n[Coppice] ${one}`);
      return said.length === 0
        ? result
        : { ...result, output: `${quoteStamps(result.output)}${said.join('')}` };
    },
  };
}

/** The same context, and notes about the questions that were not answered. */
function witnessed(context: ToolContext): { readonly asking: ToolContext; readonly told: readonly string[] } {
  const { question: ask } = context;
  if (ask === undefined) return { asking: context, told: [] };
  const told: string[] = [];
  const question: AskPerson = async (asked, signal) => {
    const answer = await ask(asked, signal);
    const said = notAnswered(asked, answer);
    if (said !== null) told.push(said);
    return answer;
  };
  return { asking: { ...context, question }, told };
}

async function run(
  server: McpServer,
  listed: ListedTool,
  input: Input,
  context: ToolContext,
): Promise<ToolResult> {
  const { signal } = context;
  if (signal.aborted) return { status: 'cancelled', output: 'cancelled before it started' };
  try {
    const { onOutput: onProgress, question: ask, agent } = context;
    const answer = await server.call(listed, input, { signal, onProgress, ask, caller: agent.name });
    return await toolResultOfCall(answer, context);
  } catch (error) {
    if (signal.aborted)
      return { status: 'cancelled', output: `cancelled; the MCP server ${server.name} was told so` };
    const why = error instanceof Error ? error.message : String(error);
    const outcome =
      error instanceof McpError && error.unknown_outcome
        ? '. The outcome of the call is unknown: check before you try again'
        : '';
    return { status: 'error', output: `the MCP server ${server.name} ${why}${outcome}` };
  }
}
