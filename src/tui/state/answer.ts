const ANSWERS = [
  'allow',
  'allow_alike',
  'allow_rule',
  'allow_narrow',
  'choose',
  'edit_rule',
  'deny',
  'deny_saying',
  'view_asker',
  'whole',
] as const;

export type Answer = (typeof ANSWERS)[number];

/** The person's choices when asked to confirm a kill, leaving, changes of files, or a workflow. */
export type Choice = 'kill' | 'detach' | 'restore' | 'start' | 'stay';

export function isAnswer<T>(action: T | Answer): action is Answer {
  return ANSWERS.some((answer) => answer === action);
}

const LETTERS: ReadonlyMap<string, Answer> = new Map([
  ['y', 'allow'],
  ['Y', 'allow_alike'],
  ['s', 'allow_rule'],
  ['A', 'allow_narrow'],
  ['n', 'deny'],
  ['m', 'deny_saying'],
  ['v', 'view_asker'],
  ['p', 'whole'],
]);

/** Letters while a rule to be granted is shown: `y` grants it. */
const GRANT_LETTERS: ReadonlyMap<string, Answer> = new Map([
  ['y', 'allow'],
  ['s', 'allow_rule'],
  ['e', 'edit_rule'],
]);

/** The answer bound to a single letter; `grants`: whether a rule to be granted is shown. */
export function answerOf(letter: string, grants: boolean): Answer | undefined {
  const letters = grants ? GRANT_LETTERS : LETTERS;
  return letters.get(letter) ?? letters.get(letter.toLowerCase());
}
