import type { Agent } from '../../../records/agent/agent.ts';
import { cutShort } from '../../../records/conversation/child-text.ts';
import { statusWord } from '../../../render/agent-status.ts';
import { clean } from '../../../render/clean.ts';
import { type Paint, sign } from '../../../render/style.ts';
import type { Look } from '../../look.ts';
import type { UiState } from '../../state/ui-state.ts';
import type { Part } from '../../text/line.ts';

/** Sign and words on how an agent stands: what it does, what it asks, what it said last, how it ended. */
export function agentSays(state: UiState, agent: Agent, look: Look): Part {
  const [mark, paint, text] = standing(state, agent, look);
  return [paint, look.accessible || mark === '' ? text : `${mark} ${text}`];
}

function standing(state: UiState, agent: Agent, look: Look): readonly [string, Paint, string] {
  const ask = state.asks.find((one) => one.agent_id === agent.id);
  if (ask !== undefined)
    return ['!', 'yellow', `${look.accessible ? 'asks: ' : ''}${clean(ask.tool)}: ${clean(ask.subject)}`];
  const { state: at } = agent;
  const limit = cutShort(at);
  const why = limit === null ? '' : ` (${clean(limit)})`;
  const said = agent.reply === null ? why : `${why} "${clean(agent.reply)}"`;
  if (at.type === 'killed') return [sign(look, '✗'), 'gray', `killed by ${clean(at.by)}`];
  const word = statusWord(agent);
  if (at.type === 'failed')
    return [sign(look, '✗'), word === 'failed' ? 'red' : 'gray', `${word}: ${clean(at.failure.error)}`];
  if (at.type === 'completed') return [sign(look, '✓'), 'green', `done${why} "${clean(at.result)}"`];
  if (at.type === 'errored') return ['!', 'red', `error: ${clean(at.failure.error)}`];
  if (word === 'idle' || word === 'queued') return [sign(look, '○'), 'dim', `${word}${said}`];
  const doing = at.type === 'waiting' ? 'waits for mail' : clean(agent.doing ?? '');
  return [sign(look, '◐'), 'cyan', doing === '' ? word : look.accessible ? `${word}: ${doing}` : doing];
}
