import { toolsetClash } from '../../kernel/toolsets/toolset.ts';
import { workingFolder } from '../../processes/working-folder.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import {
  DEFAULT_LIMITS,
  isLimit,
  LIMIT_BOUNDS,
  type Limits,
  newTreeLimits,
  type TreeLimits,
} from '../../records/agent/limits.ts';
import { withSpending } from '../../records/agent/spending.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { noSuchName } from '../../render/nearest-name.ts';
import type { ToolCatalog } from '../tool-catalog.ts';

/** Refuses unknown tools, toolsets and folders now rather than at their first use; makes the folder canonical. */
export function checkedConfig(config: AgentConfig, catalog: ToolCatalog): AgentConfig {
  const unknown = catalog.unknownNames(config);
  const [toolset] = unknown.toolsets;
  if (toolset !== undefined)
    throw noSuchName('E_CONFIG', 'no toolset called', toolset, catalog.toolsetNames, 'Toolsets');
  const clash = toolsetClash(config.toolsets);
  if (clash !== null) {
    throw new CoppiceError('E_CONFIG', clash, {
      hint: 'They are two ways to say the same: fork, send, wait and kill, or one slash command',
    });
  }
  const [tool] = unknown.tools;
  if (tool !== undefined) throw noSuchName('E_CONFIG', 'no tool called', tool, catalog.toolNames, 'Tools');
  return { ...config, cwd: workingFolder(config.cwd) };
}

/**
 * The limits of a tree. What is not said stays, in a new tree by default; what could not be compared would limit nothing, so it is refused.
 */
export function checkedLimits(said: Partial<Limits> = {}, others?: TreeLimits): TreeLimits {
  const limits: Record<string, number | boolean | null> = { ...withSpending(others ?? DEFAULT_LIMITS, said) };
  for (const [name, value] of Object.entries(said) as [keyof Limits, number | null | undefined][]) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name))
      throw noSuchName('E_INVALID_ARGUMENT', 'no limit called', name, Object.keys(DEFAULT_LIMITS), 'Limits');
    if (value === undefined) continue;
    if (!isLimit(name, value))
      throw new CoppiceError('E_INVALID_ARGUMENT', `${String(value)} is no value for the limit ${name}`, {
        hint: `Give a number of at least ${LIMIT_BOUNDS[name].least}`,
      });
    limits[name] = value;
  }
  const checked = limits as unknown as TreeLimits;
  return others === undefined ? newTreeLimits(checked, said) : checked;
}
