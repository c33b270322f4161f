import type { Step } from '../../src/kernel/step.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { type AgentState, isWorking } from '../../src/records/agent/state.ts';
import type { Situation, StepKind } from './kill-points.ts';

/** `resumes`: it is the agent's first since it was claimed. */
export function stepKind(step: Step, resumes: boolean): StepKind {
  const { state, messages } = step;
  if (resumes) return 'resume';
  if (step.kill.length > 0) return 'kill';
  if (step.create.length > 0) return 'fork';
  if (!isWorking(state.type)) return 'end';
  if (step.send.length > 0) return 'send';
  if (step.consume.length > 0) return 'receive';
  if (isParked(state)) return 'wait';
  return messages.some(({ kind }) => kind === 'result') ? 'result' : 'answer';
}

export function situationOf({ state }: Agent): Situation {
  if (!isWorking(state.type)) return 'resting';
  if (state.type === 'requesting') return 'asking';
  return isParked(state) ? 'waiting' : 'calling';
}

function isParked(state: AgentState): boolean {
  if (state.type !== 'executing') return state.type !== 'requesting';
  return state.running.every(({ wait, child }) => wait !== undefined || child !== undefined);
}
