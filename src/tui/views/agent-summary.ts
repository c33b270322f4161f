import { type Agent, differencesFromRoot } from '../../records/agent/agent.ts';
import { failureOf, isWorking } from '../../records/agent/state.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { pauseOf } from '../../records/conversation/parked.ts';
import { nameOf, type Outcome, outcomeOf, shownWord } from '../../records/run/outcome.ts';
import { statusWord } from '../../render/agent-status.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { type StateWord, statePaint, stateSign } from '../../render/state-mark.ts';
import type { Paint, UiStyle } from '../../render/style.ts';
import { askOf } from '../state/question-in-view.ts';
import { rootOf, type UiState } from '../state/ui-state.ts';
import { separator } from '../text/line.ts';

/**
 * The state of an agent in one line: what it does, what it asks, what it said last, how it ended. `with_model`: also its model and effort, if they differ from
 * the root's, unless it asks.
 */
export function agentSummary(
  state: UiState,
  agent: Agent,
  style: UiStyle,
  with_model = false,
): readonly [Paint, string] {
  const ask = askOf(state, agent.id);
  if (ask !== null) return ['yellow', askSummary(state, ask, '', style)];
  const outcome = outcomeOf(agent);
  const word = shownWord(statusWord(agent), outcome.outcome);
  const told = stateText(agent, outcome, word, style);
  const text = [...(with_model ? mindOf(state, agent) : []), told].join(separator(style));
  return [statePaint(word), style.accessible ? text : `${stateSign(word, style)} ${text}`];
}

/** Model and effort of an agent where they differ from the root's. */
export function mindOf(state: UiState, { config }: Agent): readonly string[] {
  return differencesFromRoot(config, rootOf(state)?.config).map(clean);
}

/** An open question in one line, with how long it has waited; `asker`: a name to show, or empty. */
export function askSummary(state: UiState, ask: Ask, asker: string, style: UiStyle): string {
  const mark = style.accessible ? '' : '! ';
  const who = asker === '' ? '' : `${clean(asker)} `;
  const since = duration(state.now - ask.asked_at);
  return `${mark}${who}waits for you ${since}${separator(style)}${clean(ask.tool)}: ${clean(ask.subject)}`;
}

function stateText(
  { state, reply, doing }: Agent,
  { outcome, outcome_text }: Outcome,
  word: StateWord,
  style: UiStyle,
): string {
  if (isWorking(state.type)) {
    const paused = pauseOf(state) === null ? doing : outcome_text;
    const now = state.type === 'waiting' ? 'waits for mail' : clean(paused ?? '');
    return now === '' ? nameOf(word) : style.accessible ? `${nameOf(word)}: ${now}` : now;
  }
  const said = state.type === 'completed' ? state.result : reply;
  const told = outcome === 'done' || word === 'queued' ? nameOf(word) : clean(outcome_text);
  return said === null || failureOf(state) !== null ? told : `${told} "${clean(said)}"`;
}
