import * as z from 'zod';
import { argumentsError } from '../kernel/reading/call-errors.ts';
import { treeOutput } from '../processes/output/spill-folder.ts';
import { CoppiceError, errorText } from '../records/coppice-error.ts';
import type { Tool, ToolSpec } from '../records/tool.ts';
import { dataFolder, outputFolder } from '../settings/folders.ts';
import { checkDefinition, defineTool, FUNCTION, TOOL } from '../tools/define-tool.ts';
import type { SubagentHost } from './subagents/subagent-host.ts';
import type { SubagentTerms } from './subagents/subagent-options.ts';
import type {
  ToolCallRequest,
  ToolCallResult,
  ToolDefinition,
  ToolHandler,
  ToolParameter,
  ToolParameters,
  ToolRegistry,
} from './tool-definition.ts';

type Output = Pick<ToolCallResult, 'output' | 'isError' | 'code'>;

interface Entry {
  readonly definition: ToolDefinition;
  readonly run: (args: unknown) => Promise<Output>;
}

/** The implementation of `ToolRegistry`, with the tools for the runtime and the coppice that uses it. */
export class Registry implements ToolRegistry {
  readonly #entries = new Map<string, Entry>();
  readonly #tools: Tool[] = [];
  #subagents: SubagentTerms | null = null;
  #taken = false;
  #host: SubagentHost | null = null;

  register<const Parameters extends ToolParameters>(
    definition: ToolDefinition<Parameters>,
    handler: ToolHandler<Parameters>,
  ): void {
    this.#addTool(handlerTool(definition, handler as ToolHandler), definition);
  }

  registerTool(tool: Tool): void {
    checkDefinition(TOOL, tool);
    this.#addTool(tool, definitionOf(tool.spec));
  }

  #addTool(tool: Tool, definition: ToolDefinition): void {
    this.#add(definition, (args) => this.#runTool(tool, args));
    this.#tools.push(tool);
  }

  /** Registers the sub-agent tools. Agents get them through their toolset, and the kernel decides their calls. */
  registerSubagents(
    terms: SubagentTerms,
    tools: readonly {
      readonly definition: ToolDefinition;
      readonly run: (args: unknown, host: SubagentHost) => Promise<string>;
    }[],
  ): void {
    if (this.#subagents !== null)
      throw new CoppiceError('E_INVALID_ARGUMENT', 'the sub-agent tools are already registered');
    for (const { definition } of tools) this.#refuseName(definition.name);
    for (const { definition, run } of tools)
      this.#add(definition, async (args) => {
        const host = this.#host;
        if (host === null)
          return {
            output: `${definition.name} needs an open coppice: call openCoppice({ registry, … }) first.`,
            ...{ isError: true, code: 'E_CLOSED' },
          };
        return { output: await run(args, host), isError: false };
      });
    this.#subagents = terms;
  }

  #add(definition: ToolDefinition, run: Entry['run']): void {
    this.#refuseName(definition.name);
    const shown = { ...definition, category: definition.category ?? 'other' };
    this.#entries.set(definition.name, { definition: Object.freeze(shown), run });
  }

  #refuseName(name: string): void {
    if (this.#entries.has(name))
      throw new CoppiceError('E_INVALID_ARGUMENT', `tool "${name}": it is already registered`);
    // Running agents got their tools when the coppice was opened.
    if (this.#taken)
      throw new CoppiceError('E_INVALID_ARGUMENT', `tool "${name}": the registry is in use`, {
        hint: 'Register all tools before openCoppice, or after its close',
      });
  }

  getToolDefinitions(): readonly ToolDefinition[] {
    return [...this.#entries.values()].map(({ definition }) => definition);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  async execute(call: ToolCallRequest): Promise<ToolCallResult> {
    const { id, name } = call ?? {};
    const entry = this.#entries.get(name);
    if (entry === undefined) {
      const output = `there is no tool "${name}". Tools: ${[...this.#entries.keys()].join(', ')}.`;
      return { id, name, output, isError: true, code: 'E_TOOL_NOT_FOUND' };
    }
    const done = await entry.run(call.arguments).catch((error: unknown): Output => {
      const code = error instanceof CoppiceError ? error.code : 'E_TOOL_FAILED';
      return { output: errorText(error), isError: true, code };
    });
    return { id, name, ...done };
  }

  async #runTool(tool: Tool, args: unknown): Promise<Output> {
    const parsed = tool.parse(args);
    if (!parsed.ok) {
      const output = argumentsError(tool.spec, parsed.error, args);
      return { output, isError: true, code: 'E_INVALID_ARGUMENT' };
    }
    const { status, output } = await tool.run(parsed.input, {
      cwd: this.#host?.cwd ?? process.cwd(),
      spill_dir: treeOutput(outputFolder(dataFolder(process.env)), 'host'),
      signal: new AbortController().signal,
      agent: { id: 'host', name: 'host', root_id: 'host' },
      env_allow: [],
      onOutput: () => undefined,
    });
    return status === 'ok' ? { output, isError: false } : { output, isError: true, code: 'E_TOOL_FAILED' };
  }

  /** Tools for the runtime, without the sub-agent tools. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Null if the sub-agent tools were not registered. */
  get subagents(): SubagentTerms | null {
    return this.#subagents;
  }

  /** Reserves the registry for one coppice, which then runs the program's own calls. Throws if it is reserved already. */
  take(): void {
    if (this.#taken)
      throw new CoppiceError('E_INVALID_ARGUMENT', 'registry: another open coppice uses it', {
        hint: 'Close that one first, or make a registry for each',
      });
    this.#taken = true;
  }

  bind(host: SubagentHost): void {
    this.#host = host;
  }

  release(): void {
    this.#taken = false;
    this.#host = null;
  }
}

/** Creates an empty registry. */
export function createToolRegistry(): ToolRegistry {
  return new Registry();
}

const DEFINITION = z.looseObject({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.looseObject({})),
  handler: FUNCTION,
});

/** Makes a tool from a definition and its handler. Throws as `defineTool` does. */
function handlerTool(definition: ToolDefinition, handler: ToolHandler): Tool {
  checkDefinition(DEFINITION, { ...definition, handler });
  const { name, description, parameters } = definition;
  const entries = Object.entries(parameters);
  const tool = defineTool<Readonly<Record<string, unknown>>>({
    name,
    description,
    input: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([field, { required: _, ...schema }]) => [field, schema])),
      required: entries.flatMap(([field, { required }]) => (required === true ? [field] : [])),
      additionalProperties: false,
    },
    run: handler,
  });
  return tool as Tool;
}

/** The definition of a tool, as a registry returns it. */
export function definitionOf(spec: ToolSpec): ToolDefinition {
  const { properties, required } = spec.input as {
    readonly properties?: Readonly<Record<string, ToolParameter>>;
    readonly required?: readonly string[];
  };
  const parameters = Object.entries(properties ?? {}).map(
    ([field, schema]) => [field, { ...schema, required: required?.includes(field) ?? false }] as const,
  );
  return { name: spec.name, description: spec.description, parameters: Object.fromEntries(parameters) };
}
