const ANSWERS = ['allow', 'allow_rule', 'edit_rule', 'deny', 'deny_saying', 'view_asker'] as const;

export type Answer = (typeof ANSWERS)[number];

/** What the person may choose when they are asked to confirm a kill, leaving, or that files change. */
export type Choice = 'kill' | 'detach' | 'restore' | 'stay';

export function isAnswer<T>(action: T | Answer): action is Answer {
  return ANSWERS.some((answer) => answer === action);
}

const LETTERS: ReadonlyMap<string, Answer> = new Map([
  ['y', 'allow'],
  ['s', 'allow_rule'],
  ['n', 'deny'],
  ['m', 'deny_saying'],
  ['v', 'view_asker'],
]);

/** The same while a rule is shown that could be granted: `y` grants it. */
const GRANT_LETTERS: ReadonlyMap<string, Answer> = new Map([
  ['y', 'allow'],
  ['s', 'allow_rule'],
  ['e', 'edit_rule'],
]);

/** The answer bound to a single letter. */
export function answerOf(letter: string, grants: boolean): Answer | undefined {
  return (grants ? GRANT_LETTERS : LETTERS).get(letter.toLowerCase());
}
