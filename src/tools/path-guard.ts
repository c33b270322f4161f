import { type ContainedPath, containPath } from './path-containment.ts';
import type { PathContext } from './tool.ts';

/**
 * Asked with the canonical path at the moment of use: the rule that keeps `tool` from this path, or undefined. It
 * closes the gap between the decision about a call and its run, in which a link may have been swapped, and
 * keeps denied files out of search results.
 */
export type PathGuard = (tool: string, relative_path: string, context: PathContext) => string | undefined;

/** `containPath`, and the guard's word on the result. Throws an Error for the model. */
export function containAllowedPath(
  tool: string,
  path: string,
  context: PathContext,
  guard: PathGuard | undefined,
): ContainedPath {
  const contained = containPath(context.cwd, path);
  const rule = guard?.(tool, contained.relative, context);
  if (rule !== undefined) throw new Error(`${path}: denied by the rule ${rule}`);
  return contained;
}
