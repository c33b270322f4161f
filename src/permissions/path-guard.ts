import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orElse } from '../records/coppice-error.ts';
import type { PathContext } from '../records/tool.ts';
import { type ContainedPath, containPath, isInside } from './path-containment.ts';
import { printablePath } from './printable-path.ts';

/**
 * Resolves a path with `containPath` and asks the rules about it. Called at the moment of use, because a link may have been swapped since the call was
 * decided. Throws an Error with a message for the model.
 */
export function containAllowedPath(tool: string, path: string, context: PathContext): ContainedPath {
  const contained = containPath(context.cwd, path);
  const rule = context.denied?.(tool, contained.relative);
  if (rule !== undefined) throw new Error(`${path}: denied by the rule ${rule}`);
  refuseForeignOutput(contained, context);
  return contained;
}

/** Throws an Error with a message for the model if the path is spilled output of another tree. */
export function refuseForeignOutput({ absolute, relative }: ContainedPath, context: PathContext): void {
  if (isForeignOutput(absolute, context))
    throw new Error(`${printablePath(relative)}: output of another conversation, which this one may not see`);
}

/** Whether a path is spilled output of another tree; possible only if the agent's folder contains the output folder. */
export function isForeignOutput(absolute: string, { cwd, spill_dir }: PathContext): boolean {
  if (spill_dir === undefined) return false; // no call, but a preview for a person
  // Nothing was spilled yet, in most trees. Asked first: an exception costs more than reading the file.
  if (!existsSync(dirname(spill_dir))) return false;
  const all = orElse(() => realpathSync.native(dirname(spill_dir)), null);
  if (all === null) return false;
  const own = join(all, spill_dir.slice(dirname(spill_dir).length));
  return isInside(all, absolute) && !isInside(own, absolute) && !isInside(all, cwd);
}
