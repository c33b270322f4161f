// Proves how a scrollback evolves: messages joined in order, each once; streaming text; typed text, captures and questions.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentState } from '../../src/records/agent/state.ts';
import { FORK_PLACEHOLDER } from '../../src/records/conversation/prompt.ts';
import type { UiEvent } from '../../src/tui/state/ui-event.ts';
import { EMPTY_UI, paneOf } from '../../src/tui/state/ui-state.ts';
import { needsHistory } from '../../src/tui/state/ui-store.ts';
import {
  after,
  agent,
  ask,
  call,
  executing,
  family,
  IDLE,
  result,
  says,
  seen,
  story,
  T0,
  THINKING,
  told,
  user,
} from './ui-fixture.ts';

const DEAD: AgentState = { type: 'killed', by: 'you' };
const visit = (agent_id: string): UiEvent => ({ type: 'visit', agent_id });

describe('the scrollback', () => {
  it('joins calls with their results in the order of the calls, even if two share an id', () => {
    const twice = says(
      'main',
      1,
      'I look.',
      call('x', 'bash', { command: 'a' }),
      call('x', 'bash', { command: 'b' }),
    );
    const state = after(
      EMPTY_UI,
      seen(agent('main', null), true),
      told(twice),
      told(result('main', 2, 'x', 'bash', 'first')),
      told(result('main', 3, 'x', 'bash', 'second')),
    );
    const outputs = paneOf(state, 'main').entries.map((one) =>
      one.type === 'call' ? one.result?.output : one.type,
    );
    assert.deepEqual(outputs, ['message', 'first', 'second']);
  });

  it('marks what a fork inherited, and gives its open calls the placeholder result', () => {
    const messages = [
      user('main', 1, 'go'),
      says('main', 2, '', call('f', 'fork', { name: 'reader' })),
      user('reader', 3, 'You are now "reader"', 'identity'),
      says('reader', 4, 'ok'),
    ];
    const state = after(family(), visit('reader'), {
      type: 'history',
      agent_id: 'reader',
      messages,
      mail: [],
    });
    const { entries } = paneOf(state, 'reader');
    assert.deepEqual(
      entries.map((one) => one.type !== 'say' && one.inherited),
      [true, true, false, false],
    );
    const fork = entries[1];
    assert.equal(fork?.type === 'call' && fork.result?.output, FORK_PLACEHOLDER);
  });

  it('knows how much its newest request took, unless a newer one was seen', () => {
    const history = { type: 'history', agent_id: 'reader', messages: [], mail: [] } as const;
    const read = after(family(), visit('reader'), { ...history, used: 500 });
    assert.equal(paneOf(read, 'reader').request_tokens, 500);
    assert.equal(paneOf(after(read, { ...history, used: 700 }), 'reader').request_tokens, 500);
  });

  it('adds what arrives while its history is read once, in its place', () => {
    const opened = after(family(), visit('reader'));
    assert.equal(needsHistory(opened), 'reader');
    const state = after(
      opened,
      told(says('reader', 2, 'two')),
      { type: 'say', agent_id: 'reader', text: 'sent', tone: 'plain' },
      told(says('reader', 3, 'three')),
      {
        type: 'history',
        agent_id: 'reader',
        messages: [user('reader', 1, 'one'), says('reader', 2, 'two')],
        mail: [],
      },
      told(says('reader', 3, 'three')),
      told(says('reader', 4, 'four')),
    );
    assert.equal(needsHistory(state), null);
    const { entries } = paneOf(state, 'reader');
    assert.deepEqual(
      entries.map((one) => one.seq),
      [0, 1, 2, 3, 4],
    );
  });

  it('is read again when something was appended without a notification', () => {
    const whole = after(EMPTY_UI, seen(agent('main', null), true), told(user('main', 1, 'hi')));
    assert.equal(needsHistory(after(whole, seen(agent('main', null, { last_seq: 1 })))), null);
    assert.equal(needsHistory(after(whole, seen(agent('main', null, { last_seq: 2, state: DEAD })))), 'main');
    assert.equal(needsHistory(after(whole, told(says('main', 3, 'gap')))), 'main');
  });

  it('keeps messages of the program in place when it is read again', () => {
    const state = after(
      EMPTY_UI,
      seen(agent('main', null), true),
      told(user('main', 1, 'hi')),
      { type: 'say', agent_id: 'main', text: 'use /capture first', tone: 'bad' },
      told(says('main', 2, 'hello')),
      {
        type: 'history',
        agent_id: 'main',
        messages: [user('main', 1, 'hi'), says('main', 2, 'hello')],
        mail: [],
      },
    );
    assert.deepEqual(
      paneOf(state, 'main').entries.map((one) => one.type),
      ['message', 'say', 'message'],
    );
  });

  it('opens one entry and leaves the others folded', () => {
    const state = after(EMPTY_UI, seen(agent('main', null), true), told(user('main', 1, 'x', 'system')));
    const opened = after(state, { type: 'fold', agent_id: 'main', index: 0, opened: true });
    const [entry] = paneOf(opened, 'main').entries;
    assert.equal(entry?.type === 'message' && entry.opened, true);
    assert.equal(after(state, { type: 'fold', agent_id: 'main', index: 7, opened: true }), state);
  });
});

describe('what is being said', () => {
  const text = (said: string): UiEvent => ({
    type: 'runtime',
    event: { type: 'delta', agent_id: 'reader', delta: { type: 'text', text: said } },
  });
  const restart: UiEvent = {
    type: 'runtime',
    event: { type: 'delta', agent_id: 'reader', delta: { type: 'restart', reason: 'broke' } },
  };

  it('grows, restarts with each request, and ends with the message', () => {
    assert.equal(paneOf(after(family(), text('a'), text('b')), 'reader').streaming, 'ab');
    assert.equal(paneOf(after(family(), text('a'), restart, text('c')), 'reader').streaming, 'c');
    assert.equal(paneOf(after(family(), text('a'), told(says('reader', 1, 'a'))), 'reader').streaming, '');
  });

  it('ends when the turn is stopped', () => {
    const thinking = seen(agent('reader', 'main', { state: THINKING }));
    const stopped = seen(agent('reader', 'main', { state: IDLE }));
    assert.equal(paneOf(after(family(), thinking, text('a'), thinking), 'reader').streaming, 'a');
    assert.equal(paneOf(after(family(), thinking, text('a'), stopped), 'reader').streaming, '');
  });

  it('keeps the newest output of a call until its result', () => {
    const prints = (said: string): UiEvent => ({
      type: 'runtime',
      event: { type: 'output', agent_id: 'main', call_id: 'b', text: said },
    });
    const running = seen(agent('main', null, { state: executing([{ call: call('b', 'bash') }]) }));
    const state = after(story(), running, prints('x'.repeat(5_000)), prints('end'));
    const kept = paneOf(state, 'main').output.get('b') ?? '';
    assert.equal(kept.length, 4_000);
    assert.ok(kept.endsWith('end'));
    const done = after(
      state,
      { type: 'history', agent_id: 'main', messages: [], mail: [] },
      told(result('main', 1, 'b', 'bash', 'x')),
    );
    assert.equal(paneOf(done, 'main').output.size, 0);
  });
});

it('keeps a capture for each agent', () => {
  const state = after(
    family(),
    { type: 'captured', agent_id: 'main', content: { text: '', mark: 'begun' } },
    { type: 'captured', agent_id: 'main', content: { text: 'one\ntwo' } },
    { type: 'captured', agent_id: 'reader', content: { text: 'not on' } },
    visit('reader'),
    visit('main'),
  );
  assert.deepEqual(paneOf(state, 'main').capture, ['one', 'two']);
  assert.equal(paneOf(state, 'reader').capture, null);
  const ended = after(state, { type: 'captured', agent_id: 'main', content: { text: '', mark: 'ended' } });
  assert.equal(paneOf(ended, 'main').capture, null);
  assert.deepEqual(
    paneOf(after(state, { type: 'captured', agent_id: 'main', content: { text: '', mark: 'begun' } }), 'main')
      .capture,
    ['one', 'two'],
  );
});

describe('questions', () => {
  const asks = (...ids: string[]): UiEvent => ({
    type: 'asks',
    asks: ids.map((id, index) => ask(id, 'grep', { asked_at: T0 - index })),
  });
  const tick = (seconds: number): UiEvent => ({ type: 'tick', now: T0 + seconds * 1000 });

  it('come up by themselves, first in, first out', () => {
    const state = after(family(), tick(1), asks('a'), tick(2), asks('b', 'a'));
    assert.deepEqual(
      state.asks.map((one) => one.id),
      ['a', 'b'],
    );
    assert.deepEqual(state.question, { since: T0 + 1000, saying: null, grant: null, held: null, page: 0 });
  });

  it('count as newly visible when the one before is gone', () => {
    const state = after(family(), tick(1), asks('a', 'b'), tick(5), asks('a'));
    assert.deepEqual(state.question, { since: T0 + 5000, saying: null, grant: null, held: null, page: 0 });
    assert.equal(after(state, asks()).question, null);
  });

  it('stay hidden when they were postponed, until another comes', () => {
    const later = after(family(), asks('a'), { type: 'question', shown: false });
    assert.equal(later.question, null);
    assert.equal(after(later, asks('a')).question, null);
    assert.notEqual(after(later, asks('a', 'b')).question, null);
  });

  it('wait behind an open list, and count as visible only when it is closed', () => {
    const open = after(family(), { type: 'overlay', overlay: { type: 'keys' } }, asks('a'));
    assert.equal(open.overlay?.type, 'keys');
    const closed = after(open, tick(9), { type: 'overlay', overlay: null });
    assert.equal(closed.question?.since, T0 + 9000);
  });

  it('stay visible while the person visits other agents', () => {
    const away = after(
      family(),
      asks('a'),
      { type: 'visit', agent_id: 'grep' },
      { type: 'go', to: 'parent' },
    );
    assert.notEqual(away.question, null);
    assert.equal(away.put_off.size, 0);
  });

  it('disappear when they were answered', () => {
    const answered = { ...ask('a', 'grep'), verdict: 'allow' as const };
    assert.equal(after(family(), { type: 'asks', asks: [answered] }).asks.length, 0);
  });
});
