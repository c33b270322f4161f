import { containPath } from './path-containment.ts';
import { pathTools } from './permission-rule.ts';
import type { Tool } from './tool.ts';

/**
 * What permission rules are matched against: for tools that take a path its canonical form relative to `cwd`, so
 * that neither `..` nor a symbolic link gets around a rule; the tool's own subject for all others. A path that is
 * not inside the folder stays as it was written; the tool itself refuses it.
 */
export function permissionSubject<Input>(tool: Tool<Input>, input: Input, cwd: string): string {
  if (!pathTools.has(tool.spec.name)) return tool.subject(input);
  const path = (input as { readonly path?: unknown }).path ?? '.';
  try {
    return containPath(cwd, String(path)).relative;
  } catch {
    return String(path);
  }
}
