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

/** Validates a configuration and makes its folder canonical: rejects unknown tools, toolsets and folders early rather than at first use. */
export function checkedConfig(config: AgentConfig, catalog: ToolCatalog): AgentConfig {
  const unknown = catalog.unknownNames(config);
  const [toolset] = unknown.toolsets;
  if (toolset !== undefined)
    throw noSuchName('E_CONFIG', 'no toolset called', toolset, catalog.toolsetNames, 'Toolsets');
  const clash = toolsetClash(config.toolsets);
  if (clash !== null) {
    throw new CoppiceError('E_CONFIG', clash, {
      hint: 'Both offer the same operations: choose process (fork, send, wait and kill) or slash (one command)',
    });
  }
  const [tool] = unknown.tools;
  if (tool !== undefined) throw noSuchName('E_CONFIG', 'no tool called', tool, catalog.toolNames, 'Tools');
  return { ...config, cwd: workingFolder(config.cwd) };
}

/**
 * Returns the limits of a tree: limits that are not given keep their value from `others`, or the default in a new
 * tree. Throws for unknown limits and for values that are no valid number: they would limit nothing.
 */
export function checkedLimits(said: Partial<Limits> = {}, others?: TreeLimits): TreeLimits {
  const limits: Record<string, number | boolean | null> = { ...withSpending(others ?? DEFAULT_LIMITS, said) };
  for (const [name, value] of Object.entries(said) as [keyof Limits, number | null | undefined][]) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name))
      throw noSuchName('E_INVALID_ARGUMENT', 'no limit called', name, Object.keys(DEFAULT_LIMITS), 'Limits');
    if (value === undefined) continue;
    if (!isLimit(name, value))
      throw new CoppiceError(
        'E_INVALID_ARGUMENT',
        `${String(value)} is not a valid value for the limit ${name}`,
        {
          hint: `Give a number of at least ${LIMIT_BOUNDS[name].least}`,
        },
      );
    limits[name] = value;
  }
  const checked = limits as unknown as TreeLimits;
  return others === undefined ? newTreeLimits(checked, said) : checked;
}
