import type { Lane } from './lanes.ts';

/** One line of the picture: an agent, or a group of siblings with like names. */
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

/** From how many siblings with like names a group is one line until somebody opens it. */
const GROUP_MIN = 12;

/** The tree from the root down, each child under its parent. `open`: keys of groups that somebody opened; null: all. */
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

/** `reader-1` and `reader-2` are alike. */
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

/** The line on which a lane stands, its own or that of its group; by index of the lane. */
export function linesOf(rows: readonly Row[]): ReadonlyMap<number, number> {
  const lines = new Map<number, number>();
  for (const [line, row] of rows.entries()) {
    if (row.type === 'agent') lines.set(row.lane.index, line);
    else for (const { index } of row.lanes) if (!lines.has(index)) lines.set(index, line);
  }
  return lines;
}
