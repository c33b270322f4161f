import type { Agent } from '../../records/agent/agent.ts';
import { pauseOf } from '../../records/conversation/parked.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { sign, type UiStyle } from '../../render/style.ts';
import { type Shortcuts, STANDARD_SHORTCUTS } from '../keys/shortcuts.ts';
import { openWait } from '../state/agents/open-waits.ts';
import { askOf } from '../state/question-in-view.ts';
import { paneOf, type UiState } from '../state/ui-state.ts';
import { line, type Part } from '../text/line.ts';

const FRAMES = { unicode: '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏', ascii: '|/-\\' } as const;
const FRAME_MS = 100;

/** The current activity of the agent in view and how to stop it; null when it is at rest. */
export function spinnerLine(
  state: UiState,
  width: number,
  style: UiStyle,
  keys: Shortcuts = STANDARD_SHORTCUTS,
): string | null {
  if (state.trouble !== null) return line(style, width, [['red', `! ledger: ${clean(state.trouble)}`]]);
  const agent = state.view === null ? undefined : state.agents.get(state.view);
  if (agent === undefined) return null;
  const doing = activity(state, agent, keys);
  if (doing === null) return null;
  const { what, clock, stop } = doing;
  if (style.accessible)
    return line(style, width, [
      `${agent.name === '' ? '' : `${clean(agent.name)}: `}${what}.${stop === '' ? '' : ` ${stop}.`}`,
    ]);
  const frames = style.unicode ? FRAMES.unicode : FRAMES.ascii;
  const frame = frames[Math.floor(Math.max(0, state.now) / FRAME_MS) % frames.length] as string;
  const timed = clock === '' ? what : `${what} ${clock}`;
  const parts: Part[] = [
    ['cyan', frame],
    ` ${timed}`,
    ['dim', stop === '' ? '' : ` ${sign(style, '·')} ${stop}`],
  ];
  return line(style, width, parts);
}

interface Activity {
  readonly what: string;
  /** A time that ticks, so it is left out in accessible mode. */
  readonly clock: string;
  readonly stop: string;
}

function activity(state: UiState, agent: Agent, keys: Shortcuts): Activity | null {
  const { state: at } = agent;
  const key = keys.whole('interrupt');
  const stops = (what: string): string => (key === null ? '' : `${key} ${what}`);
  const wait = openWait(agent);
  if (wait !== null) {
    const clock = `${duration(state.now - wait.started_at)} / ${duration(wait.deadline - wait.started_at)}`;
    const stop = stops(wait.from === null ? 'stops waiting' : 'stops waiting (agents keep running)');
    const all = (wait.from ?? []).flatMap((id) => state.agents.get(id) ?? []);
    const held = all.find((one) => pauseOf(one.state) !== null);
    const is_held = held !== undefined && all.every((one) => pauseOf(one.state) !== null);
    return { what: is_held ? clean(outcomeOf(held).outcome_text) : 'waiting', clock, stop };
  }
  const ask = askOf(state, agent.id);
  // The question itself stands below.
  if (ask !== null && state.question !== null && ask === state.asks[0]) return null;
  if (ask !== null)
    return {
      what: `asks you: ${clean(ask.tool)} ${clean(ask.subject)}`,
      clock: '',
      stop: `${keys.whole('approvals') ?? '/approvals'} answers`,
    };
  const since = duration(state.now - agent.updated_at);
  switch (at.type) {
    case 'requesting': {
      const { delay, streaming } = paneOf(state, agent.id);
      const pause = pauseOf(at);
      if (pause !== null && delay === null) {
        const stop = pause.spent === 'person' ? '' : '/retry tries it now, /model switches';
        return { what: clean(outcomeOf(agent).outcome_text), clock: '', stop };
      }
      if (delay === null)
        return {
          what: streaming === '' ? clean(agent.doing ?? 'thinking') : 'answering',
          clock: since,
          stop: stops('interrupts'),
        };
      const clock =
        delay.until === null ? '' : `(again in ${duration(Math.max(0, delay.until - state.now))})`;
      return { what: clean(delay.reason), clock, stop: stops('interrupts') };
    }
    case 'executing':
      return { what: clean(agent.doing ?? 'working'), clock: since, stop: stops('interrupts') };
    case 'awaiting':
      return { what: clean(agent.doing ?? 'awaiting'), clock: since, stop: stops('cancels them') };
    case 'cancelling':
      return { what: clean(agent.doing ?? 'cancelling'), clock: since, stop: 'they are asked to stop' };
    default:
      return null;
  }
}
