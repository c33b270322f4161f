import * as z from 'zod';
import type { ToolsetTerms } from '../toolset-terms.ts';
import { name, text } from './agent-reference.ts';
import { budgetOption } from './child-budget.ts';
import { taskOptions } from './task-options.ts';

const MAX_TURNS = 1_000;
const description = name('required');

export const spawnInput = z.strictObject({
  task: text('the task').describe('The task/prompt for the subagent to work on'),
  description: description.describe(
    'Short label describing what the subagent will do (e.g. "Researching API endpoints")',
  ),
  maxTurns: z
    .int('must be a whole number')
    .min(0, 'must not be negative')
    .max(MAX_TURNS)
    .transform((turns) => turns || MAX_TURNS)
    .nullish()
    .describe('Maximum turns the subagent can take'),
  systemPrompt: z.string().nullish().describe('Optional system prompt override for the subagent'),
  model: z.string().min(1).nullish().describe('Another model, as provider/model.'),
  ...taskOptions,
});

export const delegateInput = z.strictObject({
  task: text('the task').describe('The task/prompt to delegate'),
  description: description.describe('Short label describing the delegation (e.g. "Summarizing document")'),
  serverName: z.string().min(1).nullish().describe('Target ACP server name (optional)'),
  agentId: z.string().min(1).nullish().describe('Target agent ID (optional)'),
  budget: budgetOption,
});

type Program =
  | { readonly ok: true /** `acp:SERVER` or `acp:SERVER/AGENT`. */; readonly model: string }
  | { readonly ok: false; readonly error: string };

/** Resolves the agent program of a delegation. Models can choose only among the configured servers. */
export function programOf(
  input: Pick<z.infer<typeof delegateInput>, 'serverName' | 'agentId'>,
  { delegation }: Pick<ToolsetTerms, 'delegation'>,
): Program {
  const { default_server, default_agent } = delegation;
  const servers = new Set([...(default_server === null ? [] : [default_server]), ...delegation.servers]);
  const [usual] = servers;
  if (usual === undefined)
    return {
      ok: false,
      error: 'no ACP server is configured: a person can name one under "acp" in the configuration.',
    };
  const server = input.serverName ?? usual;
  if (!servers.has(server))
    return { ok: false, error: `no ACP server "${server}". Servers: ${[...servers].join(', ')}.` };
  // An agent id is meaningful only to its own server.
  const agent = input.agentId ?? (server === usual ? default_agent : null);
  return { ok: true, model: agent === null ? `acp:${server}` : `acp:${server}/${agent}` };
}
