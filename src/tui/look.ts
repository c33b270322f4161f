import type { Style } from '../render/style.ts';

/** How the UI shows things. Accessible: no box drawing, no spinners, words where a sign would stand, nothing that moves by itself. */
export interface Look extends Style {
  readonly accessible: boolean;
}
