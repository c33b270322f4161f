import { matchesKey } from '@earendil-works/pi-tui';
import { printable } from './action-of.ts';
import { agentRows, moveSelection, selectedAgent } from './agent-rows.ts';
import { askKill, perform } from './app-commands.ts';
import type { Desk } from './desk.ts';
import type { Overlay } from './ui-state.ts';

type Of<T extends Overlay['type']> = Extract<Overlay, { readonly type: T }>;

/** A key while a list is open, or what the person asked for must be confirmed. */
export function overlayKey(desk: Desk, overlay: Overlay, data: string): void {
  switch (overlay.type) {
    case 'agents':
      return agentsKey(desk, overlay, data);
    case 'kill':
      return killKey(desk, overlay, data);
    case 'quit':
      return quitKey(desk, data);
    case 'keys':
      return close(desk);
  }
}

function close(desk: Desk): void {
  desk.filtering = false;
  desk.dispatch({ type: 'overlay', overlay: null });
}

function agentsKey(desk: Desk, overlay: Of<'agents'>, data: string): void {
  const open = (next: Overlay) => desk.dispatch({ type: 'overlay', overlay: next });
  const rows = agentRows(desk.state, overlay.filter, desk.look);
  const selected = selectedAgent(desk.state, overlay, rows);
  if (matchesKey(data, 'up')) return open(moveSelection(desk.state, overlay, -1, desk.look));
  if (matchesKey(data, 'down')) return open(moveSelection(desk.state, overlay, 1, desk.look));
  if (matchesKey(data, 'pageUp')) return open(moveSelection(desk.state, overlay, -10, desk.look));
  if (matchesKey(data, 'pageDown')) return open(moveSelection(desk.state, overlay, 10, desk.look));
  if (matchesKey(data, 'escape')) {
    if (!desk.filtering && overlay.filter === '') return close(desk);
    desk.filtering = false;
    return open({ ...overlay, filter: '' });
  }
  if (matchesKey(data, 'enter')) {
    desk.filtering = false;
    return selected === null ? close(desk) : desk.dispatch({ type: 'visit', agent_id: selected });
  }
  if (matchesKey(data, 'backspace')) return filtered(desk, overlay, overlay.filter.slice(0, -1));
  const typed = printable(data);
  if (typed === null) return;
  if (!desk.filtering && selected !== null) {
    if (typed === 's') {
      const name = desk.state.agents.get(selected)?.name ?? selected;
      close(desk);
      return desk.editor.setText(`/send ${/\s/.test(name) ? `"${name}"` : name} `);
    }
    if (typed === 'k') return askKill(desk, [selected]);
    if (typed === 'r') return perform(desk, { name: 'reap' });
    if (/^[1-9]$/.test(typed)) return desk.dispatch({ type: 'pin', agent_id: selected, slot: Number(typed) });
  }
  // Any other letter begins a filter, a slash does so too.
  const begins = !desk.filtering && typed === '/';
  desk.filtering = true;
  if (!begins) filtered(desk, overlay, overlay.filter + typed);
}

/** A new filter chooses the first agent that it finds, not one that stands there as an ancestor. */
function filtered(desk: Desk, overlay: Of<'agents'>, filter: string): void {
  const wanted = filter.trim().toLowerCase();
  const rows = wanted === '' ? [] : agentRows(desk.state, filter, desk.look);
  const found = rows.find(({ agent }) => agent.name.toLowerCase().includes(wanted)) ?? rows.at(-1);
  const selected = found?.agent.id ?? overlay.selected;
  desk.dispatch({ type: 'overlay', overlay: { ...overlay, filter, selected } });
}

function killKey(desk: Desk, overlay: Of<'kill'>, data: string): void {
  const typed = printable(data)?.toLowerCase();
  if (typed === 'y') {
    close(desk);
    return desk.attempt(async () => {
      for (const id of overlay.agent_ids) await desk.runtime.kill(id);
    });
  }
  if (typed === 'n' || matchesKey(data, 'escape')) close(desk);
}

function quitKey(desk: Desk, data: string): void {
  const typed = printable(data)?.toLowerCase();
  if (typed === 'd') return desk.leave('detach');
  if (typed === 'k') return desk.leave('kill');
  if (typed === 'n' || matchesKey(data, 'escape')) close(desk);
}
