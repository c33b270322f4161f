import { isTerminal } from '../../core/state.ts';
import { sign } from '../../render/style.ts';
import { line } from '../line.ts';
import type { Look } from '../look.ts';
import { paneOf, type UiState } from '../ui-state.ts';

/** What can be done next; the first that fits from the left counts most. `leader` is the name of the leader key. */
export function hintLine(state: UiState, width: number, look: Look, leader = 'Ctrl-X'): string {
  const hints = hintsFor(state, leader);
  return line(look, width, [['dim', ` ${hints.join(` ${look.accessible ? '-' : sign(look, '·')} `)}`]]);
}

function hintsFor(state: UiState, leader: string): readonly string[] {
  if (state.leader)
    return [
      'arrows move',
      '0-9 slot',
      'a agents',
      '! approvals',
      'c capture',
      'f fork',
      'k kill',
      'r reap',
      '? keys',
      'q quit',
      'Esc back',
    ];
  const agent = state.view === null ? undefined : state.agents.get(state.view);
  if (agent !== undefined && isTerminal(agent.state.type))
    return ['ended: no input', `${leader} arrows move`, `${leader} r removes ended agents`];
  if (agent !== undefined && paneOf(state, agent.id).capture !== null)
    return ['/fork starts a child with this', '/cancel leaves it', `${leader} a agents`];
  const asks = state.asks.length > 0 ? [`${leader} ! answers ${state.asks.length}`] : [];
  return [...asks, `${leader} a agents`, `${leader} ? keys`, '/ commands'];
}
