import { type Agent, differencesFromRoot } from '../../records/agent/agent.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import { type StatusWord, statusWord } from '../../render/agent-status.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { statePaint, stateSign } from '../../render/state-mark.ts';
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
  const word = statusWord(agent);
  const text = [...(with_model ? mindOf(state, agent) : []), stateText(agent, word, style)].join(
    separator(style),
  );
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

function stateText(agent: Agent, word: StatusWord, style: UiStyle): string {
  const { state } = agent;
  const limit = cutShort(state);
  const why = limit === null ? '' : ` (${clean(limit)})`;
  const said = agent.reply === null ? why : `${why} "${clean(agent.reply)}"`;
  if (state.type === 'killed') return `killed by ${clean(state.by)}`;
  if (state.type === 'failed' || state.type === 'errored') return `${word}: ${clean(state.failure.error)}`;
  if (state.type === 'completed') return `done${why} "${clean(state.result)}"`;
  if (word === 'idle' || word === 'queued') return `${word}${said}`;
  const doing = state.type === 'waiting' ? 'waits for mail' : clean(agent.doing ?? '');
  return doing === '' ? word : style.accessible ? `${word}: ${doing}` : doing;
}
