/** Proves that a person who has answered one question answers the next ones as fast as they can be read, and that nothing else answers them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dueAnswer, REPEAT_MS, replacedIn, SEEN_MS } from '../../../src/tui/state/question-in-view.ts';
import { EMPTY_UI, type UiState } from '../../../src/tui/state/ui-state.ts';
import { reduce } from '../../../src/tui/state/ui-store.ts';
import { agent, ask, seen, T0 } from '../ui-fixture.ts';

const FRAME_MS = 100;
/** From an answer to the ledger that has it. */
const COMMIT_MS = 340;

/** Types `text` into a window with four questions, `gaps[n]` ms before each key, and waits two seconds. */
function typed(text: string, gaps: readonly number[]): { answered: string[]; draft: string } {
  let asks = ['a', 'b', 'c', 'd'].map((id) => ask(id, 'child'));
  let state: UiState = [
    seen(agent('main', null)),
    seen(agent('child', 'main')),
    { type: 'asks', asks } as const,
  ].reduce(reduce, { ...EMPTY_UI, now: T0, typed_at: T0 - 9_000 });
  let draft = '';
  const committed: { id: string; at: number }[] = [];
  const answered: string[] = [];
  const settle = () => {
    const answer = dueAnswer(state, draft);
    if (answer === null) return;
    assert.ok(state.now - (state.question?.since ?? state.now) >= SEEN_MS, 'it could be read');
    const ids = [state.asks[0]?.id ?? ''];
    answered.push(`${answer} ${ids[0]}`);
    draft = '';
    state = reduce(reduce(state, { type: 'saying', text: null }), { type: 'answered', ids });
    committed.push({ id: ids[0] as string, at: state.now + COMMIT_MS });
  };
  let at = T0;
  const ends = [...text].map((_, index) => gaps.slice(0, index + 1).reduce((sum, gap) => sum + gap, T0));
  const end = (ends.at(-1) ?? T0) + 2_000;
  for (let next = 0; at <= end; at += 1) {
    state = reduce(state, { type: 'tick', now: at });
    // The ledger is read whenever anything happens, also before it has an answer.
    if (at % 130 === 0) {
      asks = asks.filter(({ id }) => !committed.some((one) => one.id === id && at >= one.at));
      state = reduce(state, { type: 'asks', asks });
    }
    if (at % FRAME_MS === 0) settle();
    for (; at === ends[next]; next += 1) {
      const key = text[next] as string;
      const alone = draft === '' ? key : null;
      const again = draft === key.repeat(draft.length) ? key : null;
      state = reduce(state, { type: 'typed', alone, again });
      if (alone === null || !state.armed || state.question === null) draft += key;
      settle();
    }
  }
  return { answered, draft };
}

it('a question that somebody else answers, and another that takes its place, end that', () => {
  const asks = ['a', 'b', 'c'].map((id) => ask(id, 'child'));
  const called = [
    seen(agent('main', null)),
    seen(agent('child', 'main')),
    { type: 'asks', asks } as const,
    { type: 'question', shown: true } as const,
  ].reduce(reduce, { ...EMPTY_UI, now: T0, typed_at: T0 - 9_000 });
  assert.equal(called.armed, true);
  const own = reduce(reduce(called, { type: 'answered', ids: ['a'] }), { type: 'asks', asks: asks.slice(1) });
  assert.equal(own.armed, true);
  const others = reduce(called, { type: 'asks', asks: asks.slice(1) });
  assert.deepEqual([others.armed, others.asks[0]?.id, replacedIn(called, others)?.id], [false, 'b', 'a']);
  assert.equal(replacedIn(called, reduce(called, { type: 'asks', asks: asks.slice(0, 2) })), null);
  // What would have answered at once is text now.
  const typed = reduce(reduce(others, { type: 'tick', now: T0 + SEEN_MS + 10 }), {
    type: 'typed',
    alone: 'y',
    again: null,
  });
  assert.equal(dueAnswer({ ...typed, now: T0 + 9_000 }, 'y'), null);
});

const every = (gap: number, first = 1_000) => [first, gap, gap, gap, gap, gap];

const ALL = ['allow a', 'allow b', 'allow c', 'allow d'];

it('y y y y answers four questions at any pauses of a hand, and writes nothing', () => {
  for (let gap = REPEAT_MS; gap <= 3_000; gap += 50)
    assert.deepEqual(typed('yyyy', every(gap)), { answered: ALL, draft: '' }, `${gap} ms`);
  let seed = 5;
  for (let round = 0; round < 100; round += 1) {
    const gaps = Array.from({ length: 3 }, () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return REPEAT_MS + (seed % 2_800);
    });
    assert.deepEqual(typed('yyyy', [1_000, ...gaps]), { answered: ALL, draft: '' }, `${gaps} ms`);
  }
  for (const gap of [900, 1_500])
    assert.deepEqual(typed('ynny', every(gap)).answered, ['allow a', 'deny b', 'deny c', 'allow d']);
});

it('a letter that came early counts only once its question was in sight for long enough, and another key stops it', () => {
  const after = (text: string, gaps: readonly number[]) => typed(text, gaps).answered;
  assert.deepEqual(after('yy', [1_000, 300]), ['allow a', 'allow b']);
  for (const gap of [250, 690]) {
    assert.deepEqual(after('yyn', [1_000, 300, gap]), ['allow a', 'deny b'], `${gap}`);
    assert.deepEqual(typed('yyx', [1_000, 300, gap]), { answered: ['allow a'], draft: 'x' }, `${gap}`);
  }
});

it('a key that is held down answers once', () => {
  for (const delay of [30, 100, 190, 250, 500])
    for (const repeat of [30, 90, 150]) {
      const held = typed('y'.repeat(60), [1_000, delay, ...Array.from({ length: 58 }, () => repeat)]);
      assert.deepEqual(held, { answered: ['allow a'], draft: '' }, `${delay} ${repeat}`);
    }
});

it('another key disarms the letters: what follows is text, at any pauses', () => {
  let seed = 7;
  const random = (most: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % most;
  };
  for (let round = 0; round < 60; round += 1) {
    const text = `y${'tabcdefgx'[round % 9]}ynyn`;
    const gaps = [1_000, 1_200 + random(2_000), ...Array.from({ length: 4 }, () => 20 + random(3_000))];
    const { answered, draft } = typed(text, gaps);
    assert.deepEqual([answered, draft], [['allow a'], text.slice(1)], JSON.stringify(gaps));
  }
});

it('the second letter of a word confirms nothing', () => {
  for (const text of ['yes', 'ny', 'mmm', 'ssh', 'ppp', 'vv'])
    for (const gap of [30, 250, 690]) {
      const { answered, draft } = typed(text, every(gap));
      assert.deepEqual([answered, draft], [[], text], `${text} ${gap}`);
    }
});
