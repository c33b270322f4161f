import { HUMAN_COMMANDS } from '../human-commands.ts';
import type { KeyRow } from '../views/keys-help.ts';
import type { BindingRow } from './key-bindings.ts';

/** The bindings as people read them: the way by the leader key in a column of its own, the slots in one row as long as their keys are alike. */
export function keyRows(bindings: readonly BindingRow[]): KeyRow[] {
  const leader = leaderName(bindings);
  const rows = bindings.map((row) => ({ action: row.action, row: keyRow(row, leader) }));
  const slots = rows.filter(({ action }) => /^slot_[1-9]$/.test(action)).map(({ row }) => row);
  const joined = joinedSlots(slots);
  if (joined === null) return rows.map(({ row }) => row);
  return rows.flatMap(({ row }) => (row === slots[0] ? [joined] : slots.includes(row) ? [] : [row]));
}

/** The commands that no key stands for. */
export function commandRows(bindings: readonly BindingRow[]): KeyRow[] {
  const known = new Set(bindings.map(({ slash }) => slash?.split(' ')[0]));
  return HUMAN_COMMANDS.filter(({ name }) => !known.has(`/${name}`)).map(({ description, usage }) => ({
    action: description,
    chord: '',
    leader: '',
    slash: usage,
  }));
}

/** As people read it: `Ctrl-X`. */
export function leaderName(bindings: readonly BindingRow[]): string {
  return bindings.find((row) => row.action === 'leader')?.keys[0] ?? '';
}

function keyRow({ description, keys, slash }: BindingRow, leader: string): KeyRow {
  const behind = `${leader} `;
  return {
    action: description,
    chord: keys.filter((key) => !key.startsWith(behind)).join(' '),
    leader: keys
      .filter((key) => key.startsWith(behind))
      .map((key) => key.slice(behind.length))
      .join(' '),
    slash: slash ?? '',
  };
}

const COLUMNS = ['action', 'chord', 'leader', 'slash'] as const;

/** `Alt-1…9` for nine rows that differ in a digit; null when one of them differs in more. */
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
