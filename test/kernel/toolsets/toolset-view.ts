import type { ToolsetView } from '../../../src/kernel/toolsets/toolset.ts';
import { DEFAULT_TERMS, type ToolsetTerms } from '../../../src/kernel/toolsets/toolset-terms.ts';
import { createdAgent } from '../../../src/kernel/turn/agent-after.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../../src/records/agent/limits.ts';
import type { NewAgent } from '../../../src/records/run/new-agent.ts';
import { newAgent } from '../../store/ledger-fixture.ts';

/** The agent that calls a tool. */
export function requester(over: Partial<NewAgent['agent']> = {}): Agent {
  return createdAgent(newAgent(null, { name: 'main', session_key: 'agent:main:main', ...over }));
}

/** The view of a call whose caller is alone in its tree and whose needs are all met. */
export function viewOf(
  self: Agent = requester(),
  terms: Partial<ToolsetTerms> = {},
  over: Partial<ToolsetView> = {},
): ToolsetView {
  let ids = 0;
  return {
    now: 5_000,
    newId: () => `id-${ids++}`,
    self,
    tree: { root_id: self.root_id, limits: DEFAULT_LIMITS, live: 1, total: 1, tokens: 0, cost_usd: 0 },
    living_children: 0,
    resting: () => 0,
    scripted: () => 0,
    resolve: () => ({ found: 'none' }),
    lineage: (agent) => [agent],
    children: () => [],
    subtree: (agent) => [agent],
    message_seq: 2,
    worker: 'w1',
    terms: { ...DEFAULT_TERMS, ...terms },
    sent: (spec) => spec,
    left: () => ({ tokens: null, usd: null, until: Number.POSITIVE_INFINITY }),
    letters: [],
    answer: (need) => ({ ok: true, text: need.type === 'file' ? `text of ${need.path}` : 'good' }),
    ...over,
  };
}
