// Proves that the rows of the cockpit are in the order of the tree, whatever arrives first, and that only what changed is a new row.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentDocument } from '../../../src/documents/shapes/agent-parts.ts';
import { LiveRows } from '../../../web/views/tree/live/live-rows.ts';

const agent = (id: string, parent_id: string | null, more: Partial<AgentDocument> = {}) =>
  ({
    ...{ id, parent_id, started_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' },
    ...{ status: 'running', tool_calls: 0, tokens: { input: 0, output: 0 } },
    ...more,
  }) as AgentDocument;
const later = { updated_at: '2026-01-01T00:00:09.000Z' };
const ids = (rows: LiveRows) => rows.rows().map((row) => row.agent.id);

it('a tree that was read says the order of agents that were created together, also of those that events told of before', () => {
  const rows = new LiveRows();
  rows.begin();
  rows.put(agent('b', 'root', { ...later, tool_calls: 7 }));
  rows.put(agent('new', 'root', { started_at: '2026-01-01T00:00:05.000Z' }));
  rows.put(agent('a', 'root'));
  rows.take([agent('root', null), agent('a', 'root'), agent('a-1', 'a'), agent('b', 'root')]);
  assert.deepEqual(ids(rows), ['root', 'a', 'a-1', 'b', 'new']);
  assert.equal(rows.rows()[3]?.agent.tool_calls, 7, 'an event that came meanwhile is newer than the answer');
  rows.begin();
  rows.take([agent('root', null), agent('a', 'root')]);
  assert.deepEqual(ids(rows), ['root', 'a'], 'what is gone from the tree is gone');
});

it('a change makes one new row, and cells of six seconds go by', () => {
  const rows = new LiveRows();
  rows.take([agent('root', null), agent('a', 'root')]);
  const [root, a] = rows.rows();
  rows.put(agent('a', 'root', { ...later, tool_calls: 2 }));
  const [same, changed] = rows.rows();
  assert.equal(same, root);
  assert.notEqual(changed, a);
  assert.deepEqual(changed?.cells, [0, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
  rows.next();
  assert.deepEqual(rows.rows()[1]?.cells, [0, 0, 0, 0, 0, 0, 0, 0, 3, 1]);
});
