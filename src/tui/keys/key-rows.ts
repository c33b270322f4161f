import { COMMANDS } from '../commands/command-table.ts';
import type { BindingRow } from './keys-config.ts';

/** An action and the ways to trigger it; an empty text for a missing one. */
export interface KeyRow {
  readonly action: string;
  readonly chord: string;
  readonly leader: string;
  readonly slash: string;
}

export const COLUMNS = ['action', 'chord', 'leader', 'slash'] as const;

/** The rows of the help: keys after the leader key in a column of their own, all slots in one row if their keys differ only in the digit. */
export function keyRows(bindings: readonly BindingRow[]): KeyRow[] {
  const rows = bindings.map(({ action, description, alone, after_leader, slash }) => ({
    action,
    row: { action: description, chord: alone.join(' '), leader: after_leader.join(' '), slash: slash ?? '' },
  }));
  const slots = rows.filter(({ action }) => /^slot_[1-9]$/.test(action)).map(({ row }) => row);
  const joined = joinedSlots(slots);
  if (joined === null) return rows.map(({ row }) => row);
  return rows.flatMap(({ row }) => (row === slots[0] ? [joined] : slots.includes(row) ? [] : [row]));
}

export function commandRows(bindings: readonly BindingRow[]): KeyRow[] {
  const known = new Set(bindings.map(({ slash }) => slash?.split(' ')[0]));
  return COMMANDS.filter(({ name }) => !known.has(`/${name}`)).map(({ help, usage }) => ({
    action: help,
    chord: '',
    leader: '',
    slash: usage,
  }));
}

/** `Alt-1…9` for nine rows that differ only in the digit; null otherwise. */
function joinedSlots(slots: readonly KeyRow[]): KeyRow | null {
  const [first] = slots;
  if (first === undefined) return null;
  const like = slots.every((row, index) =>
    COLUMNS.every((column) => row[column] === first[column].replace('1', String(index + 1))),
  );
  if (!like) return null;
  const joined = { ...first };
  for (const column of COLUMNS) joined[column] = first[column].replace('1', '1…9');
  return joined;
}
