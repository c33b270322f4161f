import { hash } from 'node:crypto';
import { serverTool } from '../../records/server-tools.ts';

/** Maximum characters of a tool's name that every provider accepts. */
const NAME_MAX = 64;

/**
 * The name that models see of a server's tool. A name that has other characters, or is too long, ends with a hash of the original, so that names do not
 * collide and none depends on the others.
 */
export function nameForModels(server: string, tool: string): string {
  const plain = serverTool(server, tool);
  if (/^[A-Za-z0-9_-]+$/.test(tool) && plain.length <= NAME_MAX) return plain;
  const digest = hash('sha256', tool).slice(0, 8);
  const readable = serverTool(server, tool.replaceAll(/[^A-Za-z0-9_-]+/g, '_'));
  return `${readable.slice(0, NAME_MAX - 1 - digest.length)}_${digest}`;
}
