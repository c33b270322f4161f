import { decodeKittyPrintable, type KeyId, matchesKey } from '@earendil-works/pi-tui';
import type { Action } from '../commands/command-table.ts';
import { pastedText } from '../terminal/control-sequences.ts';
import type { KeyBindings } from './keys-config.ts';

/**
 * The action bound to a key; null if the key is input for the editor. `leader`: whether the leader key was pressed before; `capitals`: whether capital letters
 * are keys of their own.
 */
export function actionOf(
  data: string,
  leader: boolean,
  bindings: KeyBindings,
  capitals = false,
): Action | null {
  // With caps lock, a capital letter is the plain key.
  for (const shifted of [...(capitals ? [true] : []), false])
    for (const [action, chords] of bindings)
      if (chords.some((one) => one.after_leader === leader && isKey(data, one.key, shifted))) return action;
  return null;
}

/** Whether the input is this key, of those that are `shifted` characters or of the others. */
function isKey(data: string, name: string, shifted: boolean): boolean {
  const capital = /^shift\+([a-z])$/.exec(name)?.[1];
  if ((capital !== undefined) !== shifted) return false;
  if (capital !== undefined) return printable(data) === capital.toUpperCase();
  if (name.length === 1) {
    const printed = printable(data);
    // Caps lock does not make it another key; for other alphabets, `matchesKey` compares the base layout.
    if (printed !== null && printed.toLowerCase() === name) return true;
  }
  return matchesKey(data, name as KeyId);
}

/** The character that a key writes, in any keyboard protocol; null for a key that writes none. */
export function printable(data: string): string | null {
  const kitty = decodeKittyPrintable(data);
  if (kitty !== undefined) return kitty;
  const other = data.startsWith('\x1b') ? /^\[27;2;(\d+)~$/.exec(data.slice(1)) : null;
  if (other) return String.fromCodePoint(Number(other[1]));
  return /^[^\p{Cc}]$/u.test(data) ? data : null;
}

const STEPS = { up: -1, down: 1, pageUp: -10, pageDown: 10, home: -Infinity, end: Infinity } as const;

/** By how many rows a key moves the selection of a list; 0 for other keys. */
export function rowStep(data: string): number {
  return Object.entries(STEPS).find(([key]) => matchesKey(data, key as keyof typeof STEPS))?.[1] ?? 0;
}

/** What a key or a paste writes into a field of one line; null if nothing. */
export function typedText(data: string): string | null {
  const pasted = pastedText(data);
  if (pasted === null) return printable(data);
  return pasted.replaceAll(/\s*[\r\n]+\s*/g, ' ').replaceAll(/\p{Cc}/gu, ' ');
}
