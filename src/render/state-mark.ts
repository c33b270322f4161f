// Sign and colour of every state that people see: of agents, runs and deliveries, and of the agents that a wait collects.
import { nameOf } from '../records/run/outcome.ts';
import { type Paint, paint, type Sign, type Style, sign } from './style.ts';

const MARKS = {
  running: ['◐', 'cyan'],
  waiting: ['◔', 'yellow'],
  queued: ['◌', 'dim'],
  pending: ['◌', 'yellow'],
  unled: ['–', 'yellow'],
  idle: ['○', 'dim'],
  rests: ['○', 'dim'],
  received: ['✓', 'green'],
  done: ['✓', 'green'],
  completed: ['✓', 'green'],
  delivered: ['✓', 'green'],
  cut_short: ['!', 'yellow'],
  waiting_for_you: ['!', 'yellow'],
  error: ['!', 'red'],
  failed: ['✗', 'red'],
  timeout: ['✗', 'red'],
  declined: ['✗', 'red'],
  cancelled: ['✗', 'dim'],
  stopped: ['✗', 'dim'],
  dead: ['✗', 'dim'],
} as const satisfies Record<string, readonly [Sign, Paint]>;

export type StateWord = keyof typeof MARKS;

export function stateSign(word: StateWord, style: Style): string {
  return sign(style, MARKS[word][0]);
}

export function statePaint(word: StateWord): Paint {
  return MARKS[word][1];
}

/** Sign and word, always both, because not everybody can tell colours apart. */
export function stateMark(word: StateWord, style: Style): string {
  return paint(style, statePaint(word), `${stateSign(word, style)} ${nameOf(word)}`);
}
