import { THINKING, type Thinking } from '../../records/agent/agent.ts';
import type { Paint } from '../../render/style.ts';
import type { Entry } from './entry.ts';

/** A list that fills the screen, from which the person chooses one row; typing filters it. */
export interface Picker {
  readonly type: 'picker';
  /** What Enter does with a row, and Tab if there is such a thing. */
  readonly choose: (row: PickerRow, picker: Picker) => Promise<void> | void;
  readonly tab?: { readonly verb: string; readonly choose: Picker['choose'] };
  readonly heading: string;
  readonly rows: readonly PickerRow[];
  readonly filter: string;
  /** Id of the selected row; null: the first one. */
  readonly selected: string | null;
  /** Text that is shown if there is no row. */
  readonly empty: string;
  /** One word for what Enter does. */
  readonly verb: string;
  /** The command that chooses a row without the list. */
  readonly command: string;
  /** How much the chosen model thinks, which ← and → change; left out: it is no choice here. */
  readonly effort?: Thinking | undefined;
  /** The newest part of the conversations of rows that were selected; left out: the rows are no conversations. */
  readonly previews?: ReadonlyMap<string, readonly Entry[]>;
  /** Name of the list that `a` switches to: everything, or only a part; null if there is no other list. */
  readonly other: string | null;
}

export interface PickerRow {
  readonly id: string;
  readonly text: string;
  /** Cells at the right, each in a column of its own. */
  readonly figures: readonly (readonly [Paint | null, string])[];
  /** How it stands, in words, above its preview. */
  readonly outcome?: readonly [Paint, string];
}

/** The rows that contain every word of the filter. */
export function pickerRows({ rows, filter }: Picker): readonly PickerRow[] {
  const words = filter.toLowerCase().split(/\s+/);
  return rows.filter(({ text, figures }) => {
    const all = [text, ...figures.map(([, figure]) => figure)].join(' ').toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** The selected row; by default the first. */
export function selectedRow(picker: Picker, rows = pickerRows(picker)): PickerRow | null {
  return rows.find(({ id }) => id === picker.selected) ?? rows[0] ?? null;
}

/** Whether the model of the selected row thinks as much as it is told: agent programs decide for themselves. */
export function takesEffort(picker: Picker): boolean {
  return picker.effort !== undefined && selectedRow(picker)?.id.startsWith('acp:') !== true;
}

/** The next effort, or the one before, without going round. */
export function withEffort(picker: Picker, by: number): Picker {
  if (picker.effort === undefined) return picker;
  return { ...picker, effort: THINKING[THINKING.indexOf(picker.effort) + by] ?? picker.effort };
}

/** Moves the selection by a number of rows, within the list. */
export function moveRow(picker: Picker, by: number): Picker {
  const rows = pickerRows(picker);
  const selected = selectedRow(picker, rows);
  const place = selected === null ? 0 : rows.indexOf(selected);
  const to = Math.max(0, Math.min(rows.length - 1, place + by));
  return { ...picker, selected: rows[to]?.id ?? null };
}
