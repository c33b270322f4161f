import type { AgentConfig, PermissionMode } from '../records/agent/agent.ts';
import type { ToolPermission } from '../records/tool.ts';
import type { Policy } from './policy.ts';

/**
 * Returns the mode of a tree: an additional source of rules that a person can switch at any time. It is stored with the root and applies to the whole tree.
 *
 * M1. `plan` denies every tool that is not declared harmless (allowed by default, or only reading), even if rules allow the call or it was approved.
 * M2. `accept` allows `write` and `patch` where no other source has a rule for the call: deny and ask rules, and restrictions of profiles, take precedence.
 */
export function modeOf(root: Pick<AgentConfig, 'permissions'>): PermissionMode {
  return root.permissions.mode ?? 'ask';
}

/** The configuration of a tree that begins in this mode. */
export function configIn(mode: PermissionMode, config: AgentConfig): AgentConfig {
  return mode === 'ask' ? config : { ...config, permissions: { ...config.permissions, mode } };
}

/** Instruction to models while the tree is in this mode; empty if there is none. */
export function modeText(mode: PermissionMode): string {
  return mode === 'plan'
    ? 'The user has switched to planning: nothing may be changed now, and calls that could change something are denied. Look around, think, and say what you would do, step by step; then wait until the user lets you go on.'
    : '';
}

/** Message to the model if the mode denies its call; null if it does not. */
export function modeRefusal(mode: PermissionMode, tool: ToolPermission): string | null {
  if (mode !== 'plan' || tool.default === 'allow' || tool.only_reads === true) return null;
  return `${tool.name} was denied: the user has switched to planning, and nothing may be changed now. Say what you would do instead; do not try to get around it.`;
}

/** Adds the allow rules of the mode to a policy. */
export function withMode(policy: Policy, mode: PermissionMode): Policy {
  const [tree, ...profiles] = policy.levels;
  if (mode !== 'accept' || tree === undefined) return policy;
  const allowed = ['write', 'patch'].map((tool) => ({ verdict: 'allow' as const, tool }));
  return { levels: [{ ...tree, mode: allowed }, ...profiles] };
}
