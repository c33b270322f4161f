import { type Policy, partialRules } from './permission-policy.ts';
import { pathTools } from './permission-rule.ts';
import { seeThrough } from './shell/see-through.ts';
import { boundBy, type TouchedPath, touchedByCommand, touchedPaths } from './touched-paths.ts';

/** The paths that a call touches; `subject` is the path of a tool that takes one, or the command. */
export function callTouches(
  policy: Policy,
  tool: string,
  subject: string,
  cwd: string,
): readonly TouchedPath[] {
  if (pathTools.has(tool)) return touchedPaths(tool, subject, cwd);
  // A command is read only where a rule about paths is there to look at it.
  const looked_at = tool === 'bash' && boundBy(tool).some((one) => partialRules(policy, one).length > 0);
  return looked_at ? touchedByCommand(seeThrough(subject), cwd) : [];
}
