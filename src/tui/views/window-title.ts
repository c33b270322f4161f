import { basename } from 'node:path';
import { isWorking } from '../../records/agent/state.ts';
import { clean } from '../../render/clean.ts';
import { sign, type UiStyle } from '../../render/style.ts';
import { rootOf, type UiState } from '../state/ui-state.ts';

/** The title of the terminal's window: the project, and what is going on there. */
export function windowTitle(state: UiState, cwd: string, style: UiStyle): string {
  const root = rootOf(state);
  const working = [...state.agents.values()].filter((agent) => isWorking(agent.state.type)).length;
  const { length: asks } = state.asks;
  const what =
    asks > 0
      ? `${sign(style, '!')} ${asks === 1 ? 'asks' : `${asks} ask`}`
      : working > 0
        ? `${sign(style, '◐')} ${working} at work`
        : root === undefined
          ? 'coppice'
          : `${sign(style, '○')} ${root.state.type === 'errored' ? 'failed' : 'idle'}`;
  return `${clean(basename(cwd))} ${sign(style, '·')} ${what}`;
}
