import { type Agent, isTask } from '../records/agent/agent.ts';
import { isFanIn, isWorking } from '../records/agent/state.ts';
import { isParked } from '../records/conversation/parked.ts';

export const STATUS_WORDS = [
  ...(['running', 'waiting', 'queued', 'idle', 'error'] as const),
  ...(['done', 'failed', 'cancelled', 'dead'] as const),
] as const;
export type StatusWord = (typeof STATUS_WORDS)[number];

export function statusWord(agent: Agent): StatusWord {
  const { state } = agent;
  if (state.type === 'requesting' && (state.asked ?? state.paused) !== undefined) return 'waiting';
  if (state.type === 'executing' && state.running.length > 0 && state.running.every(isParked))
    return 'waiting';
  if (state.type === 'waiting' || isFanIn(state)) return 'waiting';
  if (isWorking(state.type)) return 'running';
  if (state.type === 'errored') return 'error';
  if (state.type === 'completed') return 'done';
  if (state.type === 'failed') return state.failure.kind === 'cancelled' ? 'cancelled' : 'failed';
  if (state.type === 'killed') return 'dead';
  if (!isTask(agent.origin)) return 'idle';
  // A run is at rest before it starts, and while its forks work.
  return agent.reply === null ? 'queued' : 'waiting';
}

/** As `statusWord`, but `unled` for an agent with work to do in a tree that no process leads. */
export function ledStatus(agent: Agent, unled: boolean): StatusWord | 'unled' {
  const word = statusWord(agent);
  return unled && (word === 'running' || word === 'queued') ? 'unled' : word;
}
