import { matchesKey } from '@earendil-works/pi-tui';
import type { Decision } from '../answer.ts';
import { askKill, perform } from '../app-commands.ts';
import type { Desk } from '../desk.ts';
import { agentRows, moveSelection, selectedAgent } from '../state/agent-rows.ts';
import { dueDecision, isOwnQuestion, type OwnQuestion } from '../state/decision.ts';
import type { Overlay } from '../state/ui-state.ts';
import { printable } from './action-of.ts';

type Of<T extends Overlay['type']> = Extract<Overlay, { readonly type: T }>;

/** A key while a list is open, or what the person asked for must be confirmed. False: it left the question, and does what it always does. */
export function overlayKey(desk: Desk, overlay: Overlay, data: string): boolean {
  if (isOwnQuestion(overlay)) return decidingKey(desk, overlay, data);
  if (overlay.type === 'agents') agentsKey(desk, overlay, data);
  else close(desk);
  return true;
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

function decidingKey(desk: Desk, question: OwnQuestion, data: string): boolean {
  const held = desk.state.deciding;
  const is_enter = matchesKey(data, 'enter');
  if (held !== null && is_enter) decide(desk, question, held.decision);
  else if (matchesKey(data, 'escape')) close(desk);
  // There is no default.
  else if (is_enter && desk.editor.text === '') return true;
  else {
    const letter = printable(data);
    if (letter !== null && held === null) desk.dispatch({ type: 'decide', letter });
    if (held === null && desk.state.deciding !== null) return true;
    close(desk);
    if (held !== null && desk.takesInput) desk.editor.handleInput(held.text);
    return false;
  }
  return true;
}

/** A letter has stayed alone long enough. */
export function decideByLetter(desk: Desk): void {
  const { overlay } = desk.state;
  const decision = dueDecision(desk.state);
  if (overlay !== null && isOwnQuestion(overlay) && decision !== null) decide(desk, overlay, decision);
}

function decide(desk: Desk, question: OwnQuestion, decision: Decision): void {
  close(desk);
  if (decision === 'stay') return;
  if (question.type === 'quit') return desk.leave(decision);
  desk.attempt(async () => {
    for (const id of question.agent_ids) await desk.runtime.kill(id);
  });
}
