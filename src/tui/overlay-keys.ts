import { matchesKey } from '@earendil-works/pi-tui';
import type { AskScope } from '../core/ask.ts';
import { agentRows, moveSelection, selectedAgent } from './agent-rows.ts';
import { askKill, perform } from './app-commands.ts';
import type { Desk } from './desk.ts';
import type { Overlay } from './ui-state.ts';

/** Typing must not answer what has just come up (UX.md, Rules). */
const DEAF_MS = 400;

type Of<T extends Overlay['type']> = Extract<Overlay, { readonly type: T }>;

/** A key while a list or a question is open. */
export function overlayKey(desk: Desk, overlay: Overlay, data: string): void {
  switch (overlay.type) {
    case 'agents':
      return agentsKey(desk, overlay, data);
    case 'approvals':
      return approvalsKey(desk, overlay, data);
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

function printable(data: string): string | null {
  return /^[^\p{Cc}]$/u.test(data) ? data : null;
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
    if (typed === 'k') return askKill(desk, selected);
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

function approvalsKey(desk: Desk, overlay: Of<'approvals'>, data: string): void {
  const [ask] = desk.state.asks;
  if (ask === undefined || matchesKey(data, 'escape')) {
    if (overlay.saying !== null)
      return desk.dispatch({ type: 'overlay', overlay: { ...overlay, saying: null } });
    return close(desk);
  }
  // What was meant for the draft goes there.
  if (Date.now() - overlay.since < DEAF_MS) return desk.editor.handleInput(data);
  if (overlay.saying !== null) return sayingKey(desk, overlay, overlay.saying, ask.id, data);
  const typed = printable(data)?.toLowerCase();
  if (typed === 'y') answer(desk, ask.id, 'allow', 'once', '');
  else if (typed === 's') answer(desk, ask.id, 'allow', 'agent', '');
  else if (typed === 'n') answer(desk, ask.id, 'deny', 'once', '');
  else if (typed === 'm') desk.dispatch({ type: 'overlay', overlay: { ...overlay, saying: '' } });
  else if (typed === 'v') {
    close(desk);
    desk.dispatch({ type: 'visit', agent_id: ask.agent_id });
  }
}

function sayingKey(desk: Desk, overlay: Of<'approvals'>, saying: string, ask_id: string, data: string): void {
  if (matchesKey(data, 'enter')) return answer(desk, ask_id, 'deny', 'once', saying);
  const typed = printable(data);
  const text = matchesKey(data, 'backspace') ? saying.slice(0, -1) : saying + (typed ?? '');
  desk.dispatch({ type: 'overlay', overlay: { ...overlay, saying: text } });
}

function answer(desk: Desk, ask_id: string, verdict: 'allow' | 'deny', scope: AskScope, note: string): void {
  desk.attempt(async () => {
    try {
      await desk.runtime.answer(ask_id, { verdict, scope, note });
    } finally {
      desk.refresh();
    }
  });
}

function killKey(desk: Desk, overlay: Of<'kill'>, data: string): void {
  const typed = printable(data)?.toLowerCase();
  if (typed === 'y') {
    close(desk);
    return desk.attempt(async () => void (await desk.runtime.kill(overlay.agent_id)));
  }
  if (typed === 'n' || matchesKey(data, 'escape')) close(desk);
}

function quitKey(desk: Desk, data: string): void {
  const typed = printable(data)?.toLowerCase();
  if (typed === 'd') return desk.leave('detach');
  if (typed === 'k') return desk.leave('kill');
  if (typed === 'n' || matchesKey(data, 'escape')) close(desk);
}
