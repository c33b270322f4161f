import type * as z from 'zod';
import { delegateInput, spawnInput } from '../../kernel/toolsets/acts/delegate-input.ts';
import { inputSchema, parseMeant } from '../../kernel/toolsets/arguments.ts';
import { subagentDelegate, subagentSpawn } from '../../kernel/toolsets/delegate.ts';
import type { ToolsetTool } from '../../kernel/toolsets/toolset.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { nearestName, noSuchName } from '../../render/nearest-name.ts';
import { definitionOf, Registry } from '../registry.ts';
import type { ToolDefinition, ToolRegistry } from '../tool-definition.ts';
import type { SubagentHost } from './subagent-host.ts';
import {
  MAX_DEPTH,
  MAX_TURNS,
  type SubagentCallbacks,
  type SubagentTerms,
  type SubagentToolsOptions,
} from './subagent-options.ts';

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
 * Throws a `CoppiceError` with the code `E_INVALID_ARGUMENT` for a number that is not an integer or too
 * small, a callback that is not a function, an unknown option, and a second call for the same registry.
 */
export function registerSubagentTools(registry: ToolRegistry, options: SubagentToolsOptions = {}): void {
  if (!(registry instanceof Registry))
    throw new CoppiceError(
      'E_INVALID_ARGUMENT',
      'registerSubagentTools needs a registry made with createToolRegistry',
    );
  checkNames(options, OPTIONS, 0);
  checkCallbacks(options.callbacks ?? {});
  const terms: SubagentTerms = {
    callbacks: options.callbacks ?? {},
    max_turns: atLeast(1, 'defaultMaxTurns', options.defaultMaxTurns ?? MAX_TURNS),
    max_depth: atLeast(0, 'maxDepth', options.maxDepth ?? MAX_DEPTH),
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

const OPTIONS: Readonly<Record<keyof SubagentToolsOptions, true>> = {
  callbacks: true,
  defaultMaxTurns: true,
  maxDepth: true,
  serverName: true,
  agentId: true,
  systemPrompt: true,
};
const CALLBACKS: Readonly<Record<keyof SubagentCallbacks, true>> = {
  onSubagentStart: true,
  onSubagentStreamDelta: true,
  onSubagentToolCallStart: true,
  onSubagentToolCallEnd: true,
  onSubagentComplete: true,
  onSubagentError: true,
};

/** The callbacks may be methods of an object that has other fields, too. */
function checkCallbacks(callbacks: SubagentCallbacks): void {
  checkNames(callbacks, CALLBACKS, 3);
  for (const name of Object.keys(CALLBACKS) as (keyof SubagentCallbacks)[])
    if (callbacks[name] !== undefined && typeof callbacks[name] !== 'function')
      throw new CoppiceError('E_INVALID_ARGUMENT', `callbacks: ${name} is not a function`);
}

/** Throws for unknown names. `slip`: edit distance up to which an unknown name counts as a misspelling of a known one; 0: every unknown name is refused. */
function checkNames(given: object, known: Readonly<Record<string, true>>, slip: number): void {
  const names = Object.keys(known);
  const isWrong = (name: string) => slip === 0 || nearestName(name, names, slip) !== null;
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name) && isWrong(name));
  if (unknown === undefined) return;
  throw noSuchName('E_INVALID_ARGUMENT', 'registerSubagentTools: there is no', unknown, names, 'There are');
}

function atLeast(least: number, name: string, value: number): number {
  if (Number.isInteger(value) && value >= least) return value;
  throw new CoppiceError(
    'E_INVALID_ARGUMENT',
    `${name}: ${value} is not a whole number of at least ${least}`,
  );
}

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
