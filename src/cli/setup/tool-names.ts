import { toolPermission } from '../../permissions/tool-permission.ts';
import { BUILT_IN_PERMISSIONS } from '../../tools/built-in-permissions.ts';

/** The tools that rules, profiles and the configuration of the command line may name. */
export const TOOLS = [...Object.values(BUILT_IN_PERMISSIONS), toolPermission('cron')];

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);
