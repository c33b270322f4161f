import { matchesKey } from '@earendil-works/pi-tui';
import type { AppContext } from '../app-context.ts';
import { useModel } from '../commands/pick-model.ts';
import { otherFolders } from '../commands/pick-tree.ts';
import { moveRow, type Picker, selectedRow } from '../state/picker.ts';
import { typedText } from './action-of.ts';

const STEPS = { up: -1, down: 1, pageUp: -10, pageDown: 10, home: -Infinity, end: Infinity } as const;

/** Handles a key while a picker is open. */
export function pickerKey(app: AppContext, picker: Picker, data: string): void {
  const open = (next: Picker | null) => app.dispatch({ type: 'overlay', overlay: next });
  const filtered = (filter: string) => open({ ...picker, filter, selected: null });
  for (const [key, by] of Object.entries(STEPS))
    if (matchesKey(data, key as keyof typeof STEPS)) return open(moveRow(picker, by));
  if (matchesKey(data, 'escape')) return picker.filter === '' ? open(null) : filtered('');
  if (matchesKey(data, 'ctrl+c')) return open(null);
  if (matchesKey(data, 'backspace')) return filtered([...picker.filter].slice(0, -1).join(''));
  if (matchesKey(data, 'enter')) {
    const row = selectedRow(picker);
    open(null);
    if (row === null) return;
    return app.attempt(() => (picker.picks === 'tree' ? app.openTree(row.id) : useModel(app, row.id)));
  }
  const typed = typedText(data);
  if (typed === null) return;
  if (typed === 'a' && picker.filter === '' && picker.other !== null)
    return app.attempt(() => otherFolders(app, picker));
  // A filter whose first letter is a command (`a`) is begun with a space or `/`.
  filtered(picker.filter === '' && typed === '/' ? ' ' : picker.filter + typed);
}
