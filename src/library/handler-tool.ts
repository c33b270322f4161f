import type { Tool } from '../records/tool.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { ToolDefinition, ToolHandler, ToolParameter } from './tool-definition.ts';

/** Makes a tool from a definition and its handler. Throws a TypeError for an invalid definition, as `defineTool` does. */
export function handlerTool(definition: ToolDefinition, handler: ToolHandler): Tool {
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
    run: async (args, context) => textOf(await handler(args, context)),
  });
  return tool as Tool;
}

/** The type says string, but an untyped program may return anything. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** The definition of a tool made with `defineTool`, as a registry returns it. */
export function definitionOf({ spec }: Tool): ToolDefinition {
  const { properties, required } = spec.input as {
    readonly properties?: Readonly<Record<string, ToolParameter>>;
    readonly required?: readonly string[];
  };
  const parameters = Object.entries(properties ?? {}).map(
    ([field, schema]) => [field, { ...schema, required: required?.includes(field) ?? false }] as const,
  );
  return { name: spec.name, description: spec.description, parameters: Object.fromEntries(parameters) };
}
