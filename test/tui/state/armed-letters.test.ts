/** Proves that a person who has answered one question answers the next ones as fast as they can be read, and that nothing else answers them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dueAnswer, REPEAT_MS, SEEN_MS } from '../../../src/tui/state/question-in-view.ts';
import { EMPTY_UI, type UiState } from '../../../src/tui/state/ui-state.ts';
import { reduce } from '../../../src/tui/state/ui-store.ts';
import { agent, ask, seen, T0 } from '../ui-fixture.ts';

const FRAME_MS = 100;
/** From an answer to the next question. */
const COMMIT_MS = 40;

/** Types `text` into a window with four questions, `gaps[n]` ms before each key, and waits two seconds. */
function typed(text: string, gaps: readonly number[]): { answered: string[]; draft: string } {
  let asks = ['a', 'b', 'c', 'd'].map((id) => ask(id, 'child'));
  let state: UiState = [
    seen(agent('main', null)),
    seen(agent('child', 'main')),
    { type: 'asks', asks } as const,
  ].reduce(reduce, { ...EMPTY_UI, now: T0, typed_at: T0 - 9_000 });
  let draft = '';
  let gone_at: number | null = null;
  const answered: string[] = [];
  const settle = () => {
    const answer = dueAnswer(state, draft);
    if (answer === null) return;
    answered.push(`${answer} ${asks[0]?.id}`);
    draft = '';
    state = reduce(reduce(state, { type: 'saying', text: null }), { type: 'answered' });
    gone_at = state.now + COMMIT_MS;
  };
  let at = T0;
  const ends = [...text].map((_, index) => gaps.slice(0, index + 1).reduce((sum, gap) => sum + gap, T0));
  const end = (ends.at(-1) ?? T0) + 2_000;
  for (let next = 0; at <= end; at += 1) {
    state = reduce(state, { type: 'tick', now: at });
    if (gone_at !== null && at >= gone_at) {
      asks = asks.slice(1);
      gone_at = null;
      state = reduce(state, { type: 'asks', asks });
    }
    if (at % FRAME_MS === 0) settle();
    for (; at === ends[next]; next += 1) {
      const key = text[next] as string;
      const alone = draft === '' ? key : null;
      state = reduce(state, { type: 'typed', alone, again: draft === key ? key : null });
      if (alone !== null && state.armed && state.question !== null && state.question.held === null) continue;
      draft += key;
      settle();
    }
  }
  return { answered, draft };
}

const every = (gap: number, first = 1_000) => [first, gap, gap, gap, gap, gap];

it('y y y y answers each question that could be read, and writes nothing', () => {
  for (const gap of [1_300, 1_600, 2_500]) {
    const { answered, draft } = typed('yyyy', every(gap));
    assert.deepEqual(answered, ['allow a', 'allow b', 'allow c', 'allow d'], `${gap} ms`);
    assert.equal(draft, '');
  }
  for (const gap of [500, 600, 800, 1_000]) {
    const { answered, draft } = typed('yyyy', every(gap));
    assert.deepEqual(answered, ['allow a', 'allow b', 'allow c'], `${gap} ms`);
    assert.equal(draft, '');
  }
  assert.deepEqual(typed('ynny', every(1_500)).answered, ['allow a', 'deny b', 'deny c', 'allow d']);
});

it('no question is answered before it could be read, and a key that is held down answers once', () => {
  const held = typed('y'.repeat(60), [1_000, 500, ...Array.from({ length: 58 }, () => 30)]);
  assert.deepEqual(held.answered, ['allow a']);
  const [first, second] = [SEEN_MS - 1, SEEN_MS + COMMIT_MS];
  assert.deepEqual(typed('yyy', [1_000, REPEAT_MS, first]).answered, ['allow a']);
  assert.deepEqual(typed('yyy', [1_000, REPEAT_MS, second]).answered, ['allow a', 'allow b']);
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
