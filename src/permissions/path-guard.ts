import { realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import type { PathContext } from '../records/tool.ts';
import { type ContainedPath, containPath } from './path-containment.ts';
import { printablePath } from './printable-path.ts';

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
  refuseForeignOutput(contained, context);
  return contained;
}

/** Throws an Error for the model where the path is spilled output of another tree. */
export function refuseForeignOutput({ absolute, relative }: ContainedPath, context: PathContext): void {
  if (isForeignOutput(absolute, context))
    throw new Error(`${printablePath(relative)}: output of another conversation, which this one may not see`);
}

/** It is spilled output of another tree, for an agent whose own folder holds the folder of all. */
export function isForeignOutput(absolute: string, { cwd, spill_dir }: PathContext): boolean {
  if (spill_dir === undefined) return false; // a look for people
  let [all, own] = [dirname(spill_dir), spill_dir];
  try {
    all = realpathSync.native(all);
    own = join(all, spill_dir.slice(dirname(spill_dir).length));
  } catch {
    return false; // nothing was spilled yet
  }
  const inside = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep);
  return inside(all, absolute) && !inside(own, absolute) && !inside(all, cwd);
}
