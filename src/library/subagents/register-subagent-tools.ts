import * as z from 'zod';
import { delegateInput, spawnInput } from '../../kernel/toolsets/acts/delegate-input.ts';
import { inputSchema, parseMeant } from '../../kernel/toolsets/arguments.ts';
import { subagentDelegate, subagentSpawn } from '../../kernel/toolsets/delegate.ts';
import type { ToolsetTool } from '../../kernel/toolsets/toolset.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { nearestName, noSuchName } from '../../render/nearest-name.ts';
import { checkGiven } from '../../settings/check-settings.ts';
import { FUNCTION } from '../../tools/define-tool.ts';
import { definitionOf, Registry } from '../registry.ts';
import type { ToolDefinition, ToolRegistry } from '../tool-definition.ts';
import type { SubagentHost } from './subagent-host.ts';
import { MAX_DEPTH, MAX_TURNS, type SubagentTerms, type SubagentToolsOptions } from './subagent-options.ts';

/** The arguments that a program may give; the tool's other arguments only make sense inside a tree. */
const hostSpawnInput = spawnInput.pick({
  task: true,
  description: true,
  maxTurns: true,
  systemPrompt: true,
});

/**
 * Registers `subagent_spawn` and `subagent_delegate` (docs/library.md). The agents of a coppice that is opened with the registry get both;
 * the program itself may call them too (`registry.execute`) once that coppice is open, and gets the sub-agent's final text.
 *
 * Throws a `CoppiceError` with the code `E_CONFIG` for a wrong option (a number that is not an integer or too small, a callback that is not a
 * function), and with `E_INVALID_ARGUMENT` for a second call for the same registry.
 */
export function registerSubagentTools(registry: ToolRegistry, options: SubagentToolsOptions = {}): void {
  if (!(registry instanceof Registry))
    throw new CoppiceError(
      'E_INVALID_ARGUMENT',
      'registerSubagentTools needs a registry made with createToolRegistry',
    );
  checkGiven(OPTIONS, options, 'registerSubagentTools');
  const isSlip = (name: string) => nearestName(name, CALLBACKS, 3) !== null;
  const unknown = Object.keys(options.callbacks ?? {}).find(
    (name) => !CALLBACKS.includes(name as never) && isSlip(name),
  );
  if (unknown !== undefined)
    throw noSuchName(
      'E_CONFIG',
      'callbacks of registerSubagentTools: there is no',
      unknown,
      CALLBACKS,
      'There are',
    );
  const terms: SubagentTerms = {
    callbacks: options.callbacks ?? {},
    max_turns: options.defaultMaxTurns ?? MAX_TURNS,
    max_depth: options.maxDepth ?? MAX_DEPTH,
    server: options.serverName ?? null,
    agent: options.agentId ?? null,
    system: options.systemPrompt ?? null,
  };
  const turns = `Maximum turns the subagent can take (default: ${terms.max_turns})`;
  const spawnable = hostSpawnInput.extend({ maxTurns: spawnInput.shape.maxTurns.describe(turns) });
  const tools = [
    {
      definition: definition(subagentSpawn, spawnable),
      run: (args: unknown, host: SubagentHost) => spawn(args, terms, host),
    },
    { definition: definition(subagentDelegate, delegateInput.omit({ budget: true })), run: delegate },
  ];
  // With depth 0 no agent could use the tools; the terms still apply to agents with the toolset.
  registry.registerSubagents(terms, terms.max_depth === 0 ? [] : tools);
}

const CALLBACKS = [
  ...(['onSubagentStart', 'onSubagentStreamDelta', 'onSubagentToolCallStart'] as const),
  ...(['onSubagentToolCallEnd', 'onSubagentComplete', 'onSubagentError'] as const),
];
const text = z.string().optional();
const OPTIONS = z.object({
  // They may be methods of an object that has other fields, too.
  callbacks: z
    .looseObject(Object.fromEntries(CALLBACKS.map((name) => [name, FUNCTION.optional()])))
    .optional(),
  ...{ defaultMaxTurns: z.int().min(1).optional(), maxDepth: z.int().min(0).optional() },
  ...{ serverName: text, agentId: text, systemPrompt: text },
} satisfies Readonly<Record<keyof SubagentToolsOptions, z.ZodType>>);

function spawn(args: unknown, terms: SubagentTerms, host: SubagentHost): Promise<string> {
  const { task, description, maxTurns, systemPrompt } = checked(
    parseMeant('subagent_spawn', hostSpawnInput, args),
  );
  return host.run({
    type: 'spawn',
    task,
    description,
    turns: maxTurns ?? terms.max_turns,
    system: systemPrompt ?? terms.system,
  });
}

function delegate(args: unknown, host: SubagentHost): Promise<string> {
  return host.run({ type: 'delegate', ...checked(parseMeant('subagent_delegate', delegateInput, args)) });
}

function checked<T>(parsed: ReturnType<typeof parseMeant<T>>): T {
  if (parsed.ok) return parsed.value;
  throw new CoppiceError('E_INVALID_ARGUMENT', parsed.message);
}

/** A tool of the toolset as programs get it: with the arguments that make sense outside of a tree. */
function definition({ spec: { name, description } }: ToolsetTool, schema: z.ZodType): ToolDefinition {
  return { ...definitionOf({ name, description, input: inputSchema(schema) }), category: 'subagent' };
}
