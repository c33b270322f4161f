import { clean } from '../../render/clean.ts';
import { line } from '../line.ts';
import type { Look } from '../look.ts';
import type { Overlay, UiState } from '../ui-state.ts';
import { wrap } from '../wrap.ts';

const NAMES_MAX = 3;

/** `Kill file-reader and 1 descendant (grep-all)? …`, and the question before quitting. Nothing is done by Enter alone. */
export function questionLines(
  state: UiState,
  overlay: Extract<Overlay, { readonly type: 'kill' | 'quit' }>,
  width: number,
  height: number,
  look: Look,
): string[] {
  const whole = overlay.type === 'kill' ? killText(state, overlay) : quitText(overlay.working);
  const rows = wrap(whole, width, look);
  // Too low for all of it: the keys come first, and what they do.
  const shown = rows.length <= height ? rows : wrap(shortText(state, overlay), width, look).slice(0, height);
  return shown.map((row) => line(look, width, [['yellow', row]]));
}

function shortText(state: UiState, overlay: Extract<Overlay, { readonly type: 'kill' | 'quit' }>): string {
  if (overlay.type === 'quit') return `[d]etach [k]ill [n]o: ${overlay.working} running`;
  const name = clean(state.agents.get(overlay.agent_id)?.name ?? '');
  return `[y]/[n] kill ${overlay.descendants.length + 1}: ${name}`;
}

function killText(
  state: UiState,
  { agent_id, descendants }: Extract<Overlay, { readonly type: 'kill' }>,
): string {
  const name = (id: string): string => clean(state.agents.get(id)?.name ?? id.slice(0, 8));
  const keys = '[y] kill  [n/Esc] keep';
  const count = descendants.length;
  if (count === 0) return `Kill ${name(agent_id)}? It stays visitable until /reap.  ${keys}`;
  const named = descendants.slice(0, NAMES_MAX).map(name).join(', ');
  const others = count > NAMES_MAX ? `, +${count - NAMES_MAX} more` : '';
  const below = count === 1 ? '1 descendant' : `${count} descendants`;
  const all = count === 1 ? 'Both stay' : `All ${count + 1} stay`;
  return `Kill ${name(agent_id)} and ${below} (${named}${others})? ${all} visitable until /reap.  ${keys}`;
}

function quitText(working: number): string {
  if (working === 0) return 'quit? [y]es [n]o';
  const agents = working === 1 ? '1 agent' : `${working} agents`;
  return `quit? ${agents} running: [d]etach [k]ill all [n]o`;
}
