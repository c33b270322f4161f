// Proves that the rows of `coppice tree` count in plain English and stay in their columns.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { agentJson } from '../../src/documents/agent-json.ts';
import { agentTree } from '../../src/render/agent-tree.ts';
import { agentOf } from '../kernel/turn/turn-stage.ts';

it('the longest status moves the columns of all rows', () => {
  const agents = [agentOf('root', {}), agentOf('child', { parent_id: 'root' })].map((agent) =>
    agentJson(agent),
  );
  const [root, child] = agents;
  const shown = [root, { ...child, status: 'cancelled' }] as typeof agents;
  const rows = agentTree(shown, { width: 60, height: 9 }, 0, { colour: false, unicode: true });
  assert.match(rows[1] ?? '', /✗ cancelled {2}/);
  assert.equal(rows[0]?.indexOf(' tok'), rows[1]?.indexOf(' tok'));
  assert.ok(rows.every((row) => row.length <= 60));
});

it('one call is a call, and the figures of the others stay below it', () => {
  const agents = [agentOf('root', { calls: 1 }), agentOf('child', { parent_id: 'root', calls: 12 })].map(
    (agent) => agentJson(agent),
  );
  const style = { colour: false, unicode: true };
  const [one = '', twelve = ''] = agentTree(agents, { width: 80, height: 9 }, 0, style);
  assert.match(one, / 1 call +0 tok/);
  assert.match(twelve, / 12 calls +0 tok/);
  assert.equal(one.indexOf(' tok'), twelve.indexOf(' tok'));
});
