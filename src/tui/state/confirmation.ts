import type { Choice } from '../keys/answer.ts';
import { ALONE_MS } from './question.ts';
import type { Overlay, UiState } from './ui-state.ts';

export type Confirmation = Extract<Overlay, { readonly type: 'kill' | 'quit' }>;

const LETTERS: Readonly<Record<Confirmation['type'], Readonly<Record<string, Choice>>>> = {
  kill: { y: 'kill', n: 'stay' },
  quit: { d: 'detach', k: 'kill', n: 'stay' },
};

/**
 * The decision that a key is if nothing follows it. They have just asked for the question: its first key may decide, whatever the draft holds,
 * and any other leaves it. So "okay" is text, and so is "do it", as long as `ALONE_MS` have not passed (rule Q1 of `question.ts`).
 */
export function withChoiceKey(state: UiState, letter: string): UiState {
  const { overlay, now } = state;
  if (overlay === null || !isConfirmation(overlay) || state.deciding !== null) return state;
  const decision = LETTERS[overlay.type][letter.toLowerCase()];
  return decision === undefined ? state : { ...state, deciding: { decision, text: letter, at: now } };
}

/** The decision that a letter has become, now that nothing followed it. */
export function dueChoice({ deciding, now }: UiState): Choice | null {
  return deciding !== null && now - deciding.at >= ALONE_MS ? deciding.decision : null;
}

export function isConfirmation(overlay: Overlay): overlay is Confirmation {
  return overlay.type === 'kill' || overlay.type === 'quit';
}
