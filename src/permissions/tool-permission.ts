import type { ToolPermission } from '../records/tool.ts';

/** What a tool declares to the permission rules; a tool that declares nothing is asked about, by the text of its subject. */
export function toolPermission(
  name: string,
  declared: Partial<Omit<ToolPermission, 'name'>> = {},
): ToolPermission {
  return { default: 'ask', allowed: [], subject: 'text', bound_by: [], ...declared, name };
}

export function takesPath({ subject }: Pick<ToolPermission, 'subject'>): boolean {
  return subject === 'path' || subject === 'folder';
}
