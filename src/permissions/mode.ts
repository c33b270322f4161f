import type { AgentConfig, PermissionMode } from '../records/agent/agent.ts';
import type { ToolPermission } from '../records/tool.ts';
import type { Policy } from './policy.ts';

/**
 * The mode of a tree: one more source of rules, which a person switches while it works. It is kept with the root, and counts for every agent below.
 *
 * M1. `plan` denies every tool that is not declared as harmless (allowed by default, or only reading), whatever allows it, also what was approved.
 * M2. `accept` allows `write` and `patch` where no rule of anybody else is about the call: deny and ask rules, and what a profile leaves, come first.
 */
export function modeOf(root: Pick<AgentConfig, 'permissions'>): PermissionMode {
  return root.permissions.mode ?? 'ask';
}

/** What a model is told while its tree is in this mode; empty for nothing. */
export function modeText(mode: PermissionMode): string {
  return mode === 'plan'
    ? 'The user has switched to planning: nothing may be changed now, and calls that could change something are denied. Look around, think, and say what you would do, step by step; then wait until the user lets you go on.'
    : '';
}

/** What a model reads when the mode denies its call; null: it does not. */
export function modeRefusal(mode: PermissionMode, tool: ToolPermission): string | null {
  if (mode !== 'plan' || tool.default === 'allow' || tool.only_reads === true) return null;
  return `${tool.name} was denied: the user has switched to planning, and nothing may be changed now. Say what you would do instead; do not try to get around it.`;
}

/** The policy with what the mode allows. */
export function withMode(policy: Policy, mode: PermissionMode): Policy {
  const [tree, ...profiles] = policy.levels;
  if (mode !== 'accept' || tree === undefined) return policy;
  const allowed = ['write', 'patch'].map((tool) => ({ verdict: 'allow' as const, tool }));
  return { levels: [{ ...tree, mode: allowed }, ...profiles] };
}
