import type { Tool } from '@modelcontextprotocol/server';
import { inputSchema } from '../kernel/toolsets/arguments.ts';
import { type LoadedScript, loadScript, scriptTrust } from '../models/workflow/saved-scripts.ts';
import { savedScripts } from '../models/workflow/script-places.ts';
import { dataFolder } from '../settings/folders.ts';
import type { McpOptions } from './mcp-options.ts';
import { CREATES, outputOf, workflowInput } from './tool-list.ts';

/** Tools listed at once: each costs its description in the client's context. */
const TOOLS_MAX = 50;
const DESCRIPTION_MAX = 1_000;
const PREFIX = 'workflow_';
/** Names that all clients take. */
const NAME = /^[\w-]{1,55}$/;

/** The saved workflows of the folder that can run, a tool each. */
export function workflowTools({ cwd, env }: Pick<McpOptions, 'cwd' | 'env'>): Tool[] {
  const trust = scriptTrust(env, dataFolder(env));
  const named = savedScripts(cwd, trust.home).filter(({ name }) => NAME.test(name));
  return named.slice(0, TOOLS_MAX).flatMap(({ name }) => {
    try {
      const { description, when_to_use } = loadScript(name, cwd, trust).meta;
      const about = [description, when_to_use].filter((text) => text !== null).join(' ');
      return [
        {
          name: PREFIX + name,
          description: `${about.slice(0, DESCRIPTION_MAX)} (Runs a workflow: a script that orchestrates agents. Returns its result; if that takes longer, it goes on, and wait collects it by agent_id.)`,
          inputSchema: inputSchema(workflowInput) as Tool['inputSchema'],
          outputSchema: inputSchema(outputOf(PREFIX + name)) as Tool['outputSchema'],
          annotations: CREATES,
        },
      ];
    } catch {
      return [];
    }
  });
}

/** The workflow that a tool's name means; null for any other tool, or if there is none. */
export function workflowNamed(
  tool: string,
  { cwd, env }: Pick<McpOptions, 'cwd' | 'env'>,
): LoadedScript | null {
  if (!tool.startsWith(PREFIX)) return null;
  const name = tool.slice(PREFIX.length);
  const trust = scriptTrust(env, dataFolder(env));
  const known = NAME.test(name) && savedScripts(cwd, trust.home).some((one) => one.name === name);
  return known ? loadScript(name, cwd, trust) : null;
}
