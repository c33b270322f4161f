// Proves that a removal works in batches: no batch removes more rows than its limit, except that an agent's requests go all at once, and the tree goes last.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type RemovableRow, removeTreeRows } from '../../../src/kernel/ledger/removal.ts';
import { agentOf, rows, treeOf, unitOf } from './ledger-stage.ts';

const CLOSED = treeOf({ removal: 'closed' });

/** The row counts that batches of at most `most` rows remove; asserts that the tree is marked `begun` after every batch but the last. */
function batches(found: readonly RemovableRow[], most: number, runs = false): readonly unknown[] {
  const told: unknown[] = [];
  for (let left = found; told.length < 10; ) {
    const agent = { root: agentOf('root'), kid: agentOf('kid') };
    const unit = unitOf({ tree: { root: CLOSED }, agent });
    const { removed, done } = removeTreeRows(unit, 'root', left, { most, runs, open: false });
    told.push([removed.messages, removed.mail, removed.agents, removed.requests, removed.asks, removed.runs]);
    const kept = new Set(rows(unit, 'subagent_runs').map((row) => row.agent_id));
    assert.equal(
      rows(unit, 'trees').some((row) => row.removal === 'begun'),
      !done,
    );
    if (done) return told;
    const { messages, mail, agents, asks } = removed;
    const gone = { message: messages, mail, agent: agents, ask: asks, kept: kept.size, run: removed.runs };
    left = left.filter(({ part }) => {
      gone[part] -= 1;
      return gone[part] < 0;
    });
  }
  return told;
}

const row = (part: RemovableRow['part'], n = 0, id = 'root'): RemovableRow => ({ part, id, n });

it('a batch takes no more rows than it may', () => {
  const found = [row('message', 1), row('message', 2), row('mail'), row('agent'), row('ask'), row('ask')];
  assert.deepEqual(batches(found, 4), [
    [2, 1, 1, 0, 0, 0],
    [0, 0, 0, 0, 2, 0],
  ]);
  assert.equal(batches(found, 7).length, 1, 'one row of room is left for the tree');
  const with_requests = [row('message', 1), row('agent', 3)];
  assert.deepEqual(batches(with_requests, 4), [
    [1, 0, 0, 0, 0, 0],
    [0, 0, 1, 3, 0, 0],
    [0, 0, 0, 0, 0, 0],
  ]);
});

it('all requests of one agent go at once, and nothing else with them where they exceed the batch', () => {
  const found = [row('message', 1), row('agent', 1, 'kid'), row('agent', 5), ...Array(3).fill(row('ask'))];
  assert.deepEqual(batches(found, 4), [
    [1, 0, 1, 1, 0, 0],
    [0, 0, 1, 5, 0, 0],
    [0, 0, 0, 0, 3, 0],
  ]);
});

it('rows of the run history stay, marked, unless they are asked for', () => {
  const found = [row('kept'), row('run')];
  assert.deepEqual(batches(found, 9), [[0, 0, 0, 0, 0, 0]]);
  assert.deepEqual(batches(found, 9, true), [[0, 0, 0, 0, 0, 1]]);
});
