const ANSWERS = ['allow', 'allow_agent', 'deny', 'deny_saying', 'view_asker'] as const;

export type Answer = (typeof ANSWERS)[number];

/** What the person may choose when they are asked to confirm a kill, or leaving. */
export type Choice = 'kill' | 'detach' | 'stay';

export function isAnswer<T>(action: T | Answer): action is Answer {
  return ANSWERS.some((answer) => answer === action);
}

const LETTERS: ReadonlyMap<string, Answer> = new Map([
  ['y', 'allow'],
  ['s', 'allow_agent'],
  ['n', 'deny'],
  ['m', 'deny_saying'],
  ['v', 'view_asker'],
]);

/** The answer bound to a single letter. */
export function answerOf(letter: string): Answer | undefined {
  return LETTERS.get(letter.toLowerCase());
}
