import type { Changes } from '../../kernel/ledger/changes.ts';
import { storable } from '../../records/text/text.ts';

/** Changes as `coppice_write` reads them; null when there are none. Contents and states are texts in it, so that any character survives. */
export function encodeChanges({ rows, wiped, notices }: Changes): string | null {
  if (rows.size + wiped.length + notices.length === 0) return null;
  const encoded: Record<string, unknown> = {};
  for (const [table, changes] of rows) {
    const by_type: Record<string, unknown[]> = {};
    for (const { type, row } of changes) {
      by_type[type] ??= [];
      by_type[type].push(row);
    }
    encoded[table] = by_type;
  }
  const keep = (_: string, value: unknown) => (typeof value === 'string' ? storable(value) : value);
  return JSON.stringify({ ...encoded, wiped, notices }, keep);
}
