import { matchesKey } from '@earendil-works/pi-tui';
import type { AppContext } from '../app-context.ts';
import type { GrantChange } from '../state/grant-draft.ts';
import { typedText } from './action-of.ts';

const CHANGES: readonly (readonly [string, GrantChange])[] = [
  ['up', 'narrower'],
  ['down', 'wider'],
  ['left', 'previous_scope'],
  ['right', 'next_scope'],
];

/** Handles a key while a rule to be granted is shown: arrows only, so that text reaches the draft; every key while a rule is written. False: not handled. */
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

function editingChange(editing: string, data: string): GrantChange {
  if (matchesKey(data, 'enter')) return 'keep';
  if (matchesKey(data, 'backspace')) return { text: [...editing].slice(0, -1).join('') };
  return { text: editing + (typedText(data) ?? '') };
}
