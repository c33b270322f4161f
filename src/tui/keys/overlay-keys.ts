import { matchesKey } from '@earendil-works/pi-tui';
import { runCommand } from '../app-commands.ts';
import type { AppContext } from '../app-context.ts';
import { askKill, askKillIdle } from '../commands/agents/kill.ts';
import { restoreFiles } from '../commands/changes/undo.ts';
import { openPicker, otherFolders } from '../commands/resume.ts';
import { idleAgents } from '../state/agents/family.ts';
import { agentRows, moveSelection, SIDE_FROM, selectedAgent } from '../state/agents/filtered-agents.ts';
import type { Choice } from '../state/answer.ts';
import { type Confirmation, dueChoice, isConfirmation } from '../state/confirmation.ts';
import { moveRow, type Picker, selectedRow, withEffort } from '../state/picker.ts';
import { askOf } from '../state/question-in-view.ts';
import type { Overlay } from '../state/ui-state.ts';
import { printable, rowStep, typedText } from './action-of.ts';
import { answerByLetter } from './answer-keys.ts';
import { runKey } from './run-keys.ts';

type Of<T extends Overlay['type']> = Extract<Overlay, { readonly type: T }>;

/** Handles a key while a list or a confirmation is open. False: the key has closed the confirmation and should have its usual effect, too. */
export function overlayKey(app: AppContext, overlay: Overlay, data: string): boolean {
  if (isConfirmation(overlay)) return confirmationKey(app, overlay, data);
  if (overlay.type === 'trees') app.overview.key(data);
  else if (overlay.type === 'agents') agentsKey(app, overlay, data);
  else if (overlay.type === 'run') runKey(app, overlay, data);
  else if (overlay.type === 'picker') pickerKey(app, overlay, data);
  else close(app);
  return true;
}

function close(app: AppContext): void {
  app.filtering = false;
  app.dispatch({ type: 'overlay', overlay: null });
}

/** Whether a letter answers the question of the agent that is selected in the list. */
export function answersInList({ state, filtering }: AppContext, letter: string | null): boolean {
  const { overlay, asks, view } = state;
  const is_letter = letter === 'y' || letter === 'n';
  if (overlay?.type !== 'agents' || filtering || !is_letter) return false;
  return asks[0]?.agent_id === (overlay.selected ?? view);
}

function agentsKey(app: AppContext, overlay: Of<'agents'>, data: string): void {
  const open = (next: Overlay) => app.dispatch({ type: 'overlay', overlay: next });
  const rows = agentRows(app.state, overlay.filter, app.style);
  const selected = selectedAgent(app.state, overlay, rows);
  const by = rowStep(data);
  if (by !== 0) return open(moveSelection(app.state, overlay, by, app.style));
  if (matchesKey(data, 'escape')) {
    if (!app.filtering && overlay.filter === '') return close(app);
    app.filtering = false;
    return open({ ...overlay, filter: '' });
  }
  if (matchesKey(data, 'ctrl+c')) return close(app);
  if (matchesKey(data, 'enter')) {
    app.filtering = false;
    return selected === null ? close(app) : app.dispatch({ type: 'visit', agent_id: selected });
  }
  if (matchesKey(data, 'tab')) {
    const ids = rows.map(({ agent }) => agent.id);
    const from = selected === null ? 0 : ids.indexOf(selected) + 1;
    const next = [...ids.slice(from), ...ids.slice(0, from)].find((id) => askOf(app.state, id) !== null);
    return next === undefined ? undefined : open({ ...overlay, selected: next });
  }
  if (matchesKey(data, 'backspace')) return filtered(app, overlay, overlay.filter.slice(0, -1));
  const typed = typedText(data);
  if (typed === null) return;
  const is_key = printable(data) !== null;
  if (answersInList(app, typed)) return answerByLetter(app);
  if (is_key && !app.filtering && selected !== null) {
    if (typed === ' ') return open({ ...overlay, peek: !(overlay.peek ?? app.screen.columns >= SIDE_FROM) });
    if (typed === 's') {
      const name = app.state.agents.get(selected)?.name ?? selected;
      close(app);
      return app.editor.setText(`/send ${/\s/.test(name) ? `"${name}"` : name} `);
    }
    if (typed === 'k') return askKill(app, [selected], overlay);
    if (typed === 'i') return askKillIdle(app);
    if (typed === 'r') return runCommand(app, '/reap');
    if (/^[1-9]$/.test(typed)) return app.dispatch({ type: 'pin', agent_id: selected, slot: Number(typed) });
  }
  // `/` starts a filter, as does any other letter or a paste.
  const begins = is_key && !app.filtering && typed === '/';
  app.filtering = true;
  if (!begins) filtered(app, overlay, overlay.filter + typed);
}

/** A new filter selects the first agent that matches, not an ancestor shown above it. */
function filtered(app: AppContext, overlay: Of<'agents'>, filter: string): void {
  const wanted = filter.trim().toLowerCase();
  const rows = wanted === '' ? [] : agentRows(app.state, filter, app.style);
  const found = rows.find(({ agent }) => agent.name.toLowerCase().includes(wanted)) ?? rows.at(-1);
  const selected = found?.agent.id ?? overlay.selected;
  app.dispatch({ type: 'overlay', overlay: { ...overlay, filter, selected } });
}

function confirmationKey(app: AppContext, question: Confirmation, data: string): boolean {
  const held = app.state.deciding;
  const is_enter = matchesKey(data, 'enter');
  if (held !== null && is_enter) decide(app, question, held.decision);
  else if (matchesKey(data, 'escape')) leave(app, question);
  // Whoever presses Ctrl-C again and again wants to leave: the question stays.
  else if (question.type === 'quit' && held === null && matchesKey(data, 'ctrl+c')) return true;
  // Enter chooses nothing by default.
  else if (is_enter && app.editor.text === '') return true;
  else {
    const letter = printable(data);
    if (letter !== null && held === null) app.dispatch({ type: 'decide', letter });
    if (held === null && app.state.deciding !== null) return true;
    close(app);
    if (held !== null && app.acceptsInput) app.editor.handleInput(held.text);
    return false;
  }
  return true;
}

/** Decides by a held letter once no other key has followed it for long enough. */
export function confirmByLetter(app: AppContext): void {
  const { overlay } = app.state;
  const decision = dueChoice(app.state);
  if (overlay !== null && isConfirmation(overlay) && decision !== null) decide(app, overlay, decision);
}

/** Closes a confirmation that was answered: a kill that was asked for in the list of agents goes back to it. */
function leave(app: AppContext, question: Confirmation): void {
  const list = question.type === 'kill' ? question.list : null;
  app.dispatch({ type: 'overlay', overlay: list ?? null });
}

function decide(app: AppContext, question: Confirmation, decision: Choice): void {
  leave(app, question);
  if (question.type === 'consent') return decision === 'stay' ? question.no?.run() : question.run();
  if (decision === 'stay') return;
  if (question.type === 'restore') return app.attempt(() => restoreFiles(app, question));
  if (question.type === 'quit')
    return decision === 'restore' || decision === 'start' ? undefined : app.leave(decision);
  app.attempt(async () => {
    const killed = new Set<string>();
    for (const id of question.agent_ids)
      if (question.only_idle !== true || idleAgents(app.state).some((agent) => agent.id === id))
        for (const ended of await app.runtime.kill(id)) killed.add(ended);
    if (question.only_idle) app.say(`ended ${killed.size} idle; /reap removes them from the list`);
  });
}

function pickerKey(app: AppContext, picker: Picker, data: string): void {
  const open = (next: Picker) => openPicker(app, next);
  const filtered = (filter: string) => open({ ...picker, filter, selected: null });
  const choose = (does: Picker['choose']) => {
    const row = selectedRow(picker);
    close(app);
    if (row !== null) app.attempt(async () => does(row, picker));
  };
  const by = rowStep(data);
  if (by !== 0) return open(moveRow(picker, by));
  if (picker.effort !== undefined && matchesKey(data, 'left')) return open(withEffort(picker, -1));
  if (picker.effort !== undefined && matchesKey(data, 'right')) return open(withEffort(picker, 1));
  if (matchesKey(data, 'escape')) return picker.filter === '' ? close(app) : filtered('');
  if (matchesKey(data, 'ctrl+c')) return close(app);
  if (matchesKey(data, 'backspace')) return filtered([...picker.filter].slice(0, -1).join(''));
  if (matchesKey(data, 'enter')) return choose(picker.choose);
  if (picker.tab !== undefined && matchesKey(data, 'tab')) return choose(picker.tab.choose);
  const typed = typedText(data);
  if (typed === null) return;
  if (typed === 'a' && picker.filter === '' && picker.other !== null)
    return app.attempt(() => otherFolders(app, picker));
  // A filter whose first letter is a command (`a`) is begun with a space or `/`.
  filtered(picker.filter === '' && typed === '/' ? ' ' : picker.filter + typed);
}
