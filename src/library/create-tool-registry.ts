import { Registry } from './registry.ts';
import type { ToolRegistry } from './tool-registry.ts';

/** An empty registry. */
export function createToolRegistry(): ToolRegistry {
  return new Registry();
}
