import type { ToolPermission } from '../records/tool.ts';

/** Fills in the permission declaration of a tool. By default its calls ask, and patterns match the text of its subject. */
export function toolPermission(
  name: string,
  declared: Partial<Omit<ToolPermission, 'name'>> = {},
): ToolPermission {
  return { default: 'ask', allowed: [], subject: 'text', bound_by: [], ...declared, name };
}

export function takesPath({ subject }: Pick<ToolPermission, 'subject'>): boolean {
  return subject === 'path' || subject === 'folder';
}
