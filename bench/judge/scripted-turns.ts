import type { ScriptedRules } from '../../src/models/scripted/scripted-rules.ts';

export type Rule = ScriptedRules['rules'][number];
export type Call = NonNullable<Rule['calls']>[number];

/** Time limit of a wait in seconds: longer than any run. */
export const LONGEST_WAIT = 3_000;

/** Answers in order, calls once each; a text at the end answers everything that follows. */
export function turns(
  when: NonNullable<Rule['when']>,
  answers: readonly (string | readonly Call[])[],
): Rule[] {
  return answers.map((answer) =>
    typeof answer === 'string' ? { when, say: answer } : { when, once: true, calls: [...answer] },
  );
}
