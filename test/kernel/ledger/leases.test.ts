// Proves the decisions about leases at each boundary: which workers are alive, who is claimed, whose process died during a call, who is unled.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { admit } from '../../../src/kernel/ledger/admit.ts';
import type { AgentFacts } from '../../../src/kernel/ledger/facts.ts';
import {
  claim,
  FREE_BATCH,
  hasLiveLease,
  LEASE_MS,
  releaseTree,
  removeWorker,
  renewLease,
} from '../../../src/kernel/ledger/leases.ts';
import { AT_ONCE_MS, enterUnled, markServed, signal } from '../../../src/kernel/ledger/unled.ts';
import type { Step } from '../../../src/kernel/step.ts';
import { call, executing } from '../turn/turn-stage.ts';
import { agentOf, changes, type Entries, LEASED, NOW, rows, stepOf, treeOf, unitOf } from './ledger-stage.ts';

const NONE = new Set<string>();
const AT_WORK = JSON.stringify(executing(call('c1')));

function tree(...agents: readonly AgentFacts[]): Entries {
  return {
    tree: { root: treeOf() },
    members: { root: agents.map(({ id }) => id) },
    held: { w1: agents.map(({ id }) => id) },
    agent: Object.fromEntries(agents.map((agent) => [agent.id, agent])),
    state: Object.fromEntries(agents.map(({ id }) => [id, AT_WORK])),
  };
}

it('a worker may lead while it has a lease and a process, and learns when it renews the lease that it had run out', () => {
  const leased = (leased: boolean) => unitOf({ worker: { w1: { ...LEASED, leased } } });
  assert.deepEqual(
    [leased(true), leased(false), unitOf()].map((unit) => hasLiveLease(unit, 'w1', NONE)),
    [true, false, false],
  );
  assert.equal(hasLiveLease(leased(true), 'w1', new Set(['w1'])), false);
  const worker = { id: 'w1', host: 'h', pid: 1, role: 'run', labels: '[]' };
  const [first, lost, again] = [unitOf(), unitOf(), leased(true)];
  assert.deepEqual(
    [
      renewLease(first, worker, false),
      renewLease(lost, worker, true),
      renewLease(again, worker, true),
      renewLease(leased(false), worker, true),
      renewLease(leased(false), worker, false),
    ],
    [true, false, true, false, false],
  );
  const entered = { ...worker, draining: false, started_at: NOW, expires_at: NOW + LEASE_MS };
  assert.deepEqual(changes(first, 'workers'), [{ type: 'insert', row: entered }]);
  const renewed = { id: 'w1', expires_at: NOW + LEASE_MS };
  assert.deepEqual(changes(again, 'workers'), [{ type: 'update', row: renewed }]);
});

it('a claim takes agents without a living worker, and counts a death where a call ran in a process that is gone', () => {
  const claimed = (agent: AgentFacts, entries: Entries = {}) => {
    const unit = unitOf({ ...tree(agent), ...entries });
    const ids = claim(unit, 'root', 'w2', NONE, 'token');
    const { worker, epoch, deaths } = unit.agent(agent.id) as AgentFacts;
    return [ids.length, worker, epoch, deaths];
  };
  const at_work = agentOf('root', { status: 'executing' });
  assert.deepEqual(claimed(at_work), [1, 'w2', 2, 1]);
  assert.deepEqual(claimed(at_work, { worker: { w1: LEASED } }), [0, 'w1', 1, 0]);
  assert.deepEqual(claimed(agentOf('root', { status: 'executing', worker: null })), [1, 'w2', 2, 0]);
  assert.deepEqual(claimed(agentOf('root')), [1, 'w2', 2, 0]);
  assert.deepEqual(claimed(at_work, { tree: { root: treeOf({ removal: 'closed' }) } }), [0, 'w1', 1, 0]);
  assert.deepEqual(claimed(at_work, { tree: {} }), [0, 'w1', 1, 0]);
});

it('a claim retried after a lost acknowledgement takes the same agents, and counts no deaths', () => {
  const given = agentOf('root', { status: 'executing', worker: 'w2', last_write: 'token' });
  const alive = { worker: { w2: LEASED } };
  for (const entries of [alive, {}]) {
    const unit = unitOf({ ...tree(given), ...entries });
    assert.deepEqual(claim(unit, 'root', 'w2', NONE, 'token'), ['root']);
    assert.equal(unit.agent('root')?.deaths, 0);
  }
  // Another claim of the same worker has another token.
  const other = unitOf({ ...tree(given), ...alive });
  assert.deepEqual(claim(other, 'root', 'w2', NONE, 'another'), []);
  const foreign = agentOf('root', { worker: 'w3', last_write: 'token' });
  const theirs = unitOf({ ...tree(foreign), worker: { w3: LEASED } });
  assert.deepEqual(claim(theirs, 'root', 'w2', NONE, 'token'), []);
});

it('a call that waits for an agent, a child or a person is not executing; one that was approved is', () => {
  const dies = (over: object) => {
    const state = JSON.stringify(executing({ call: call('c1'), ...over }));
    const unit = unitOf({ ...tree(agentOf('root', { status: 'executing' })), state: { root: state } });
    claim(unit, 'root', 'w2', NONE, 'token');
    return unit.agent('root')?.deaths;
  };
  const ask = { id: 'a', at: 1 };
  assert.deepEqual(
    [dies({}), dies({ wait: { from: null, deadline: 1 } }), dies({ child: 'x' }), dies({ ask })],
    [1, 0, 0, 0],
  );
  assert.deepEqual([dies({ ask, approved: true }), dies({ ask, approved: false })], [1, 0]);
});

it('a worker gives up all agents of a tree; those with unread signals are unled at once', () => {
  const agents = [agentOf('root'), agentOf('told'), agentOf('theirs', { worker: 'w9' })];
  const unit = unitOf({ ...tree(...agents), told: { w1: ['told'] } });
  const parked = new Map([
    ['root', 70.5],
    ['told', 70],
  ]);
  releaseTree(unit, 'root', 'w1', parked);
  assert.deepEqual(
    agents.map(({ id }) => unit.agent(id)?.worker),
    [null, null, 'w9'],
  );
  assert.deepEqual(rows(unit, 'unled'), [
    { root_id: 'root', agent_id: 'root', due_at: 71 },
    { root_id: 'root', agent_id: 'told', due_at: NOW + AT_ONCE_MS },
  ]);
});

it('a wait whose agents have all come to rest is unled at once; while one works, its agent stays parked', () => {
  const waits = (...from: readonly string[]) =>
    JSON.stringify(executing({ call: call('c1'), wait: { from, deadline: 70 } }));
  const rests = { status: 'idle', worker: 'w9' } as const;
  const agents = [
    agentOf('root'),
    agentOf('kid'),
    agentOf('rests', rests),
    agentOf('works', { worker: 'w9' }),
  ];
  const state = { root: waits('rests', 'works'), kid: waits('rests') };
  const unit = unitOf({ ...tree(...agents), state });
  const parked = new Map([
    ['root', 70],
    ['kid', 70],
  ]);
  releaseTree(unit, 'root', 'w1', parked);
  assert.deepEqual(
    rows(unit, 'unled').map(({ agent_id, due_at }) => [agent_id, due_at]),
    [
      ['root', 70],
      ['kid', NOW + AT_ONCE_MS],
    ],
  );
});

it('a worker that leaves frees its agents unchanged; one taken for dead is fenced out, and deaths are counted', () => {
  const agents = [agentOf('root', { status: 'executing' }), agentOf('kid', { worker: 'w9' })];
  const left = unitOf(tree(...agents));
  assert.equal(removeWorker(left, 'w1', null), false);
  const seen = (unit: typeof left, id: string) => {
    const { worker, epoch, deaths } = unit.agent(id) as AgentFacts;
    return [worker, epoch, deaths];
  };
  assert.deepEqual(
    [seen(left, 'root'), seen(left, 'kid')],
    [
      [null, 1, 0],
      ['w9', 1, 0],
    ],
  );
  assert.deepEqual(left.changes().wiped, [
    { table: 'signals', column: 'worker', value: 'w1' },
    { table: 'channel_seats', column: 'worker', value: 'w1' },
    { table: 'workers', column: 'id', value: 'w1' },
  ]);
  const dead = unitOf(tree(...agents));
  assert.equal(removeWorker(dead, 'w1', NONE), false);
  assert.deepEqual(seen(dead, 'root'), [null, 2, 1]);
  const unledSince = (unit: typeof left) =>
    rows(unit, 'unled').map(({ due_at }) => (due_at as number) - AT_ONCE_MS);
  assert.deepEqual(unledSince(dead), [NOW], 'nothing is known of its lease');
  const expired = unitOf({ ...tree(...agents), worker: { w1: { leased: false, expires_at: NOW - 400 } } });
  assert.equal(removeWorker(expired, 'w1', NONE), false);
  assert.deepEqual(unledSince(expired), [NOW - 400], 'since its lease ended');
  const alive = unitOf({ ...tree(...agents), worker: { w1: LEASED } });
  assert.equal(removeWorker(alive, 'w1', NONE), false);
  assert.deepEqual(alive.changes(), { rows: new Map(), wiped: [], notices: [] });
  const many = unitOf({ held: { w1: Array.from({ length: FREE_BATCH }, (_, at) => `a${at}`) } });
  assert.equal(removeWorker(many, 'w1', null), true);
  assert.deepEqual(many.changes().wiped, []);
});

it('an agent of a served tree with something to do and no worker is unled, from its earliest due time', () => {
  const sought = (over: Partial<AgentFacts>, entries: Entries = {}, parked?: ReadonlyMap<string, number>) => {
    const unit = unitOf({ tree: { root: treeOf() }, ...entries });
    enterUnled(unit, [agentOf('a', { worker: null, ...over })], parked);
    return rows(unit, 'unled').map(({ due_at }) => due_at);
  };
  assert.deepEqual(sought({}), [NOW + AT_ONCE_MS]);
  assert.deepEqual(sought({ worker: 'w1' }), []);
  assert.deepEqual(sought({ status: 'killed' }), []);
  assert.deepEqual(sought({}, { tree: { root: treeOf({ served: false }) } }), []);
  assert.deepEqual(sought({}, { tree: {} }), []);
  assert.deepEqual(sought({ status: 'idle' }), []);
  const mail = { pending: { a: [{ id: 'm', kind: 'letter' as const, number: 1 }] } };
  assert.deepEqual(sought({ status: 'idle' }, mail), [NOW + AT_ONCE_MS]);
  const parked = (due: number) => new Map([['a', due]]);
  assert.deepEqual(sought({}, {}, parked(80)), [80]);
  assert.deepEqual(sought({}, {}, parked(Number.POSITIVE_INFINITY)), []);
  assert.deepEqual(sought({}, mail, parked(80)), [NOW + AT_ONCE_MS]);
  // Due times only move earlier.
  const known = (due: number, unled: number) => sought({}, { unled: { a: unled } }, parked(due));
  assert.deepEqual([known(80, 81), known(80, 80), known(80, 79)], [[80], [], []]);
});

it('an agent that takes a step without a worker is unled after it only if something is left to do', () => {
  const after = (state: Step['state']) => {
    const unit = unitOf(tree(agentOf('root', { worker: null })));
    admit(unit, { step: stepOf('root', { state }), token: null });
    return changes(unit, 'unled').map(({ type }) => type);
  };
  assert.deepEqual(after({ type: 'idle' }), ['delete']);
  assert.deepEqual(after(executing(call('c1'))), ['replace']);
});

it('a tree that becomes served enters its unled agents, once', () => {
  const agents = [agentOf('root', { worker: null }), agentOf('kid')];
  const open = (over: object) => {
    const unit = unitOf({ ...tree(...agents), tree: { root: treeOf(over) } });
    markServed(unit, 'root');
    return [unit.tree('root')?.served, rows(unit, 'unled').length, rows(unit, 'trees').length];
  };
  assert.deepEqual(open({ served: false }), [true, 1, 1]);
  assert.deepEqual(open({ served: true }), [true, 0, 0]);
  const missing = unitOf();
  markServed(missing, 'root');
  assert.equal(missing.changes().rows.size, 0);
});

it('the leader of an agent gets a signal of what reached it, unless it is the writer', () => {
  const told = (worker: string | null, writer: string | null) => {
    const unit = unitOf();
    signal(unit, agentOf('a', { worker }), writer, 'mail');
    return [rows(unit, 'signals').length, unit.changes().notices];
  };
  const notice = { channel: 'coppice_worker_w1', text: '' };
  assert.deepEqual(told('w1', 'w2'), [1, [notice]]);
  assert.deepEqual(told('w1', null), [1, [notice]]);
  assert.deepEqual(told('w1', 'w1'), [0, []]);
  assert.deepEqual(told(null, 'w1'), [0, []]);
});
