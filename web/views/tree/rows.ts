import type { Lane } from './lanes.ts';

/** One line of the picture: an agent, a phase of a workflow, or a group of siblings with similar names. */
export type Row =
  | { readonly type: 'agent'; readonly lane: Lane; readonly depth: number }
  | {
      readonly type: 'group';
      readonly key: string;
      readonly name: string;
      readonly isPhase: boolean;
      readonly lanes: readonly Lane[];
      readonly depth: number;
      readonly isOpen: boolean;
    };

/** Minimum siblings with similar names that form a group, which is one line until it is opened. */
const GROUP_MIN = 12;

/** The tree from the root down, each child under its parent. `toggled`: keys of groups that a person has opened or closed; null: no groups are formed. */
export function rowsOf(lanes: readonly Lane[], toggled: ReadonlySet<string> | null): Row[] {
  const children = Map.groupBy(lanes, ({ about }) => about.parent);
  const rows: Row[] = [];
  const add = (lane: Lane, depth: number): void => {
    rows.push({ type: 'agent', lane, depth });
    const inside = children.get(lane.index) ?? [];
    const phases = lane.about.workflow === null ? [] : byPhase(inside);
    if (phases.length === 0 || toggled === null) return addAll(inside, depth + 1, String(lane.index));
    for (const [phase, those] of phases) {
      if (phase === null) {
        addAll(those, depth + 1, String(lane.index));
        continue;
      }
      const key = `${lane.index}//${phase}`;
      const isOpen = toggled.has(key) !== those.length < GROUP_MIN;
      rows.push({ type: 'group', key, name: phase, isPhase: true, lanes: those, depth: depth + 1, isOpen });
      if (isOpen) for (const child of those) add(child, depth + 2);
    }
  };
  const addAll = (siblings: readonly Lane[], depth: number, where: string): void => {
    for (const [stem, alike] of byStem(siblings)) {
      if (alike.length < GROUP_MIN || toggled === null) {
        for (const child of alike) add(child, depth);
        continue;
      }
      const key = `${where}/${stem}`;
      const isOpen = toggled.has(key);
      rows.push({ type: 'group', key, name: `${stem}…`, isPhase: false, lanes: alike, depth, isOpen });
      if (isOpen) for (const child of alike) add(child, depth + 1);
    }
  };
  for (const lane of children.get(null) ?? []) add(lane, 0);
  return rows;
}

/** The agents of a workflow run by phase, in the order of their first agents; empty if no agent has a phase. */
function byPhase(lanes: readonly Lane[]): [string | null, Lane[]][] {
  const phases = [...Map.groupBy(lanes, ({ about }) => about.phase)];
  return phases.some(([phase]) => phase !== null) ? phases : [];
}

/** Groups lanes by name without a trailing number: `reader-1` and `reader-2` are one group. */
export function byStem(lanes: readonly Lane[]): Map<string, Lane[]> {
  return Map.groupBy(lanes, ({ about: { name } }) => name.replace(/[\d\s._-]+$/, '') || name);
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
