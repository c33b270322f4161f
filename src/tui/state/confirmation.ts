import type { Choice } from './answer.ts';
import { ALONE_MS } from './question-in-view.ts';
import type { Overlay, UiState } from './ui-state.ts';

export type Confirmation = Extract<Overlay, { readonly type: 'kill' | 'quit' | 'restore' | 'consent' }>;

const LETTERS: Readonly<Record<Confirmation['type'], Readonly<Record<string, Choice>>>> = {
  kill: { y: 'kill', n: 'stay' },
  restore: { y: 'restore', n: 'stay' },
  consent: { y: 'start', n: 'stay' },
  quit: { d: 'detach', k: 'kill', n: 'stay' },
};

/**
 * Holds the choice of a key, which counts if no other key follows. The first key may decide, whatever the draft contains, since the person asked
 * for the confirmation; a second key within `ALONE_MS` closes it, and both are text (rule Q1 of `question-in-view.ts`).
 */
export function afterChoiceKey(state: UiState, letter: string): UiState {
  const { overlay, now } = state;
  if (overlay === null || !isConfirmation(overlay) || state.deciding !== null) return state;
  const decision = LETTERS[overlay.type][letter.toLowerCase()];
  return decision === undefined ? state : { ...state, deciding: { decision, text: letter, at: now } };
}

/** The held choice once no key has followed its letter for `ALONE_MS`; otherwise null. */
export function dueChoice({ deciding, now }: UiState): Choice | null {
  return deciding !== null && now - deciding.at >= ALONE_MS ? deciding.decision : null;
}

/** Whether the overlay is a list, which fills the screen. */
export function isList(overlay: Overlay | null): boolean {
  return overlay !== null && !isConfirmation(overlay);
}

export function isConfirmation(overlay: Overlay): overlay is Confirmation {
  return Object.hasOwn(LETTERS, overlay.type);
}
