import type { AgentConfig } from '../core/agent.ts';
import { createPolicy, type Policy } from '../tools/permission-policy.ts';

const policies = new WeakMap<AgentConfig, Policy>();

/** What an agent with this configuration may do: one policy for its calls, and for a program that serves as its model. */
export function policyOf(config: AgentConfig): Policy {
  let policy = policies.get(config);
  if (policy === undefined) {
    policy = createPolicy(config.permissions);
    policies.set(config, policy);
  }
  return policy;
}
