import type { Lane } from './lanes.ts';

/** One line of the picture: an agent, or a group of siblings with similar names. */
export type Row =
  | { readonly type: 'agent'; readonly lane: Lane; readonly depth: number }
  | {
      readonly type: 'group';
      readonly key: string;
      readonly name: string;
      readonly lanes: readonly Lane[];
      readonly depth: number;
      readonly isOpen: boolean;
    };

/** Minimum siblings with similar names that form a group, which is one line until it is opened. */
const GROUP_MIN = 12;

/** The tree from the root down, each child under its parent. `open`: keys of open groups; null: no groups are formed. */
export function rowsOf(lanes: readonly Lane[], open: ReadonlySet<string> | null): Row[] {
  const children = new Map<number, Lane[]>();
  for (const lane of lanes) {
    const { parent } = lane.about;
    if (parent === null) continue;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [lane]);
    else siblings.push(lane);
  }
  const rows: Row[] = [];
  const add = (lane: Lane, depth: number): void => {
    rows.push({ type: 'agent', lane, depth });
    for (const [stem, alike] of byStem(children.get(lane.index) ?? [])) {
      if (alike.length < GROUP_MIN || open === null) {
        for (const child of alike) add(child, depth + 1);
        continue;
      }
      const key = `${lane.index}/${stem}`;
      const isOpen = open.has(key);
      rows.push({ type: 'group', key, name: `${stem}…`, lanes: alike, depth: depth + 1, isOpen });
      if (isOpen) for (const child of alike) add(child, depth + 2);
    }
  };
  for (const lane of lanes) if (lane.about.parent === null) add(lane, 0);
  return rows;
}

/** Groups lanes by name without a trailing number: `reader-1` and `reader-2` are one group. */
export function byStem(lanes: readonly Lane[]): Map<string, Lane[]> {
  const found = new Map<string, Lane[]>();
  for (const lane of lanes) {
    const stem = lane.about.name.replace(/[\d\s._-]+$/, '') || lane.about.name;
    const alike = found.get(stem);
    if (alike === undefined) found.set(stem, [lane]);
    else alike.push(lane);
  }
  return found;
}

/** Line of each lane, by index of the lane: its own, or that of its group. */
export function linesOf(rows: readonly Row[]): ReadonlyMap<number, number> {
  const lines = new Map<number, number>();
  for (const [line, row] of rows.entries()) {
    if (row.type === 'agent') lines.set(row.lane.index, line);
    else for (const { index } of row.lanes) if (!lines.has(index)) lines.set(index, line);
  }
  return lines;
}
