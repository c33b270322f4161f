import type { CommandLimits } from '../processes/limits/command-budget.ts';
import type { Sandbox } from '../processes/sandbox/sandbox.ts';
import type { Tool } from '../records/tool.ts';
import { createBashTool } from './bash.ts';
import { patchTool } from './files/patch.ts';
import { readTool } from './files/read.ts';
import { readImageTool } from './files/read-image.ts';
import { skill } from './files/skill.ts';
import { writeTool } from './files/write.ts';
import { searchTool } from './search.ts';
import { think } from './think.ts';
import { createWebFetchTool, type WebFetchOptions } from './web/web-fetch.ts';
import { createWebSearchTool, type WebSearchOptions } from './web/web-search.ts';

/** The user's settings for the web (docs/web.md). */
type WebOptions = Pick<WebFetchOptions, 'private_hosts' | 'robots'> & {
  readonly search?: WebSearchOptions | undefined;
};

/**
 * The built-in tools, which act on the world. Their order is the one that models see, and must stay stable for prompt
 * caches. Without a sandbox, commands have all rights of the user; without limits, their use of resources is unlimited.
 */
export function createBuiltInTools({
  sandbox = null,
  limits = null,
  known_commands,
  web = {},
  env,
}: {
  readonly sandbox?: Sandbox | null;
  readonly limits?: CommandLimits | null;
  readonly known_commands?: ReadonlySet<string>;
  readonly web?: WebOptions;
  /** The environment that holds the keys of services. */
  readonly env?: NodeJS.ProcessEnv;
} = {}): Tool[] {
  return [
    createBashTool(sandbox, limits, known_commands) as Tool,
    readTool,
    writeTool,
    patchTool,
    searchTool,
    think,
    readImageTool,
    skill,
    createWebFetchTool(web) as Tool,
    createWebSearchTool(web.search ?? null, env) as Tool,
  ];
}
