import type { AgentConfig } from '../core/agent.ts';
import { createPolicy, narrow, type Policy } from '../tools/permission-policy.ts';

const policies = new WeakMap<AgentConfig, Policy>();

/** What an agent may do: its tree's rules, and what the profiles on the way down to it forbid beside them. */
export function policyOf(config: AgentConfig): Policy {
  let policy = policies.get(config);
  if (policy === undefined) {
    const { cli, config: configured, narrowed = [] } = config.permissions;
    policy = createPolicy({ cli, config: configured });
    // What a profile does not speak of is left to the levels above it.
    for (const rules of narrowed)
      policy = narrow(policy, createPolicy({ cli: rules, config: { allow: ['*'] } }));
    policies.set(config, policy);
  }
  return policy;
}
