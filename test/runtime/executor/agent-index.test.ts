// Proves how a process looks up agents: by name, id or id prefix, who lives and works below an agent, and that forgotten or deleted agents are not found.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import { AgentIndex } from '../../../src/runtime/executor/agent-index.ts';

const IDLE: AgentState = { type: 'idle' };
const AT_WORK: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(1) };
const DEAD: AgentState = { type: 'killed', by: 'you' } as AgentState;

function agent(id: string, parent_id: string | null, over: Partial<Agent> = {}): Agent {
  const known = { root_id: 'root', name: id, epoch: 1, last_seq: 0, state: IDLE };
  return { id, parent_id, ...known, ...over } as Agent;
}

function forest(...agents: readonly Agent[]): AgentIndex {
  const made = new AgentIndex();
  for (const one of agents) made.set(one);
  return made;
}

const ids = (agents: readonly Agent[]) => agents.map(({ id }) => id);

it('finds an agent of the tree by name, id or prefix; of several, the living one', () => {
  const known = forest(
    agent('root', null),
    agent('abcd-1', 'root', { name: 'twin' }),
    agent('abcd-2', 'root', { name: 'twin', state: DEAD }),
    agent('abce-3', 'root', { name: 'pair' }),
    agent('abce-4', 'root', { name: 'pair' }),
    agent('fade-5', 'root', { name: 'gone', state: DEAD }),
    agent('beef-6', 'root', { name: 'abcd' }),
    agent('away', null, { root_id: 'away', name: 'twin' }),
  );
  const found = (text: string) => {
    const resolved = known.resolve(text, 'root');
    if (resolved.found === 'one') return resolved.agent.id;
    return resolved.found === 'many' ? ids(resolved.candidates) : resolved.found;
  };
  assert.equal(found('abcd-2'), 'abcd-2');
  assert.equal(found('twin'), 'abcd-1');
  assert.deepEqual(found('pair'), ['abce-3', 'abce-4']);
  assert.deepEqual([found('gone'), found('fade'), found('fad')], ['fade-5', 'fade-5', 'none']);
  // A text can be the prefix of one agent's id and the name of another agent.
  assert.deepEqual(found('abcd'), ['abcd-1', 'beef-6']);
  assert.deepEqual([found('away'), found('nobody')], ['none', 'none']);
});

it('of two agents of one name, each is found once the other is removed', () => {
  for (const [gone, left] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    const twins = ['a', 'b'].map((id) => agent(id, 'root', { name: 'twin' }));
    const known = forest(agent('root', null), ...twins);
    known.remove(gone);
    const found = known.resolve('twin', 'root');
    assert.equal(found.found === 'one' && found.agent.id, left);
  }
});

it('several dead agents are ambiguous', () => {
  const known = forest(
    agent('a', null, { name: 'x', state: DEAD }),
    agent('b', 'a', { name: 'x', state: DEAD }),
  );
  const two = known.resolve('x', 'root');
  assert.deepEqual(two.found === 'many' && ids(two.candidates), ['a', 'b']);
});

it('an outdated read changes nothing: fewer messages, an older lease, or a deleted conversation', () => {
  const known = forest(agent('root', null, { epoch: 2, last_seq: 5 }), agent('kid', 'root'));
  const old = (epoch: number, last_seq: number) => known.isOld(agent('root', null, { epoch, last_seq }));
  assert.deepEqual([old(2, 5), old(2, 6), old(3, 5)], [false, false, false]);
  assert.deepEqual([old(1, 9), old(2, 4)], [true, true]);
  assert.equal(known.isOld(agent('new', 'root')), false);
  assert.equal(known.remove('kid'), true);
  assert.deepEqual([known.isOld(agent('kid', 'root')), known.wasRemoved('kid')], [true, true]);
});

it('counts working agents of a tree, and living descendants', () => {
  const known = forest(agent('root', null, { state: AT_WORK }), agent('a', 'root'), agent('b', 'root'));
  assert.deepEqual([known.working('root'), known.livingChildren('root')], [1, 2]);
  known.set(agent('a', 'root', { state: AT_WORK }));
  assert.deepEqual([known.working('root'), known.livingChildren('root')], [2, 2]);
  known.set(agent('a', 'root', { state: AT_WORK, last_seq: 1 }));
  known.set(agent('b', 'root', { state: DEAD }));
  assert.deepEqual([known.working('root'), known.livingChildren('root')], [2, 1]);
  known.set(agent('b', 'root', { state: DEAD, last_seq: 1 }));
  assert.equal(known.livingChildren('root'), 1);
  assert.equal(known.remove('a'), true);
  assert.deepEqual([known.working('root'), known.livingChildren('root')], [1, 0]);
  assert.deepEqual([known.working('other'), known.livingChildren('b')], [0, 0]);
});

it('knows the ancestors and the living descendants of an agent', () => {
  const [root, dead] = [agent('root', null), agent('dead', 'root', { state: DEAD })];
  const [kid, grandkid] = [agent('kid', 'root'), agent('grandkid', 'kid')];
  const known = forest(root, dead, kid, grandkid, agent('hidden', 'dead'));
  assert.deepEqual(ids(known.lineage(grandkid)), ['grandkid', 'kid', 'root']);
  assert.deepEqual(ids(known.subtree(root)), ['root', 'kid', 'grandkid']);
  assert.deepEqual(ids(known.subtree(dead)), ['dead', 'hidden']);
  assert.deepEqual(ids(known.children('root')), ['dead', 'kid']);
  assert.deepEqual(ids(known.members('root')), ['root', 'dead', 'kid', 'grandkid', 'hidden']);
});

it('a deleted conversation is not found; one that others are forked from stays', () => {
  const known = forest(agent('root', null), agent('kid', 'root'), agent('grandkid', 'kid'));
  assert.deepEqual([known.remove('kid'), known.remove('nobody')], [false, false]);
  assert.equal(known.agent('kid')?.id, 'kid');
  assert.deepEqual([known.remove('grandkid'), known.remove('kid'), known.remove('kid')], [true, true, false]);
  assert.deepEqual([known.agent('kid'), known.resolve('kid', 'root')], [undefined, { found: 'none' }]);
  assert.deepEqual([ids(known.members('root')), ids(known.children('root'))], [['root'], []]);
});

it('sums of a tree that were read before the last commit do not replace those of the commit', () => {
  const known = forest(agent('root', null));
  const sums = (tokens: number, total: number) => known.setTree({ root_id: 'root', tokens, total } as never);
  sums(500, 3);
  for (const [tokens, total] of [
    [400, 3],
    [500, 2],
  ] as const)
    sums(tokens, total);
  assert.deepEqual([known.tree('root')?.tokens, known.tree('root')?.total], [500, 3]);
  sums(500, 4);
  assert.equal(known.tree('root')?.total, 4);
});

it('forgetting a tree removes all of it and keeps the others', () => {
  const known = forest(agent('root', null, { state: AT_WORK }), agent('kid', 'root'), agent('gone', 'kid'));
  known.set(agent('other', null, { root_id: 'other', state: AT_WORK }));
  known.set(agent('else', 'other', { root_id: 'other' }));
  for (const root_id of ['root', 'other']) known.setTree({ root_id, tokens: 0, total: 1 } as never);
  for (const id of ['gone', 'else']) known.remove(id);
  known.forget('root');
  assert.deepEqual([known.agent('root'), known.tree('root')], [undefined, undefined]);
  assert.deepEqual(
    [known.members('root'), known.children('root'), known.working('root'), known.livingChildren('root')],
    [[], [], 0, 0],
  );
  assert.deepEqual(known.resolve('kid', 'root'), { found: 'none' });
  assert.deepEqual([known.wasRemoved('gone'), known.wasRemoved('else')], [false, true]);
  assert.deepEqual([known.tree('other')?.root_id, known.working('other')], ['other', 1]);
  // After another takeover the tree is counted as before.
  known.set(agent('root', null, { state: AT_WORK }));
  known.set(agent('kid', 'root'));
  assert.deepEqual([known.working('root'), known.livingChildren('root')], [1, 1]);
});
