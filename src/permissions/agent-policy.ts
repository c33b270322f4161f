import type { AgentConfig } from '../records/agent/agent.ts';
import { createPolicy, createProfilePolicy, narrow, type Policy } from './permission-policy.ts';

const policies = new WeakMap<AgentConfig, Policy>();

/** What an agent may do: its tree's rules, and what the profiles on the way down to it leave of them. */
export function policyOf(config: AgentConfig): Policy {
  let policy = policies.get(config);
  if (policy === undefined) {
    const { cli, config: configured, granted = [], narrowed = [] } = config.permissions;
    policy = createPolicy({ cli, config: configured, profile: { allow: granted } });
    for (const rules of narrowed) policy = narrow(policy, createProfilePolicy(rules));
    policies.set(config, policy);
  }
  return policy;
}
