import type { Transition, TransitionContext } from '../../../src/kernel/transition/transition.ts';
import type { Call, ChildOutcome } from '../../../src/records/agent/state.ts';
import type { ResultStatus } from '../../../src/records/conversation/message.ts';
import { answerOf } from './arbitrary-kernel.ts';
import { KernelRun } from './kernel-run.ts';

export const OWN: TransitionContext = { reports: false, submits: false, turns: 10 };
export const DELEGATE: TransitionContext = { reports: true, submits: false, turns: 2 };
export const CHILD: TransitionContext = { reports: true, submits: true, turns: 2 };

export function call(id: string, over: Partial<Call> = {}): Call {
  return { id, name: 'bash', input: '{}', side_by_side: false, idempotent: false, ...over };
}

export function started(context: TransitionContext): KernelRun {
  const run = new KernelRun(context);
  run.apply({ type: 'input', at: 0, content: { origin: 'human', text: 'go' } });
  return run;
}

export function answer(
  run: KernelRun,
  said: string,
  calls: readonly Call[] = [],
  submission: ChildOutcome | null = null,
): Transition {
  return run.apply({
    type: 'response',
    at: 1,
    seq: 2,
    content: answerOf(said, calls),
    calls,
    submission,
  });
}

export function settle(
  run: KernelRun,
  call_id: string,
  status: ResultStatus = 'ok',
  output = 'fine',
): Transition {
  const result = { call_id, name: 'bash', status, output };
  return run.apply({ type: 'call-settled', at: 2, result, consequences: [], spawned: [] });
}

export function startedBy(result: Transition): string[] {
  return result.ok
    ? result.effects.flatMap((effect) => (effect.type === 'run-call' ? [effect.call.id] : []))
    : [];
}

export function system(run: KernelRun): string {
  const texts = run.messages.flatMap((one) =>
    one.kind === 'user' && one.content.origin === 'system' ? [one.content.text] : [],
  );
  return texts.at(-1) ?? '';
}

/** The time limit that leaves one last answer, and then the final one. */
export const LIMIT = { type: 'limit', at: 5, limit: 'run time of 60 s', final: false } as const;
export const OVER = { ...LIMIT, final: true } as const;
