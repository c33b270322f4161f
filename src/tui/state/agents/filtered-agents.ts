import { type Agent, pathUp } from '../../../records/agent/agent.ts';
import type { Style } from '../../../render/style.ts';
import { type TreeRow as RowOf, treeRows } from '../../../render/tree-rows.ts';
import type { Overlay, UiState } from '../ui-state.ts';

type AgentsOverlay = Extract<Overlay, { readonly type: 'agents' }>;

export type TreeRow = RowOf<Agent>;

/** Minimum width at which the selected agent is shown beside the list. */
export const SIDE_FROM = 110;

const createdAt = ({ created_at }: Agent): number => created_at;

/** The tree, oldest first; with a filter, agents whose name or activity matches, and their ancestors. */
export function agentRows(state: UiState, filter: string, style: Style): readonly TreeRow[] {
  const wanted = filter.trim().toLowerCase();
  const agents = [...state.agents.values()];
  if (wanted === '') return treeRows(agents, style, createdAt);
  const shown = new Set<string>();
  for (const agent of agents)
    if (matches(agent, wanted))
      for (const id of pathUp(agent.id, (one) => state.agents.get(one))) shown.add(id);
  return treeRows(
    agents.filter((agent) => shown.has(agent.id)),
    style,
    createdAt,
  );
}

function matches(agent: Agent, wanted: string): boolean {
  return agent.name.toLowerCase().includes(wanted) || (agent.doing ?? '').toLowerCase().includes(wanted);
}

/** The selected agent; by default the one in view, else the first row. */
export function selectedAgent(
  state: UiState,
  overlay: AgentsOverlay,
  rows: readonly TreeRow[],
): string | null {
  const has = (id: string | null): boolean => rows.some(({ agent }) => agent.id === id);
  if (has(overlay.selected)) return overlay.selected;
  return has(state.view) ? state.view : (rows[0]?.agent.id ?? null);
}

/** Moves the selection by a number of rows, within the list. */
export function moveSelection(
  state: UiState,
  overlay: AgentsOverlay,
  by: number,
  style: Style,
): AgentsOverlay {
  const rows = agentRows(state, overlay.filter, style);
  const selected = selectedAgent(state, overlay, rows);
  const place = rows.findIndex(({ agent }) => agent.id === selected);
  const to = Math.max(0, Math.min(rows.length - 1, place + by));
  return { ...overlay, selected: rows[to]?.agent.id ?? null };
}
