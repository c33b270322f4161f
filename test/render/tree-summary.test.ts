// Proves that the line about all agents counts as at work only those that do something.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ShownAgent } from '../../src/render/agent-tree.ts';
import { summary } from '../../src/render/tree-summary.ts';

it('an agent whose provider takes no requests is not at work', () => {
  const agent = { state: 'requesting', tool_calls: 0, tokens: { input: 0, output: 0 }, cost_usd: null };
  const agents = [agent, { ...agent, paused: { until: null } }] as unknown as ShownAgent[];
  assert.match(summary(agents, 0, 1_000), /^2 agents, 1 at work, /);
});
