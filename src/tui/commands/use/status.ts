import { isWorking } from '../../../records/agent/state.ts';
import { statusWord } from '../../../render/agent-status.ts';
import { count } from '../../../render/amounts.ts';
import { clean } from '../../../render/clean.ts';
import type { AppContext } from '../../app-context.ts';
import { modeInView, totalUsage } from '../../state/ui-state.ts';
import { contextWords } from './context.ts';

/** `/status`: shows who is in view, with which model, mode and folder, how full its context is, and what the tree does and has used. */
export function tellStatus(app: AppContext, _: null, view: string | null): void {
  const { state } = app;
  const agent = view === null ? undefined : state.agents.get(view);
  const { config, folder } = app.placeOf(view);
  const agents = [...state.agents.values()];
  const working = agents.filter((one) => isWorking(one.state.type)).length;
  const { input, output, cost_usd } = totalUsage(state);
  const cost = cost_usd === null ? 'cost unknown' : `$${cost_usd.toFixed(4)}`;
  const rows: readonly (readonly [string, string])[] = [
    [
      'agent',
      agent === undefined ? 'none yet: send a first message' : `${agent.name} (${statusWord(agent)})`,
    ],
    ['tree', state.root_id?.slice(0, 8) ?? ''],
    ['model', `${agent === undefined ? (app.next_model ?? config.model) : config.model}  /model`],
    ['effort', `${agent === undefined ? (app.next_effort ?? config.thinking) : config.thinking}  /effort`],
    ['mode', `${modeInView(state)}  /mode`],
    ['folder', folder],
    ['context', view === null ? '' : `${contextWords(app, view)}  /context`],
    ['agents', `${agents.length}, ${working} at work, ${state.asks.length} questions open  /agents`],
    ['used', `${count(input + output)} tokens, ${cost}  /cost`],
  ];
  const shown = rows.filter(([, value]) => value !== '');
  app.say(shown.map(([name, value]) => `${name.padEnd(8)} ${clean(value)}`).join('\n'));
}
