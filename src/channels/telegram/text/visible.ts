/** Spaces, controls, format characters, and the letters that are blank. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Z}\p{DI}\u2800]/u;

/** Whether anything of a text can be seen; Telegram refuses the others as empty. */
export function hasVisible(text: string): boolean {
  return VISIBLE.test(text);
}
