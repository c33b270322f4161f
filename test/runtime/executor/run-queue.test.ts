// Proves that checking whether a run may begin changes nothing, that only a claim takes a slot, and that slots are given in order of arrival.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { RunQueue } from '../../../src/runtime/executor/run-queue.ts';
import { AT_WORK, agentOf } from '../../kernel/turn/turn-stage.ts';
import { termsOf } from '../../store/ledger-fixture.ts';

const PLENTY = { cron: 9, subagent: 9, delegate: 9 };
const run = (id: string, over: Partial<Agent> = {}) => agentOf(id, { origin: 'session', ...over });
const queueOf = (
  limits: Partial<ConstructorParameters<typeof RunQueue>[0]> = {},
  lineage: readonly Agent[] = [],
) => new RunQueue({ per_tree: 1, total: 9, per_source: PLENTY, ...limits }, 'w1', () => lineage);

it('asking takes no slot and enters no queue, however often', () => {
  const queue = queueOf();
  const [a, b] = [run('a'), run('b')];
  for (const one of [a, b, a, b]) assert.equal(queue.mayBegin(one), true);
  assert.deepEqual(queue.waiting(), []);
  queue.begin(a);
  for (const one of [b, b]) assert.equal(queue.mayBegin(one), false);
  assert.deepEqual([queue.waiting(), queue.mayBegin(a)], [[], true]);
});

it('waiting runs precede new ones, in order of arrival', () => {
  const queue = queueOf();
  const [a, b, c] = [run('a'), run('b'), run('c')];
  queue.begin(a);
  for (const one of [b, c, b]) queue.queue(one);
  assert.deepEqual(queue.waiting(), ['b', 'c']);
  assert.deepEqual(queue.see({ ...a, state: { type: 'completed', result: 'r' } }), ['b']);
  assert.deepEqual(
    [b, c, run('d')].map((one) => queue.mayBegin(one)),
    [true, false, false],
  );
  queue.begin(b);
  assert.deepEqual([queue.waiting(), queue.mayBegin(c)], [['c'], false]);
  queue.undoBegin(b);
  assert.equal(queue.mayBegin(c), true);
});

it('a new run begins if its lane has a slot that no run waits for, and the process has one for its source', () => {
  const two = queueOf({ per_tree: 2 });
  two.queue(run('a'));
  assert.equal(two.mayBegin(run('b')), true);
  two.queue(run('b'));
  assert.equal(two.mayBegin(run('c')), false);
  const total = queueOf({ per_tree: 9, total: 1 });
  total.begin(run('a', { root_id: 'other' }));
  assert.equal(total.mayBegin(run('b')), false);
  const source = queueOf({ per_tree: 9, per_source: { ...PLENTY, subagent: 1 } });
  source.begin(run('a', { root_id: 'other' }));
  assert.deepEqual([source.mayBegin(run('b')), source.mayBegin(run('c', { origin: 'cron' }))], [false, true]);
  const elsewhere = queueOf({ total: 1 });
  elsewhere.queue(run('a', { root_id: 'other' }));
  assert.equal(elsewhere.mayBegin(run('b')), false);
});

it('a run in another process takes a slot of its tree and none of this process', () => {
  const queue = queueOf({ per_source: { ...PLENTY, cron: 1 }, total: 1 });
  const [here, there] = ['w1', 'w2'].map((worker) => run('a', { worker, state: AT_WORK }));
  assert.ok(here && there);
  queue.see(here);
  const other = run('b', { root_id: 'other' });
  queue.queue(other);
  assert.equal(queue.mayBegin(other), false);
  assert.deepEqual(queue.see(there), ['b'], 'it went to another process');
  assert.deepEqual([queue.mayBegin(other), queue.mayBegin(run('c'))], [true, false]);
  queue.see({ ...there, state: { type: 'completed', result: 'r' } });
  queue.leave(other);
  assert.equal(queue.mayBegin(run('c')), true);
  queue.see(run('d', { origin: 'cron', root_id: 'd', worker: 'w2', state: AT_WORK }));
  assert.equal(queue.mayBegin(run('e', { origin: 'cron', root_id: 'e' })), true);
});

it('agents outside runs, and delegated calls within a run, need no slot and begin at once', () => {
  const task = termsOf({ kind: 'cron', run_id: 'r' });
  const outer = run('outer', { origin: 'cron' });
  const queue = queueOf({ per_source: { cron: 0, subagent: 0, delegate: 0 } }, [
    { ...outer, config: { ...outer.config, task } },
  ]);
  const asked = (['root', 'fork', 'delegate', 'cron', 'session'] as const).map((origin) =>
    queue.mayBegin(run('x', { origin })),
  );
  assert.deepEqual(asked, [true, true, true, false, false]);
  queue.begin(run('x', { origin: 'fork' }));
  queue.queue(run('x', { origin: 'fork' }));
  assert.deepEqual(queue.waiting(), []);
  assert.deepEqual(queue.see(run('y', { origin: 'fork', state: AT_WORK })), []);
});
