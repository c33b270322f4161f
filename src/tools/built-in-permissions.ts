import { toolPermission } from '../permissions/tool-permission.ts';
import type { ToolPermission } from '../records/tool.ts';

/** How rules judge the built-in tools. It stands apart from them so that whoever only needs names and rules loads no tool. */
export const BUILT_IN_PERMISSIONS = {
  // As far as can be seen, a command reads and writes what it names.
  bash: toolPermission('bash', { subject: 'command', bound_by: ['read', 'write'] }),
  read: toolPermission('read', { default: 'allow', subject: 'path', bound_by: ['read'] }),
  write: toolPermission('write', { subject: 'path', bound_by: ['write'] }),
  // It shows the lines around its edits.
  patch: toolPermission('patch', { subject: 'path', bound_by: ['read', 'write', 'patch'] }),
  search: toolPermission('search', { default: 'allow', subject: 'folder', bound_by: ['read', 'search'] }),
  think: toolPermission('think', { default: 'allow' }),
  read_image: toolPermission('read_image', {
    default: 'allow',
    subject: 'path',
    bound_by: ['read', 'read_image'],
  }),
  skill: toolPermission('skill', { default: 'allow' }),
  web_fetch: toolPermission('web_fetch', { subject: 'url', only_reads: true }),
  web_search: toolPermission('web_search', { only_reads: true }),
} as const;

/** Tools of toolsets that create agents: rules may ask about these calls or deny them, `slash` only where it forks. */
export const CREATION_PERMISSIONS = [
  'fork',
  'slash',
  'spawn_agents',
  'sessions_spawn',
  'subagent_spawn',
  'subagent_delegate',
].map((name) => toolPermission(name, { default: 'allow', subject: 'agents' }));

/** How rules judge what somebody else does by the name of a tool: an agent program, a file that is put before a task. */
export function permissionOf(name: string): ToolPermission {
  return Object.hasOwn(BUILT_IN_PERMISSIONS, name)
    ? BUILT_IN_PERMISSIONS[name as keyof typeof BUILT_IN_PERMISSIONS]
    : toolPermission(name);
}
