/** The tools that rules, profiles and the configuration of the command line may name. */
export const TOOL_NAMES: readonly string[] = [
  'bash',
  'read',
  'write',
  'patch',
  'search',
  'think',
  'read_image',
  'cron',
];
