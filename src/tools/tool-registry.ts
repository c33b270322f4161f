import { bash } from './bash.ts';
import { createPatchTool } from './patch.ts';
import type { PathGuard } from './path-guard.ts';
import { createReadTool } from './read.ts';
import { createReadImageTool } from './read-image.ts';
import { createSearchTool } from './search.ts';
import { think } from './think.ts';
import type { Tool } from './tool.ts';
import { createWriteTool } from './write.ts';

/**
 * The tools that act on the world, in the order in which models see them (a stable order keeps prompt caches
 * warm). `guard` is asked again at the moment a path is used, with its canonical form; by default it asks the context.
 */
export function createBuiltInTools(guard: PathGuard = askContext): Tool[] {
  return [
    bash,
    createReadTool(guard),
    createWriteTool(guard),
    createPatchTool(guard),
    createSearchTool(guard),
    think,
    createReadImageTool(guard),
  ];
}

const askContext: PathGuard = (tool, path, context) => context.denied?.(tool, path);
