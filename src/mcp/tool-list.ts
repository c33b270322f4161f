import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { budgetOption } from '../kernel/toolsets/acts/child-budget.ts';
import { inputSchema } from '../kernel/toolsets/arguments.ts';
import { clientToolset } from '../kernel/toolsets/mcp-client.ts';

/** The tools that a client sees (docs/mcp-server.md). Tools that create, write to and end agents are described in the toolset `client`, which decides them. */

export const startTreeInput = z.strictObject({
  prompt: z
    .string()
    .trim()
    .min(1, 'the prompt is empty')
    .describe('The task, with all that must be known: nothing of your conversation is seen.'),
  name: z.string().min(1).nullish().describe('Short name of the tree.'),
  model: z.string().min(1).nullish().describe('Another model, as provider/model.'),
  profile: z.string().min(1).nullish().describe('Named profile that its agent works by.'),
  cwd: z.string().min(1).nullish().describe('Folder to work in, inside the one that this server works in.'),
  budget: budgetOption.describe('What the whole tree may spend.'),
});

export const waitInput = z.strictObject({
  timeout: z
    .number()
    .min(0, 'must not be negative')
    .nullish()
    .describe('Maximum seconds to wait, capped by this server. 0 returns immediately.'),
  from_agents: z
    .array(z.string().min(1))
    .max(256)
    .nullish()
    .describe(
      'agent_ids to wait for, all of them. Without it: until the next message, or until an agent comes to rest.',
    ),
});

export const listInput = z.strictObject({
  all: z.boolean().nullish().describe('Also agents that have ended, and those of earlier connections.'),
});

/** Of a saved workflow (`workflow-tools.ts`). */
export const workflowInput = z.strictObject({
  args: z.unknown().optional().describe('The value that its script sees as args, as its description says.'),
  budget: budgetOption.describe('What the whole run may spend.'),
});

export const steerInput = z.strictObject({
  agent_id: z.string().min(1).describe('A workflow run of yours; for skip and retry: one of its agents.'),
  order: z.enum(['pause', 'stop', 'resume', 'skip', 'retry', 'rerun']),
  fresh: z.array(z.string()).optional().describe('For rerun: labels and phases of calls to make anew.'),
});

/** What the tools answer as `structuredContent`: required is what every answer has. Errors have none. What is not there is left out: sent schemas know no null. */
const text = z.string();
const optional = text.optional();
const agent = z.looseObject({ agent_id: text, name: text });
const row = agent.extend({ status: text, outcome: optional, error: optional, approval: optional });
const OUTPUTS: Readonly<Record<string, z.ZodType>> = {
  fork: z.looseObject({ agents: z.array(agent) }),
  kill: z.looseObject({ killed: z.array(text) }),
  list_agents: z.looseObject({
    you: z.looseObject({ agent_id: optional, name: text }),
    agents: z.array(row.extend({ parent_id: optional, doing: optional })),
  }),
  send: z.looseObject({ sent_to: optional, name: optional, sent: z.array(z.looseObject({})).optional() }),
  steer_workflow: z.looseObject({ agent_id: text, ordered: optional, name: optional }),
};
/** Of `spawn_agents`, `subagent_delegate`, `start_tree`, `wait` and workflows. */
const results = z.looseObject({
  results: z.array(row.extend({ message: optional, last_reply: optional })),
  running: z.array(agent).optional(),
  timed_out: z.boolean().optional().describe('Some are still at work: call wait.'),
});

export function outputOf(tool: string): z.ZodType {
  return OUTPUTS[tool] ?? results;
}

interface Listed {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly annotations: ToolAnnotations;
}

const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
export const CREATES: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };

const OWN: readonly Listed[] = [
  {
    name: 'start_tree',
    description:
      'Start an agent with a conversation and a budget of its own, which may split its work among agents below it. FRESH CONTEXT: it knows nothing of this conversation. Returns its answer when the whole tree rests; if that takes longer, it goes on, and wait collects it by agent_id. People see it beside their own trees.',
    schema: startTreeInput,
    annotations: CREATES,
  },
  {
    name: 'wait',
    description:
      'Collect what agents report. With from_agents: until every listed agent has sent a message, rests or has ended; returns one result per agent with status received (message has its report or result), running, idle, failed, cancelled or dead (it was killed). Without: until the next message, or until one of your agents comes to rest. A message is returned once. When the time is over, call it again.',
    schema: waitInput,
    annotations: READS,
  },
  {
    name: 'list_agents',
    description:
      'List your agents: what each is doing, what it used, and whether it waits for an approval. With all, also those that have ended: done, failed, cancelled or dead (killed).',
    schema: listInput,
    annotations: READS,
  },
  {
    name: 'steer_workflow',
    description:
      'Steer a workflow run that you started: pause it, stop it (what is under way is broken off), let it resume; skip an agent of it (its call gives null) or retry it (its call gets the new result). rerun, of a run that has ended, is a new run that takes all results of the old one, and returns its agent_id.',
    schema: steerInput,
    annotations: CREATES,
  },
];

const ANNOTATIONS: Readonly<Record<string, ToolAnnotations>> = {
  kill: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

/** Sorted by name, so that the order never changes. */
export function toolList(): Tool[] {
  const own = OWN.map(({ schema, ...tool }) => ({ ...tool, inputSchema: inputSchema(schema) }));
  const decided = clientToolset.tools
    .filter(({ spec }) => !own.some(({ name }) => name === spec.name))
    .map(({ spec: { name, description, input } }) => ({
      name,
      description,
      inputSchema: input,
      annotations: ANNOTATIONS[name] ?? CREATES,
    }));
  return [...own, ...decided]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((tool) => ({ ...tool, outputSchema: inputSchema(outputOf(tool.name)) })) as Tool[];
}
