// Proves that the same keys move the selection in every list, to both ends of it, too.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rowStep } from '../../../src/tui/keys/action-of.ts';
import { moveSelection } from '../../../src/tui/state/agents/filtered-agents.ts';
import { agent, PLAIN, tree } from '../ui-fixture.ts';

it('moves by one, by ten, or to an end', () => {
  const keys = ['\x1b[A', '\x1b[B', '\x1b[5~', '\x1b[6~', '\x1b[H', '\x1b[F', 'j', '\r'];
  assert.deepEqual(keys.map(rowStep), [-1, 1, -10, 10, -Infinity, Infinity, 0, 0]);
});

it('stays within the list of agents', () => {
  const children = Array.from({ length: 30 }, (_, index) => agent(`a${index}`, 'main'));
  const state = tree([agent('main', null), ...children]);
  const open = { type: 'agents', filter: '', selected: null } as const;
  const end = moveSelection(state, open, rowStep('\x1b[F'), PLAIN);
  assert.equal(end.selected, state.agents.values().toArray().at(-1)?.id);
  assert.equal(moveSelection(state, end, rowStep('\x1b[H'), PLAIN).selected, state.root_id);
});
