import { limits } from '../processes/output.ts';

/**
 * Text that fits a result: at most `limits.result_characters`, the middle left out and said so; no NUL and no
 * half of a surrogate pair, because databases refuse both.
 */
export function clampOutput(text: string, limit: number = limits.result_characters): string {
  const clean = text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
  if (clean.length <= limit) return clean.isWellFormed() ? clean : clean.toWellFormed();
  const half = Math.floor(limit / 2);
  const left_out = clean.length - 2 * half;
  const cut = `${clean.slice(0, half)}\n[… ${left_out} characters left out …]\n${clean.slice(-half)}`;
  return cut.toWellFormed();
}
