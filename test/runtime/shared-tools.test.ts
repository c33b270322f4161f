// Proves that agents that are offered the same tools share their descriptions, and so the frame of their requests, although each has a configuration of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_TOOLSETS } from '../../src/kernel/toolsets/all-toolsets.ts';
import { DEFAULT_TERMS } from '../../src/kernel/toolsets/toolset-terms.ts';
import type { AgentConfig } from '../../src/records/agent/agent.ts';
import { createRecallTool } from '../../src/runtime/performing/recall-tool.ts';
import { ToolCatalog } from '../../src/runtime/tool-catalog.ts';

const NONE = { allow: [], ask: [], deny: [] };
const catalog = new ToolCatalog({
  tools: [],
  toolsets: ALL_TOOLSETS,
  terms: DEFAULT_TERMS,
  recall: createRecallTool({ history: async () => [] }),
});

function specsOf(change: Partial<AgentConfig>, limited = false) {
  const config: AgentConfig = {
    ...{
      model: 'test/m',
      thinking: 'off',
      system: 'system',
      toolsets: ['fanout', 'sessions'],
      tools: [],
      cwd: '/',
    },
    ...{ permissions: { cli: NONE, config: NONE } },
    ...change,
  };
  return catalog.setupFor(config).specs(limited, false);
}

test('what differs without a difference in the offer shares each description', () => {
  const [one, ...others] = [specsOf({}), specsOf({ system: 'other' }), specsOf({ turns: 3 })];
  assert.ok(one !== undefined && one.length > 1);
  for (const other of others) {
    assert.equal(other.length, one.length);
    for (const [index, spec] of other.entries()) assert.equal(spec, one[index]);
  }
});

test('what an offer depends on is never shared: limits, thinking, and the folder', () => {
  const parameters = (specs: ReturnType<typeof specsOf>) => JSON.stringify(specs);
  const plain = parameters(specsOf({}));
  assert.doesNotMatch(plain, /"(budget|thinking|worktree)":/);
  assert.match(parameters(specsOf({}, true)), /"budget":/);
  assert.match(parameters(specsOf({ thinking: 'high' })), /"thinking":/);
  assert.match(parameters(specsOf({ cwd: process.cwd() })), /"worktree":/);
  assert.equal(parameters(specsOf({})), plain);
});
