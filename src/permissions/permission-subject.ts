import type { Tool } from '../records/tool.ts';
import { containPath } from './path-containment.ts';
import { pathTools } from './permission-rule.ts';

/**
 * What permission rules are matched against: for tools that take a path its canonical form relative to `cwd`, so
 * that neither `..` nor a symbolic link gets around a rule; the tool's own subject for all others. A path that is
 * not inside the folder stays as it was written; the tool itself refuses it.
 */
export function permissionSubject<Input>(tool: Tool<Input>, input: Input, cwd: string): string {
  const path = writtenPath(tool, input);
  if (path === undefined) return tool.subject(input);
  try {
    return containPath(cwd, path).relative;
  } catch {
    return path;
  }
}

/** The path of a call as it is written; undefined for tools that take none. */
export function writtenPath<Input>(tool: Tool<Input>, input: Input): string | undefined {
  if (!pathTools.has(tool.spec.name)) return undefined;
  return String((input as { readonly path?: unknown }).path ?? '.');
}
