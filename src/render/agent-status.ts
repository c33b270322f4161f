import type { Agent } from '../records/agent/agent.ts';
import { isWorking } from '../records/agent/state.ts';
import { isParked } from '../records/conversation/parked-call.ts';
import { type Paint, paint, type Style } from './style.ts';

export type StatusWord =
  | 'running'
  | 'waiting'
  | 'queued'
  | 'idle'
  | 'error'
  | 'done'
  | 'failed'
  | 'cancelled'
  | 'dead';
/** `unled`: it has something to do, and nobody leads it. */
export type ToldStatus = StatusWord | 'unled';

/** The state of an agent in one word for people. */
export function statusWord(agent: Agent): StatusWord {
  const { state } = agent;
  if (state.type === 'executing' && state.running.length > 0 && state.running.every(isParked))
    return 'waiting';
  if (state.type === 'awaiting' || state.type === 'cancelling') return 'waiting';
  if (isWorking(state.type)) return 'running';
  if (state.type === 'errored') return 'error';
  if (state.type === 'completed') return 'done';
  if (state.type === 'failed') return state.failure.kind === 'cancelled' ? 'cancelled' : 'failed';
  if (state.type === 'killed') return 'dead';
  // A run rests only before it begins.
  return agent.origin === 'session' || agent.origin === 'delegate' || agent.origin === 'cron'
    ? 'queued'
    : 'idle';
}

/** The same of an agent whose tree stands still (`unled`), or may not. */
export function toldStatus(agent: Agent, unled: boolean): ToldStatus {
  const word = statusWord(agent);
  return unled && (word === 'running' || word === 'queued') ? 'unled' : word;
}

const LOOKS: Readonly<
  Record<ToldStatus, { readonly unicode: string; readonly ascii: string; readonly paint: Paint }>
> = {
  running: { unicode: '◐', ascii: '*', paint: 'cyan' },
  waiting: { unicode: '◔', ascii: '~', paint: 'yellow' },
  queued: { unicode: '◌', ascii: '.', paint: 'dim' },
  unled: { unicode: '–', ascii: '-', paint: 'yellow' },
  idle: { unicode: '○', ascii: 'o', paint: 'green' },
  error: { unicode: '!', ascii: '!', paint: 'red' },
  done: { unicode: '✓', ascii: '+', paint: 'green' },
  failed: { unicode: '✗', ascii: 'x', paint: 'red' },
  cancelled: { unicode: '✗', ascii: 'x', paint: 'gray' },
  dead: { unicode: '✗', ascii: 'x', paint: 'gray' },
};

/** Symbol and word, always both: colour alone says nothing to some. */
export function status(agent: Agent, style: Style, unled = false): string {
  const word = toldStatus(agent, unled);
  const look = LOOKS[word];
  return paint(style, look.paint, `${style.unicode ? look.unicode : look.ascii} ${word}`);
}

/** The symbol of a status that is known by its word only. */
export function statusSign(word: string): string {
  return Object.hasOwn(LOOKS, word)
    ? LOOKS[word as ToldStatus].unicode
    : word === 'killed'
      ? LOOKS.dead.unicode
      : '·';
}
