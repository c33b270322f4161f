import { COMMANDS } from '../commands/command-table.ts';
import { type BindingRow, describeBindings, type KeyBindings } from './keys-config.ts';

/** An action and the ways to trigger it; an empty text for a missing one. */
export interface KeyRow {
  readonly group: string;
  readonly action: string;
  readonly chord: string;
  readonly leader: string;
  readonly slash: string;
}

export const COLUMNS = ['action', 'chord', 'leader', 'slash'] as const;

/** The rows of the help: keys after the leader key in a column of their own, all slots in one row if their keys differ only in the digit. */
export function keyRows(bindings: readonly BindingRow[]): KeyRow[] {
  const rows = bindings.map(({ action, group, description, alone, after_leader, slash }) => {
    const keys = { chord: alone.join(' '), leader: after_leader.join(' ') };
    return { action, row: { group, action: description, ...keys, slash: slash ?? '' } };
  });
  const slots = rows.filter(({ action }) => /^slot_[1-9]$/.test(action)).map(({ row }) => row);
  const joined = joinedSlots(slots);
  if (joined === null) return rows.map(({ row }) => row);
  return rows.flatMap(({ row }) => (row === slots[0] ? [joined] : slots.includes(row) ? [] : [row]));
}

/** Commands without a key of their own; `called`: those that are no commands of the program. */
export function commandRows(
  bindings: readonly BindingRow[],
  called: readonly { readonly label: string; readonly help: string }[] = [],
): KeyRow[] {
  const known = new Set(bindings.map(({ slash }) => slash?.split(' ')[0]));
  const own = COMMANDS.filter(({ name }) => !known.has(`/${name}`));
  const row = (group: string, slash: string, action: string) => ({
    group,
    action,
    chord: '',
    leader: '',
    slash,
  });
  return [
    ...own.map((one) => row(one.group, one.usage, one.help)),
    ...called.map((one) => row('Yours, of the project and of MCP servers', one.label, one.help)),
  ];
}

/** All rows of the help, by group. */
export function helpRows(
  bindings: KeyBindings,
  called: readonly { readonly label: string; readonly help: string }[],
): readonly KeyRow[] {
  const rows = describeBindings(bindings);
  const all = [...keyRows(rows), ...commandRows(rows, called)];
  return [...new Set([...COMMANDS, ...all].map(({ group }) => group))].flatMap((group) =>
    all.filter((row) => row.group === group),
  );
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
