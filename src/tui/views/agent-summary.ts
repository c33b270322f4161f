import { type Agent, differencesFromRoot } from '../../records/agent/agent.ts';
import { failureOf, isFanIn, isWorking } from '../../records/agent/state.ts';
import { pauseOf } from '../../records/conversation/parked.ts';
import { nameOf, type Outcome, outcomeOf, shownWord } from '../../records/run/outcome.ts';
import { endOfText } from '../../records/text/cut-text.ts';
import { statusWord } from '../../render/agent-status.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { type StateWord, statePaint, stateSign } from '../../render/state-mark.ts';
import type { Paint, UiStyle } from '../../render/style.ts';
import { openWait } from '../state/agents/open-waits.ts';
import { askOf } from '../state/question-in-view.ts';
import { paneOf, rootOf, type UiState } from '../state/ui-state.ts';
import { separator } from '../text/line.ts';

/** Colour, sign and text. */
export type Summary = readonly [paint: Paint, mark: string, text: string];

/**
 * The state of an agent in one line: what it does, what it asks, what it reported or said last, how it ended. `with_model`: also its model and effort, if they
 * differ from the root's, unless it asks.
 */
export function agentSummary(state: UiState, agent: Agent, style: UiStyle, with_model = false): Summary {
  const ask = askOf(state, agent.id);
  if (ask !== null) {
    const since = duration(state.now - ask.asked_at);
    return [
      'yellow',
      '!',
      `waits for you ${since}${separator(style)}${clean(ask.tool)}: ${clean(ask.subject)}`,
    ];
  }
  const outcome = outcomeOf(agent);
  const word = shownWord(statusWord(agent), outcome.outcome);
  const told = stateText(state, agent, outcome, word, style);
  const text = [...(with_model ? mindOf(state, agent) : []), told].join(separator(style));
  return [statePaint(word), stateSign(word, style), text];
}

/** The same as one piece of a line. */
export function agentText(...of: Parameters<typeof agentSummary>): readonly [Paint, string] {
  const [paint, mark, text] = agentSummary(...of);
  return [paint, of[2].accessible ? text : `${mark} ${text}`];
}

/** When the agent was last heard of: words that it streams, or a change of its record. */
export function heardAt(state: UiState, { id, updated_at }: Agent): number {
  return Math.max(updated_at, paneOf(state, id).pulse.at);
}

/** Model and effort of an agent where they differ from the root's. */
export function mindOf(state: UiState, { config }: Agent): readonly string[] {
  return differencesFromRoot(config, rootOf(state)?.config).map(clean);
}

function stateText(
  state: UiState,
  agent: Agent,
  { outcome, outcome_text }: Outcome,
  word: StateWord,
  style: UiStyle,
): string {
  const { streaming, sent } = paneOf(state, agent.id);
  const { type } = agent.state;
  if (isWorking(type)) {
    const paused = pauseOf(agent.state) === null ? clean(agent.doing ?? '') : clean(outcome_text);
    const answers = type === 'requesting' && streaming.trim() !== '';
    // A screen reader would read each new word.
    const words = answers ? (style.accessible ? 'answering' : `"${lastWords(streaming)}"`) : null;
    const now = words ?? awaitedText(state, agent) ?? paused;
    return now === '' ? nameOf(word) : style.accessible ? `${nameOf(word)}: ${now}` : now;
  }
  const said = sent ?? (agent.state.type === 'completed' ? agent.state.result : agent.reply);
  const told = outcome === 'done' || word === 'queued' ? nameOf(word) : clean(outcome_text);
  return said === null || failureOf(agent.state) !== null ? told : `${told} "${clean(said)}"`;
}

/** Maximum characters read of streamed words. */
const WORDS_MAX = 300;
/** Maximum names of agents that one waits for. */
const NAMES_MAX = 3;

/** The sentence that is being written. */
function lastWords(text: string): string {
  const line = endOfText(text.trimEnd(), WORDS_MAX).split('\n').at(-1) ?? '';
  return clean(/[^.!?]*[.!?]*$/.exec(line)?.[0].trim() || line);
}

/** What an agent waits for; null if it waits for no agent. */
function awaitedText(state: UiState, agent: Agent): string | null {
  const at = agent.state;
  const wait = openWait(agent);
  if (wait === null && !isFanIn(at)) return null;
  const from = wait === null ? (isFanIn(at) ? at.pending : []) : wait.from;
  if (from === null) return 'waits for mail';
  const names = from.slice(0, NAMES_MAX).map((id) => clean(state.agents.get(id)?.name ?? id.slice(0, 8)));
  return `waits for ${names.join(', ')}${from.length > NAMES_MAX ? ` +${from.length - NAMES_MAX}` : ''}`;
}
