import type { Step } from '../../src/kernel/step.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { type AgentState, isWorking } from '../../src/records/agent/state.ts';
/** Points at which a leader kills itself, each with what is true at that moment. */
export const POINTS = {
  'before-commit': 'a step is decided and not yet handed to the ledger',
  'in-commit': 'the ledger has the step in hand: within its transaction, or on the wire',
  'after-commit': 'the ledger has the step, and the process has not heard so',
  'before-effect': 'it was acknowledged; the call or model request that follows has not begun',
  'in-call': 'a call has done its work in the world, and its outcome is not yet committed',
  'in-takeover': 'the agents of a dead process are claimed, and this one has not gone on yet',
} as const;
export type Point = keyof typeof POINTS;

/** Kinds of steps; the kind of a step that does several of these is the first in this order. */
export const STEP_KINDS = {
  root: 'a tree begins',
  cut: 'a tree is taken back, as a new one',
  letter: 'a person writes',
  resume: 'the first step after a takeover',
  kill: 'a child is ended',
  fork: 'children are created',
  end: 'a turn ends',
  send: 'letters and outcomes are sent',
  receive: 'mail enters the conversation',
  wait: 'a wait is parked',
  result: 'a call has its outcome',
  answer: 'the model answered, a call begins',
} as const;
export type StepKind = keyof typeof STEP_KINDS;

/** Activity of an agent when it was claimed. */
export const SITUATIONS = {
  asking: 'its model was being asked',
  calling: 'a call of it ran',
  waiting: 'it waited',
  resting: 'its turn had ended',
} as const;
export type Situation = keyof typeof SITUATIONS;

const EVERY_STEP = Object.keys(STEP_KINDS) as StepKind[];

/** Possible targets of a kill at each point. */
export const HITS: Readonly<Record<Point, readonly (StepKind | Situation)[]>> = {
  'before-commit': EVERY_STEP,
  'in-commit': EVERY_STEP,
  'after-commit': EVERY_STEP,
  // Nothing is performed after a wait was parked, a turn has ended or a tree was taken back.
  'before-effect': EVERY_STEP.filter((kind) => !['letter', 'wait', 'end', 'cut'].includes(kind)),
  'in-call': ['answer', 'result', 'resume'],
  'in-takeover': Object.keys(SITUATIONS) as Situation[],
};

/** `resumes`: whether the step is the agent's first since the agent was claimed. */
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
