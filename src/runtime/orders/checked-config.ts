import { realpathSync, statSync } from 'node:fs';
import { toolsetClash } from '../../kernel/toolsets/toolset.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { nameHint } from '../../render/nearest-name.ts';
import type { ToolCatalog } from '../tool-catalog.ts';

/** Refuses unknown tools, toolsets and folders now rather than at their first use; makes the folder canonical. */
export function checkedConfig(config: AgentConfig, catalog: ToolCatalog): AgentConfig {
  const unknown = catalog.unknownNames(config);
  if (unknown.toolsets.length > 0) {
    throw new CoppiceError('E_CONFIG', `no toolset called "${unknown.toolsets[0]}"`, {
      hint: nameHint(unknown.toolsets[0] as string, catalog.toolsetNames, 'Toolsets'),
    });
  }
  const clash = toolsetClash(config.toolsets);
  if (clash !== null) {
    throw new CoppiceError('E_CONFIG', clash, {
      hint: 'They are two ways to say the same: fork, send, wait and kill, or one slash command',
    });
  }
  if (unknown.tools.length > 0) {
    throw new CoppiceError('E_CONFIG', `no tool called "${unknown.tools[0]}"`, {
      hint: nameHint(unknown.tools[0] as string, catalog.toolNames, 'Tools'),
    });
  }
  try {
    if (!statSync(config.cwd).isDirectory())
      throw new CoppiceError('E_NO_FOLDER', `${config.cwd} is not a folder`);
    return { ...config, cwd: realpathSync(config.cwd) };
  } catch (error) {
    if (error instanceof CoppiceError) throw error;
    throw new CoppiceError('E_NO_FOLDER', `the folder ${config.cwd} cannot be used`, { cause: error });
  }
}
