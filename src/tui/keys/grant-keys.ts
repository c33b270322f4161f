import { matchesKey } from '@earendil-works/pi-tui';
import type { AppContext } from '../app-context.ts';
import { answerOf } from '../state/answer.ts';
import type { GrantChange } from '../state/grant-draft.ts';
import { REPEAT_MS } from '../state/question-in-view.ts';
import type { UiState } from '../state/ui-state.ts';
import { printable, typedText } from './action-of.ts';
import { answerByLetter, JUST_UP } from './answer-keys.ts';

const RULE_OPEN = 'the rule is open: arrows choose, then y grants it; Esc goes back to the draft';

const CHANGES: readonly (readonly [string, GrantChange])[] = [
  ['up', 'narrower'],
  ['down', 'wider'],
  ['left', 'previous_scope'],
  ['right', 'next_scope'],
];

/** Handles an arrow while a rule to be granted is shown, and every key while a rule is written. False: not handled. */
export function grantKey(app: Pick<AppContext, 'state' | 'dispatch'>, data: string): boolean {
  const grant = app.state.question?.grant ?? null;
  if (grant === null) return false;
  if (grant.editing !== null) {
    app.dispatch({ type: 'grant', change: editingChange(grant.editing, data) });
    return true;
  }
  const change = CHANGES.find(([key]) => matchesKey(data, key as 'up'))?.[1];
  if (change === undefined) return false;
  app.dispatch({ type: 'grant', change });
  return true;
}

/** A key for the panel of a rule: one of its letters, or else text, if the panel was opened by a letter that may have been text, too. */
export function panelKey(app: AppContext, before: UiState, typed: string | null, data: string): void {
  const { state, editor } = app;
  if (state.question?.held != null) return answerByLetter(app);
  const is_second = before.question?.held != null || state.typed_at - before.typed_at < REPEAT_MS;
  const is_letter = answerOf(printable(data) ?? '', true) !== undefined;
  if (is_letter && (typed === null ? state.armed : !is_second)) return app.say(JUST_UP);
  if (typed === null) return app.say(RULE_OPEN);
  app.dispatch({ type: 'grant', change: 'back' });
  editor.setText(typed);
  editor.handleInput(data);
}

function editingChange(editing: string, data: string): GrantChange {
  if (matchesKey(data, 'enter')) return 'keep';
  if (matchesKey(data, 'backspace')) return { text: [...editing].slice(0, -1).join('') };
  return { text: editing + (typedText(data) ?? '') };
}
