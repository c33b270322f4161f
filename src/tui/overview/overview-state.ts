import { matchesKey } from '@earendil-works/pi-tui';
import type { TreeRow } from '../../documents/shapes/agent-parts.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { typedText } from '../keys/action-of.ts';
import { EMPTY_UI, type UiState } from '../state/ui-state.ts';
import { reduce } from '../state/ui-store.ts';
import type { Seen, SeenTrees } from './seen-trees.ts';

/** Groups of trees, most urgent first. `unread`: came to rest since the person last looked. */
export const GROUPS = [
  ['approval', 'Waits for you'],
  ['trouble', 'Failed, or nobody leads it'],
  ['unread', 'Unread'],
  ['work', 'At work'],
  ['done', 'Done'],
] as const;

export type Group = (typeof GROUPS)[number][0];

/** Number of rows listed at first, and added whenever the end is reached. */
export const PAGE = 50;

export interface OverviewSource {
  /** Calls `wake` when something may have changed; resolves to a function that stops listening. */
  readonly listen: (wake: () => void) => Promise<() => Promise<void>>;
  /** The newest trees, and all that wait for an approval. */
  readonly list: (limit: number) => Promise<readonly TreeRow[]>;
  readonly peek: (tree: TreeRow) => Promise<ReadPeek>;
  readonly answer: RuntimeFace['answer'];
  readonly seen: SeenTrees;
}

/** The content of a peek, as read from its source. */
export interface ReadPeek {
  readonly said: string;
  /** Open questions, oldest first. */
  readonly asks: readonly Ask[];
  /** By id of a question: names from the root down to the agent that asks. */
  readonly lineages: ReadonlyMap<string, readonly string[]>;
}

/** A preview of one tree, without opening it. */
export interface Peek {
  readonly root_id: string;
  /** The text that its root said last; null while it is being loaded. */
  readonly said: string | null;
  /** A UI state that shows its questions, as a window of its own would. */
  readonly window: UiState;
  readonly lineages: ReadPeek['lineages'];
}

/** The peek after a read; a question that was visible in `before` stays visible, with what the person has typed. */
export function peekOf(root_id: string, read: ReadPeek, before: Peek | null, now: number): Peek {
  const window: UiState = { ...(before?.window ?? EMPTY_UI), now, root_id };
  const { said, asks, lineages } = read;
  return { root_id, said, lineages, window: reduce(window, { type: 'asks', asks }) };
}

export interface OverviewState {
  readonly trees: readonly TreeRow[];
  readonly seen: Seen;
  /** Maximum trees that are listed. */
  readonly limit: number;
  /** Words that listed trees must have in their title, folder or id. */
  readonly filter: string;
  /** Root of the selected tree; null: the first row. */
  readonly selected: string | null;
  readonly peek: Peek | null;
  readonly leader: boolean;
  /** Whether the rows have been read. */
  readonly loaded: boolean;
  /** A failure, or what was done. */
  readonly notice: { readonly text: string; readonly bad: boolean } | null;
  readonly now: number;
}

export interface GroupedTrees {
  readonly group: Group;
  readonly title: string;
  readonly trees: readonly TreeRow[];
}

export function groupOf(
  { need, root_id, updated_at }: TreeRow,
  { seen }: Pick<OverviewState, 'seen'>,
): Group {
  if (need !== 'done') return need;
  return Date.parse(updated_at) > (seen.trees.get(root_id) ?? seen.since) ? 'unread' : 'done';
}

/** Minimum number of trees that a filter searches. */
const FILTERED = 4 * PAGE;

export function filtered(state: OverviewState, filter: string): OverviewState {
  const limit = filter === '' ? state.limit : Math.max(state.limit, FILTERED);
  return { ...state, filter, limit, selected: null };
}

/** The filter after a key; null if the key does something else. `/` begins a filter whose first letter is a command. */
export function filterAfter(filter: string, data: string): string | null {
  const typed = typedText(data);
  if (filter === '' && typed === '/') return ' ';
  if (filter !== '' && matchesKey(data, 'escape')) return '';
  if (filter !== '' && matchesKey(data, 'backspace')) return [...filter].slice(0, -1).join('');
  return typed === null || typed === ' ' || (filter === '' && typed === 'q') ? null : filter + typed;
}

function passes({ title, cwd, root_id }: TreeRow, filter: string): boolean {
  const all = `${title} ${cwd} ${root_id}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** The groups that have trees. Trees that wait are ordered by the longest wait, those at work by the latest start, all others by the latest change. */
export function grouped(
  state: Pick<OverviewState, 'seen' | 'trees'> & { readonly filter?: string },
): readonly GroupedTrees[] {
  const { filter = '' } = state;
  const shown = filter === '' ? state.trees : state.trees.filter((tree) => passes(tree, filter));
  const groups = Map.groupBy(shown, (tree) => groupOf(tree, state));
  return GROUPS.flatMap(([group, title]) => {
    const trees = groups.get(group) ?? [];
    return trees.length === 0 ? [] : [{ group, title, trees: trees.toSorted(ORDERS[group]) }];
  });
}

type Order = (a: TreeRow, b: TreeRow) => number;

const byChange: Order = (a, b) => b.updated_at.localeCompare(a.updated_at);
const ORDERS: Readonly<Record<Group, Order>> = {
  approval: (a, b) => (a.asked_at ?? '').localeCompare(b.asked_at ?? ''),
  trouble: byChange,
  unread: byChange,
  work: (a, b) => b.started_at.localeCompare(a.started_at),
  done: byChange,
};

/** All rows in the order in which they are shown. */
export function listed(state: OverviewState): readonly TreeRow[] {
  return grouped(state).flatMap(({ trees }) => trees);
}

export function selectedTree(state: OverviewState): TreeRow | null {
  const trees = listed(state);
  return trees.find(({ root_id }) => root_id === state.selected) ?? trees[0] ?? null;
}

/** Moves the selection by a number of rows; at the end of the list, more rows are listed. */
export function moved(state: OverviewState, by: number): OverviewState {
  const trees = listed(state);
  const place = trees.findIndex(({ root_id }) => root_id === selectedTree(state)?.root_id);
  const to = Math.max(0, Math.min(trees.length - 1, place + by));
  const ends = by > 0 && to === trees.length - 1 && trees.length >= state.limit;
  return { ...state, selected: trees[to]?.root_id ?? null, limit: state.limit + (ends ? PAGE : 0) };
}

/** Moves the selection to the next tree that needs attention; wraps around at the end. */
export function nextToRead(state: OverviewState): OverviewState {
  const trees = listed(state);
  const current = selectedTree(state)?.root_id;
  const place = trees.findIndex(({ root_id }) => root_id === current);
  const onwards = [...trees.slice(place + 1), ...trees.slice(0, place)];
  const next = onwards.find((tree) => !['work', 'done'].includes(groupOf(tree, state)));
  return next === undefined ? state : { ...state, selected: next.root_id };
}
