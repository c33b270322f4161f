import { isTerminal } from '../../records/agent/state.ts';
import type { UiStyle } from '../../render/style.ts';
import type { Action } from '../keys/actions.ts';
import { type Shortcuts, STANDARD_SHORTCUTS } from '../keys/shortcuts.ts';
import { MODE_WORDS, modeInView } from '../state/mode-in-view.ts';
import { paneOf, type UiState } from '../state/ui-state.ts';
import { line, separator } from '../text/line.ts';

/** Hints on what can be done next, most important first. */
export function hintLine(state: UiState, width: number, style: UiStyle, keys = STANDARD_SHORTCUTS): string {
  const hints = hintsFor(state, keys).filter((hint) => hint !== null);
  return line(style, width, [['dim', ` ${hints.join(separator(style))}`]]);
}

function hintsFor(state: UiState, keys: Shortcuts): readonly (string | null)[] {
  const { leader } = keys;
  if (state.leaving !== null) return [named(keys.whole('clear'), 'again leaves')];
  const behind = (action: Action, word: string) => named(keys.short(action), word);
  if (state.leader)
    return [
      ...(state.question === null ? [] : [behind('allow', 'once'), behind('deny', 'deny')]),
      'arrows move',
      '0-9 slot',
      behind('agents', 'agents'),
      behind('trees', 'trees'),
      behind('approvals', 'approvals'),
      behind('capture', 'capture'),
      behind('fork', 'fork'),
      behind('kill', 'kill'),
      behind('reap', 'reap'),
      behind('keys', 'keys'),
      behind('quit', 'quit'),
      'Esc back',
    ];
  const agent = state.view === null ? undefined : state.agents.get(state.view);
  if (agent !== undefined && isTerminal(agent.state.type))
    return [
      'ended: no input',
      agent.parent_id === null ? named(keys.whole('quit'), 'quits') : null,
      `${leader} arrows move`,
      named(keys.whole('reap'), 'removes ended agents'),
    ];
  const agents = named(keys.whole('agents'), 'agents');
  if (agent !== undefined && paneOf(state, agent.id).capture !== null)
    return ['/fork starts a child with this', '/cancel ends it', '// writes a /', agents];
  const { length } = state.asks;
  const asks = length > 0 ? [named(keys.whole('approvals'), `answers ${length}`)] : [];
  // Kept short: when a window gets narrower and lower at once, it is unknown whether a wide row below the input was dropped or wrapped.
  const mode = MODE_WORDS[modeInView(state)];
  return [...asks, agents, named(keys.whole('keys'), 'keys'), '/ commands', mode];
}

function named(key: string | null, word: string): string | null {
  return key === null ? null : `${key} ${word}`;
}
