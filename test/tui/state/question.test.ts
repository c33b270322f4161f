/** Proves that typing never answers a question, whenever the question appears, and that a letter typed alone does. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { shownDigest } from '../../../src/store/approvals/shown-digest.ts';
import { answerByCommand } from '../../../src/tui/keys/answer-keys.ts';
import type { Answer } from '../../../src/tui/state/answer.ts';
import { ALONE_MS, dueAnswer, mayAnswer, SEEN_MS } from '../../../src/tui/state/question-in-view.ts';
import type { UiEvent } from '../../../src/tui/state/ui-event.ts';
import { EMPTY_UI, type UiState } from '../../../src/tui/state/ui-state.ts';
import { reduce } from '../../../src/tui/state/ui-store.ts';
import { agent, ask, seen, T0 } from '../ui-fixture.ts';

interface Key {
  /** A character, `\r`, `\x7f`, or a whole paste. */
  readonly text: string;
  /** Milliseconds since the previous key. */
  readonly gap: number;
}

const FRAME_MS = 100;
const LONG_MS = 2_000;
const BEGUN: UiState = [seen(agent('main', null)), seen(agent('child', 'main'))].reduce(reduce, {
  ...EMPTY_UI,
  now: T0,
  typed_at: T0,
});
const ASKS: UiEvent = { type: 'asks', asks: [ask('a', 'child')] };

const fields = [
  { name: 'answer', kind: 'choice', required: true, choices: [{ value: 'red' }, { value: 'blue' }] },
];
const CHOICE: UiEvent = {
  type: 'asks',
  asks: [
    ask('a', 'child', {
      subject_kind: 'question',
      input: JSON.stringify({ asker: 'the workflow', message: 'Which?', fields, call: '' }),
    }),
  ],
};

/** Simulates the program: the draft receives every key, and every `FRAME_MS` a letter that stayed alone may become an answer. */
function played(
  keys: readonly Key[],
  asked_at: number,
  then: readonly UiEvent[] = [],
  asks = ASKS,
): { answers: Answer[]; draft: string } {
  let state = BEGUN;
  let draft = '';
  const answers: Answer[] = [];
  const times = keys.map((_, index) =>
    keys.slice(0, index + 1).reduce((sum, { gap }) => sum + gap, T0 + LONG_MS),
  );
  const end = (times.at(-1) ?? T0) + 2 * LONG_MS;
  const frames = Array.from(
    { length: Math.ceil((end - T0) / FRAME_MS) },
    (_, index) => T0 + index * FRAME_MS,
  );
  // Within one instant the question comes first, which is the worst case.
  const moments = [
    ...frames.map((at) => ({ at, order: 2, key: null })),
    ...keys.map((key, index) => ({ at: times[index] as number, order: 1, key })),
    { at: asked_at, order: 0, key: null },
  ].sort((a, b) => a.at - b.at || a.order - b.order);
  for (const { at, order, key } of moments) {
    state = reduce(state, { type: 'tick', now: at });
    if (order === 0) state = [asks, ...then].reduce(reduce, state);
    else if (key === null) {
      const answer = dueAnswer(state, draft);
      if (answer === null) continue;
      answers.push(answer);
      draft = '';
      state = reduce(state, { type: 'saying', text: null });
    } else {
      const { text } = key;
      const alone = draft === '' && text.length === 1 && text >= ' ' && text !== '\x7f' ? text : null;
      state = reduce(state, { type: 'typed', alone });
      draft = text === '\r' ? '' : text === '\x7f' ? draft.slice(0, -1) : draft + text;
    }
  }
  return { answers, draft };
}

function typed(text: string, gap: number): Key[] {
  return [...text].map((character) => ({ text: character, gap }));
}

/** Every instant at which the result may change: before and after each key, by offsets just below and above the thresholds. */
function momentsAround(keys: readonly Key[]): number[] {
  const offsets = [0, 1, SEEN_MS, ALONE_MS - 1, ALONE_MS, ALONE_MS + 1, LONG_MS];
  let at = T0 + LONG_MS;
  return keys.flatMap(({ gap }) => {
    at += gap;
    return offsets.flatMap((offset) => [at - offset, at + offset]);
  });
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const SENTENCES = [
  'this is then over',
  'yes, do that',
  'stop it',
  'no, never',
  'my way',
  'very good',
  ...[...LETTERS].flatMap((letter) => [
    `${letter}ynsmv`,
    `ynsmv${letter}`,
    `${letter.toUpperCase()} ${letter}`,
  ]),
];

it('a sentence typed at normal speed never answers, whenever the question comes up', () => {
  for (const sentence of SENTENCES)
    for (const gap of [0, 30, 350, ALONE_MS - 1]) {
      const keys = typed(sentence, gap);
      for (const asked_at of momentsAround(keys)) {
        const { answers, draft } = played(keys, asked_at);
        assert.deepEqual(answers, [], `${sentence}, ${gap} ms apart, asked at ${asked_at - T0}`);
        assert.equal(draft, sentence);
      }
    }
});

it('the digit of a choice answers under the same rules, and no other digit or question', () => {
  for (const text of ['2 files are left', '1', '12', '22', '2.', 'to 2'])
    for (const gap of [0, 30, 350, ALONE_MS - 1]) {
      const keys = [...typed(text, gap), { text: '.', gap }];
      for (const asked_at of momentsAround(keys)) {
        const { answers, draft } = played(keys, asked_at, [], CHOICE);
        assert.deepEqual([answers, draft], [[], `${text}.`], `${gap} ms apart, asked at ${asked_at - T0}`);
      }
    }
  const alone = (text: string, asks: UiEvent) => played([{ text, gap: LONG_MS }], T0, [], asks).answers;
  assert.deepEqual(
    ['1', '2'].flatMap((digit) => alone(digit, CHOICE)),
    ['choose', 'choose'],
  );
  assert.deepEqual(
    ['0', '3', '9', 'r'].flatMap((digit) => alone(digit, CHOICE)),
    [],
  );
  assert.deepEqual(
    ['1', '2'].flatMap((digit) => alone(digit, ASKS)),
    [],
  );
  const late = played([{ text: '2', gap: LONG_MS }], T0 + 2 * LONG_MS - ALONE_MS + 1, [], CHOICE);
  assert.deepEqual(late, { answers: [], draft: '2' }, 'it had just come up');
});

it('while a rule is shown that could be granted, a letter alone answers', () => {
  const SHOWN: UiEvent = { type: 'grant', change: 'next_scope' };
  const alone = (text: string) => played([{ text, gap: LONG_MS }], T0, [SHOWN]).answers;
  assert.deepEqual(['y', 's', 'e', 'n', 'm', 'v'].flatMap(alone), ['allow', 'allow_rule', 'edit_rule']);
  assert.deepEqual(played(typed('y', LONG_MS), T0, [SHOWN, { type: 'grant', change: 'edit' }]).answers, []);
});

it('what another question shows anew must be read first; a rule for the one before is not granted to it', () => {
  const shown = [ASKS, { type: 'grant', change: 'next_scope' } as const].reduce(reduce, {
    ...BEGUN,
    now: T0 + LONG_MS,
  });
  assert.ok(shown.question?.grant);
  assert.equal(mayAnswer(shown, T0 + LONG_MS + SEEN_MS - 1), false, 'the rule has just come up');
  assert.equal(mayAnswer(shown, T0 + LONG_MS + SEEN_MS), true);
  const next = reduce(shown, { type: 'asks', asks: [ask('b', 'child')] });
  assert.equal(next.question?.grant, null);
});

it('however slowly a sentence is typed, only its first letter can be an answer', () => {
  for (const sentence of SENTENCES.filter((text) => !/^(?:[ynsmvp]|A)/i.test(text)))
    for (const gap of [ALONE_MS, 3_000]) {
      const keys = typed(sentence, gap);
      for (const asked_at of momentsAround(keys)) assert.deepEqual(played(keys, asked_at).answers, []);
    }
});

it('a letter answers exactly when it is alone in time and in the draft and the question could have been read', () => {
  const texts = ['y', 't', '\r', '\x7f', 'pasted y'];
  const gaps = [ALONE_MS - 1, ALONE_MS + FRAME_MS];
  const one = texts.flatMap((text) => gaps.map((gap) => ({ text, gap })));
  let answered = 0;
  for (const first of one)
    for (const second of one)
      for (const third of one) {
        const keys = [first, second, third];
        for (const asked_at of [T0, ...momentsAround(keys)]) {
          const expected = expectedAnswers(keys, asked_at);
          answered += expected;
          assert.equal(played(keys, asked_at).answers.length, expected, JSON.stringify({ keys, asked_at }));
        }
      }
  assert.ok(answered > 0);
});

/** An independent formulation of the rule, computed from the times alone. */
function expectedAnswers(keys: readonly Key[], asked_at: number): number {
  let [at, draft, count] = [T0 + LONG_MS, '', 0];
  keys.forEach(({ text, gap }, index) => {
    at += gap;
    const quiet_before = index === 0 || gap >= ALONE_MS;
    const quiet_after = (keys[index + 1]?.gap ?? LONG_MS) >= ALONE_MS;
    const readable = at - asked_at >= ALONE_MS;
    if (text === 'y' && draft === '' && quiet_before && quiet_after && readable) count += 1;
    else draft = text === '\r' ? '' : text === '\x7f' ? draft.slice(0, -1) : draft + text;
  });
  return count;
}

it('a chord answers once the question could have been seen, and not the one that replaces it', () => {
  const state = reduce({ ...BEGUN, now: T0 + 10 }, ASKS);
  assert.equal(mayAnswer(state, T0 + 10 + SEEN_MS - 1), false);
  assert.equal(mayAnswer(state, T0 + 10 + SEEN_MS), true);
  const other: UiEvent = { type: 'asks', asks: [ask('b', 'child')] };
  const next = reduce({ ...state, now: T0 + LONG_MS }, other);
  assert.equal(mayAnswer(next, T0 + LONG_MS), false);
});

it('a pending letter never answers another question', () => {
  const asked = reduce(BEGUN, ASKS);
  const held = reduce({ ...asked, now: T0 + LONG_MS }, { type: 'typed', alone: 'y' });
  const later = { ...held, now: T0 + 2 * LONG_MS };
  assert.equal(dueAnswer(later, 'y'), 'allow');
  assert.equal(dueAnswer(later, 'yes'), null);
  assert.equal(dueAnswer(reduce(later, { type: 'asks', asks: [ask('b', 'child')] }), 'y'), null);
  assert.equal(dueAnswer(reduce(later, { type: 'overlay', overlay: { type: 'keys' } }), 'y'), null);
  assert.equal(dueAnswer(reduce(later, { type: 'question', shown: false }), 'y'), null);
});

it('a command answers only the question that was in sight when it was begun, with the digest of what is shown', () => {
  const answers: unknown[] = [];
  const said: string[] = [];
  const enter = (state: UiState) =>
    answerByCommand(
      {
        state,
        acceptsInput: true,
        editor: { text: '', setText: () => undefined },
        runtime: { answer: async (id, { shown }) => void answers.push([id, shown]) },
        dispatch: () => undefined,
        say: (text) => said.push(text),
        attempt: (work) => void work(),
        refresh: () => undefined,
      },
      { verdict: 'allow', scope: 'once', note: '' },
    );
  const typing = (state: UiState, at: number, drafting: boolean) =>
    reduce({ ...state, now: at }, { type: 'typed', alone: null, drafting });
  const begun = typing(reduce(BEGUN, ASKS), T0 + LONG_MS, false);
  const next: UiEvent = { type: 'asks', asks: [ask('b', 'child')] };
  // The question is withdrawn, and another takes its place, while the command is typed, however slowly.
  const replaced = reduce({ ...begun, now: T0 + 2 * LONG_MS }, next);
  enter(typing(replaced, T0 + 9 * LONG_MS, true));
  assert.deepEqual(answers, []);
  assert.match(said.join(), /has just come up: read it/);
  enter(typing(replaced, T0 + 9 * LONG_MS, false));
  enter(typing(begun, T0 + 9 * LONG_MS, true));
  assert.deepEqual(answers, [
    ['b', shownDigest(ask('b', 'child'))],
    ['a', shownDigest(ask('a', 'child'))],
  ]);
});
