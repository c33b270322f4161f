import type { Agent } from '../../../records/agent/agent.ts';
import { cutShort } from '../../../records/conversation/child-text.ts';
import { type StatusWord, statusWord } from '../../../render/agent-status.ts';
import { clean } from '../../../render/clean.ts';
import { statePaint, stateSign } from '../../../render/state-mark.ts';
import type { Paint } from '../../../render/style.ts';
import type { Look } from '../../look.ts';
import type { UiState } from '../../state/ui-state.ts';

/** Sign and words on how an agent stands: what it does, what it asks, what it said last, how it ended. */
export function agentSays(state: UiState, agent: Agent, look: Look): readonly [Paint, string] {
  const ask = state.asks.find((one) => one.agent_id === agent.id);
  if (ask !== undefined)
    return ['yellow', `${look.accessible ? 'asks:' : '!'} ${clean(ask.tool)}: ${clean(ask.subject)}`];
  const word = statusWord(agent);
  const text = stateText(agent, word, look);
  return [statePaint(word), look.accessible ? text : `${stateSign(word, look)} ${text}`];
}

function stateText(agent: Agent, word: StatusWord, look: Look): string {
  const { state } = agent;
  const limit = cutShort(state);
  const why = limit === null ? '' : ` (${clean(limit)})`;
  const said = agent.reply === null ? why : `${why} "${clean(agent.reply)}"`;
  if (state.type === 'killed') return `killed by ${clean(state.by)}`;
  if (state.type === 'failed' || state.type === 'errored') return `${word}: ${clean(state.failure.error)}`;
  if (state.type === 'completed') return `done${why} "${clean(state.result)}"`;
  if (word === 'idle' || word === 'queued') return `${word}${said}`;
  const doing = state.type === 'waiting' ? 'waits for mail' : clean(agent.doing ?? '');
  return doing === '' ? word : look.accessible ? `${word}: ${doing}` : doing;
}
