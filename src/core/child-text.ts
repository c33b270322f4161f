/** Texts of one agent as one, in order; those that say nothing are left out. */
export function allTexts(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text.trim() !== '').join('\n\n');
}
