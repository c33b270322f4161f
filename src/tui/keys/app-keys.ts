import { matchesKey } from '@earendil-works/pi-tui';
import { isWorking } from '../../records/agent/state.ts';
import { type Answer, isAnswer } from '../answer.ts';
import { askKill, openApprovals, perform, quit } from '../app-commands.ts';
import type { Desk } from '../desk.ts';
import { mayAnswer } from '../state/question.ts';
import { paneOf } from '../state/ui-state.ts';
import { hasPages } from '../views/approval-box.ts';
import type { Action } from './action.ts';
import { actionOf, printable } from './action-of.ts';
import { answerByChord, sayingKey } from './answer-keys.ts';
import { overlayKey } from './overlay-keys.ts';

/** A second Ctrl-C within this time quits. */
const TWICE_MS = 1_000;
let last_clear = Number.NEGATIVE_INFINITY;

/** One key, or one paste. */
export function keyPressed(desk: Desk, data: string): void {
  const { state, editor } = desk;
  const begun_at = state.leader ? state.typed_at : state.now;
  const writes = state.overlay === null && !state.leader && !editor.completing && editor.text === '';
  desk.dispatch({ type: 'typed', alone: writes ? printable(data) : null });
  if (state.overlay !== null && overlayKey(desk, state.overlay, data)) return;
  // A list of completions has its own keys.
  if (
    editor.completing &&
    ['escape', 'tab', 'enter', 'up', 'down'].some((key) => matchesKey(data, key as 'tab'))
  )
    return editor.handleInput(data);
  const action = actionOf(data, state.leader, desk.bindings);
  if (state.leader && action !== 'leader') desk.dispatch({ type: 'leader', on: false });
  const saying = state.question?.saying ?? null;
  if (!state.leader && closesQuestion(desk, data, action)) return;
  if (isAnswer(action)) return answerByChord(desk, action, begun_at);
  if (action !== null) return act(desk, action);
  if (state.leader) return;
  if (saying !== null) return sayingKey(desk, saying, data);
  if (turnsPages(desk, data) || scrolls(desk, data)) return;
  if (desk.takesInput) editor.handleInput(data);
}

/** Esc takes back the words of a deny, as Ctrl-C does, or puts the question off. It never answers. */
function closesQuestion(desk: Desk, data: string, action: Action | null): boolean {
  const { question, now } = desk.state;
  if (question === null) return false;
  const is_escape = matchesKey(data, 'escape');
  if (question.saying !== null && (is_escape || action === 'clear')) {
    desk.dispatch({ type: 'saying', text: null });
    return true;
  }
  // Before the question can have been seen, Esc was meant for the agent in view.
  if (!is_escape || !mayAnswer(desk.state, now)) return false;
  desk.dispatch({ type: 'question', shown: false });
  return true;
}

/** A question for which the screen is too small is read page by page. */
function turnsPages(desk: Desk, data: string): boolean {
  const { state, screen, look } = desk;
  const [ask] = state.asks;
  const by = matchesKey(data, 'pageDown') ? 1 : matchesKey(data, 'pageUp') ? -1 : 0;
  if (by === 0 || ask === undefined || state.question === null) return false;
  if (!hasPages(ask, Math.max(1, screen.columns - 1), screen.rows, look)) return false;
  desk.dispatch({ type: 'turned', by });
  return true;
}

/** On the full screen the scrollback is ours to move. */
function scrolls(desk: Desk, data: string): boolean {
  if (!desk.screen.full) return false;
  const page = Math.max(1, desk.screen.rows - 6);
  const by = matchesKey(data, 'pageUp')
    ? page
    : matchesKey(data, 'pageDown')
      ? -page
      : matchesKey(data, 'shift+up')
        ? 1
        : matchesKey(data, 'shift+down')
          ? -1
          : 0;
  if (by === 0) return false;
  desk.scrolled = Math.max(0, desk.scrolled + by);
  return true;
}

function act(desk: Desk, action: Exclude<Action, Answer>): void {
  const { state } = desk;
  const { view } = state;
  switch (action) {
    case 'leader':
      return desk.dispatch({ type: 'leader', on: !state.leader });
    case 'parent':
    case 'child':
      return desk.dispatch({ type: 'go', to: action });
    case 'previous_sibling':
      return desk.dispatch({ type: 'go', to: 'previous' });
    case 'next_sibling':
      return desk.dispatch({ type: 'go', to: 'next' });
    case 'agents':
      return perform(desk, { name: 'agents' });
    case 'approvals':
      return openApprovals(desk);
    case 'dashboard':
      return perform(desk, { name: 'web' });
    case 'interrupt':
      return interrupt(desk);
    case 'kill':
      return view === null ? undefined : askKill(desk, [view]);
    case 'reap':
    case 'capture':
    case 'fork':
      return perform(desk, { name: action });
    case 'unfold':
      return unfold(desk);
    case 'clear':
      return clear(desk);
    case 'suspend':
      return desk.screen.suspend();
    case 'quit':
      return quit(desk);
    case 'keys':
      return perform(desk, { name: 'help' });
    default:
      desk.dispatch({ type: 'slot', slot: Number(action.slice('slot_'.length)) });
  }
}

/** Esc concerns the agent in view only, and never kills. */
function interrupt(desk: Desk): void {
  const { view } = desk.state;
  const agent = view === null ? undefined : desk.state.agents.get(view);
  if (agent !== undefined && isWorking(agent.state.type))
    return desk.attempt(() => desk.runtime.interrupt(agent.id, 'Esc was pressed'));
  // Nothing to interrupt: the whole scrollback closes.
  if (desk.browsing) desk.browsing = false;
}

function clear(desk: Desk): void {
  const now = Date.now();
  if (desk.editor.text !== '') {
    desk.editor.setText('');
    last_clear = now;
    return;
  }
  if (now - last_clear < TWICE_MS) return quit(desk);
  last_clear = now;
  desk.say('Ctrl-C again leaves');
}

/** Opens what is folded, or closes it again; what was printed already is opened on the full screen. */
function unfold(desk: Desk): void {
  const { view } = desk.state;
  if (view === null) return;
  const { entries } = paneOf(desk.state, view);
  const foldable = entries
    .flatMap((entry, index) => (entry.type === 'say' ? [] : [{ entry, index }]))
    .slice(-200);
  const opened = !foldable.some(({ entry }) => entry.opened);
  for (const { index } of foldable) desk.dispatch({ type: 'fold', agent_id: view, index, opened });
  desk.browsing = opened;
  desk.scrolled = 0;
}
