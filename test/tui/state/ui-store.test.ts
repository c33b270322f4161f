// Proves what the UI shows after each kind of event: switching, killing, reaping, mail, drafts, captures, questions.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { descendantsOf } from '../../../src/records/agent/agent.ts';
import type { AgentState } from '../../../src/records/agent/state.ts';
import { findAgent } from '../../../src/tui/commands/agents/find-agent.ts';
import { idleAgents } from '../../../src/tui/state/agents/family.ts';
import type { UiEvent } from '../../../src/tui/state/ui-event.ts';
import { EMPTY_UI, paneOf, type UiState } from '../../../src/tui/state/ui-state.ts';
import { needsHistory } from '../../../src/tui/state/ui-store.ts';
import {
  after,
  agent,
  family,
  letter,
  says,
  seen,
  sent,
  T0,
  THINKING,
  told,
  tree,
  user,
} from '../ui-fixture.ts';

const DEAD: AgentState = { type: 'killed', by: 'you' };
const go = (to: 'parent' | 'child' | 'previous' | 'next'): UiEvent => ({ type: 'go', to });
const visit = (agent_id: string): UiEvent => ({ type: 'visit', agent_id });
const killed = (ids: string[], by = 'you'): UiEvent => ({
  type: 'runtime',
  event: { type: 'killed', ids, by },
});
const dies = (id: string, parent: string): UiEvent => seen(agent(id, parent, { state: DEAD }));

describe('the first prompt', () => {
  it('brings its agent into view with a complete scrollback', () => {
    const state = after(
      EMPTY_UI,
      seen(agent('main', null, { last_seq: 1 }), true),
      told(user('main', 1, 'hi')),
    );
    assert.equal(state.view, 'main');
    assert.equal(state.root_id, 'main');
    assert.equal(needsHistory(state), null);
    assert.equal(paneOf(state, 'main').entries.length, 1);
  });

  it('shows nothing of other trees', () => {
    const other = agent('other', null, { root_id: 'other' });
    assert.equal(after(family(), seen(other, true)).agents.has('other'), false);
  });
});

it('lists an opened tree in order of creation, whatever was known of it before', () => {
  const late = agent('late', 'main', { created_at: T0 + 2 });
  const agents = [agent('main', null), agent('early', 'main', { created_at: T0 + 1 }), late];
  const state = after(after(EMPTY_UI, seen(late)), { type: 'opened', root_id: 'main', agents });
  assert.deepEqual(
    [...state.agents.values()].map(({ id }) => id),
    ['main', 'early', 'late'],
  );
});

it('opens a tree between the two keys of a chord, or the two of Ctrl-C, without losing the first', () => {
  const open: UiEvent = { type: 'opened', root_id: null, agents: [] };
  assert.equal(after(EMPTY_UI, { type: 'leader', on: true }, open).leader, true);
  const pressed = after(EMPTY_UI, { type: 'tick', now: T0 }, { type: 'leaving' });
  assert.equal(after(pressed, open).leaving, T0);
});

describe('switching', () => {
  it('goes to parent and child, and cycles through siblings', () => {
    const views = (...events: UiEvent[]): string | null => after(family(), ...events).view;
    assert.equal(views(go('child')), 'reader');
    assert.equal(views(go('child'), go('child')), 'grep');
    assert.equal(views(go('child'), go('child'), go('parent')), 'reader');
    assert.equal(views(go('child'), go('next')), 'analyzer');
    assert.equal(views(go('child'), go('next'), go('next')), 'reader');
    assert.equal(views(go('child'), go('previous')), 'analyzer');
  });

  it('stays where there is no such agent', () => {
    assert.equal(after(family(), go('parent')).view, 'main');
    assert.equal(after(family(), go('next')).view, 'main');
    assert.equal(after(family(), visit('grep'), go('next'), go('child')).view, 'grep');
    assert.equal(after(family(), visit('nobody'), { type: 'slot', slot: 9 }).view, 'main');
  });

  it('goes by slot; slots are assigned at creation and stay', () => {
    const state = after(
      family(),
      dies('reader', 'main'),
      seen(agent('late', 'main', { created_at: T0 + 9 }), true),
    );
    assert.deepEqual(Object.fromEntries(state.slots), { reader: 1, analyzer: 2, grep: 3, late: 4 });
    assert.equal(after(state, { type: 'slot', slot: 2 }).view, 'analyzer');
    assert.equal(after(state, { type: 'slot', slot: 2 }, { type: 'slot', slot: 0 }).view, 'main');
  });

  it('assigns at most nine slots, and a free one to the next agent', () => {
    const many = Array.from({ length: 12 }, (_, index) =>
      agent(`a${index}`, 'main', { created_at: T0 + index + 1 }),
    );
    const state = tree([agent('main', null), ...many]);
    assert.equal(state.slots.size, 9);
    assert.equal(state.slots.get('a9'), undefined);
    const freed = after(state, { type: 'reaped', ids: ['a3'] }, seen(agent('new', 'main'), true));
    assert.equal(freed.slots.get('new'), 4);
    assert.equal(freed.slots.get('a4'), 5);
  });

  it('pins an agent to a slot and swaps with the agent that had it', () => {
    const state = after(family(), { type: 'pin', agent_id: 'grep', slot: 1 });
    assert.deepEqual(Object.fromEntries(state.slots), { reader: 3, analyzer: 2, grep: 1 });
    assert.equal(after(state, { type: 'pin', agent_id: 'main', slot: 1 }), state);
  });

  it('clears the unseen mark', () => {
    const state = after(family(), told(says('reader', 1, 'done')), told(user('reader', 2, 'x', 'mail')));
    assert.equal(paneOf(state, 'reader').unseen, 1);
    assert.equal(paneOf(after(state, visit('reader')), 'reader').unseen, 0);
    assert.equal(paneOf(after(state, told(says('main', 1, 'x'))), 'main').unseen, 0);
  });
});

it('knows the descendants of an agent in order of creation', () => {
  const below = (id: string): string[] => descendantsOf(id, family().agents.values()).map((one) => one.id);
  assert.deepEqual(below('main'), ['reader', 'analyzer', 'grep']);
  assert.deepEqual(below('reader'), ['grep']);
  assert.deepEqual(below('grep'), []);
});

describe('names', () => {
  it('finds by name, slot and prefix of the UUID', () => {
    const state = tree([
      agent('main', null),
      agent('a1b2c3d4-1', 'main', { name: 'twin', created_at: T0 + 1 }),
      agent('a1b2ffff-2', 'main', { name: 'twin', created_at: T0 + 2, state: DEAD }),
    ]);
    const id = (reference: string): string => {
      const found = findAgent(state, reference);
      return found.found === 'one' ? found.agent.id : found.found;
    };
    assert.equal(id('main'), 'main');
    assert.equal(id('0'), 'main');
    assert.equal(id('2'), 'a1b2ffff-2');
    assert.equal(id('a1b2c'), 'a1b2c3d4-1');
    assert.equal(id('a1b'), 'none');
    // Of two agents with the same name or beginning of the id, the living one.
    assert.equal(id('a1b2'), 'a1b2c3d4-1');
    assert.equal(id('twin'), 'a1b2c3d4-1');
    assert.equal(id('tvin'), 'none');
  });
});

it('finds agents beyond the slots by their place', () => {
  const children = Array.from({ length: 60 }, (_, index) =>
    agent(`child-${index + 1}`, 'main', { created_at: T0 + index }),
  );
  const found = (reference: string) => findAgent(tree([agent('main', null), ...children]), reference);
  const name = (reference: string) => {
    const one = found(reference);
    return one.found === 'one' ? one.agent.name : one.found;
  };
  assert.deepEqual(['0', '9', '10', '12', '60', '61'].map(name), [
    'main',
    'child-9',
    'child-10',
    'child-12',
    'child-60',
    'none',
  ]);
});

it('counts agents as idle in whose branches nobody works or captures', () => {
  const idle = (state: UiState) => idleAgents(state).map(({ id }) => id);
  assert.deepEqual(idle(family()), ['reader', 'analyzer', 'grep']);
  const works = after(family(), seen(agent('grep', 'reader', { created_at: T0 + 3, state: THINKING })));
  assert.deepEqual(idle(works), ['analyzer']);
  const ended = after(family(), seen(agent('grep', 'reader', { created_at: T0 + 3, state: DEAD })));
  assert.deepEqual(idle(ended), ['reader', 'analyzer']);
  const captures = after(family(), {
    type: 'captured',
    agent_id: 'grep',
    content: { text: '', mark: 'begun' },
  });
  assert.deepEqual(idle(captures), ['analyzer']);
});

describe('a kill', () => {
  const dead = [dies('reader', 'main'), dies('grep', 'reader')];

  it('by a person switches from the agent in view to its parent', () => {
    assert.equal(after(family(), visit('reader'), ...dead, killed(['reader', 'grep'])).view, 'main');
    assert.equal(after(family(), visit('grep'), dies('grep', 'reader'), killed(['grep'])).view, 'reader');
  });

  it('skips ancestors that are killed too', () => {
    assert.equal(after(family(), visit('grep'), ...dead, killed(['reader', 'grep'])).view, 'main');
  });

  it('leaves any other view unchanged', () => {
    assert.equal(after(family(), visit('analyzer'), ...dead, killed(['reader', 'grep'])).view, 'analyzer');
    assert.equal(after(family(), ...dead, killed(['reader', 'grep'])).view, 'main');
  });

  it('by an agent does not change the view', () => {
    assert.equal(
      after(family(), visit('reader'), ...dead, killed(['reader', 'grep'], 'main')).view,
      'reader',
    );
  });

  it('of the root stays there', () => {
    const all = ['main', 'reader', 'analyzer', 'grep'];
    assert.equal(after(family(), killed(all)).view, 'main');
  });

  it('keeps dead agents in place, where they can be visited', () => {
    const state = after(family(), ...dead, killed(['reader', 'grep']));
    assert.deepEqual(
      [...state.agents.values()].map(({ id }) => id),
      ['main', 'reader', 'analyzer', 'grep'],
    );
    assert.equal(after(state, go('child')).view, 'reader');
    assert.equal(after(state, { type: 'slot', slot: 3 }).view, 'grep');
  });

  it('closes a confirmation for an agent that is already dead', () => {
    const asking: UiEvent = {
      type: 'overlay',
      overlay: { type: 'kill', agent_ids: ['grep'], descendants: [] },
    };
    assert.equal(after(family(), asking, killed(['reader', 'grep'])).overlay, null);
    assert.notEqual(after(family(), asking, killed(['analyzer'])).overlay, null);
  });
});

describe('reaping', () => {
  const reaped = (...ids: string[]): UiEvent => ({ type: 'reaped', ids });

  it('goes to the first living agent and removes the dead', () => {
    const state = after(family(), visit('grep'), dies('grep', 'reader'), reaped('grep'));
    assert.equal(state.view, 'main');
    assert.deepEqual(
      [...state.agents.values()].map(({ id }) => id),
      ['main', 'reader', 'analyzer'],
    );
    assert.equal(state.panes.has('grep'), false);
    assert.equal(after(family(), visit('analyzer'), dies('grep', 'reader'), reaped('grep')).view, 'main');
  });

  it('changes nothing when no agent is dead', () => {
    const state = after(family(), visit('grep'));
    assert.equal(after(state, reaped()), state);
    assert.equal(after(state, reaped('nobody')), state);
  });

  it('switches from a living child of a reaped agent', () => {
    const ended = agent('reader', 'main', { state: { type: 'completed', result: 'x' } });
    const state = after(family(), visit('grep'), seen(ended), reaped('reader'));
    assert.equal(state.view, 'main');
    assert.equal(state.agents.has('grep'), true);
    assert.equal(after(state, visit('grep'), go('parent')).view, 'grep');
  });

  it('may also come from a second terminal', () => {
    const state = after(
      family(),
      visit('reader'),
      seen(agent('reader', 'main', { state: DEAD, reaped_at: T0 })),
    );
    assert.equal(state.agents.has('reader'), false);
    assert.equal(state.view, 'main');
  });

  it('keeps the root when no agent lives', () => {
    const state = after(
      family(),
      seen(agent('main', null, { state: DEAD })),
      reaped('reader', 'analyzer', 'grep'),
    );
    assert.deepEqual(
      [...state.agents.values()].map(({ id }) => id),
      ['main'],
    );
    assert.equal(state.view, 'main');
  });
});

it('removes a deleted conversation, even the one in view', () => {
  const removed: UiEvent = { type: 'runtime', event: { type: 'removed', ids: ['grep'] } };
  const state = after(family(), visit('grep'), removed);
  assert.equal(state.view, 'reader');
  assert.equal(state.agents.has('grep'), false);
});

it('says when the ledger is unreachable, and when it is back', () => {
  const ledger = (reachable: boolean): UiEvent => ({
    type: 'runtime',
    event: { type: 'ledger', reachable, text: 'no connection' },
  });
  assert.equal(after(family(), ledger(false)).trouble, 'no connection');
  assert.equal(after(family(), ledger(false), ledger(true)).trouble, null);
});

it('does not mutate the given state, and shares what is unchanged', () => {
  const many = Array.from({ length: 500 }, (_, index) =>
    agent(`a${index}`, 'main', { created_at: T0 + index + 1 }),
  );
  const state = tree([agent('main', null), ...many]);
  const next = after(state, told(says('a7', 1, 'hi')), sent(letter('a8', 'a9')));
  assert.equal(paneOf(state, 'a7').unseen, 0);
  assert.equal(paneOf(next, 'a7').unseen, 1);
  assert.equal(next.agents, state.agents);
  for (const { id } of many)
    if (!['a7', 'a8', 'a9'].includes(id)) assert.equal(next.panes.get(id), state.panes.get(id));
});
