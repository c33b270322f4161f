/**
 * Proves the laws that the kernel itself keeps (1–5 and 12) and its totality: on every state that the types allow, and on long
 * generated runs, of which `kernel-run.ts` checks every step against its own count.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { TransitionContext } from '../../../src/kernel/transition/transition.ts';
import { isTerminal, type StateType } from '../../../src/records/agent/state.ts';
import { DEEP } from '../../house/deep.ts';
import { anyEvent, anyState, context } from './arbitrary-kernel.ts';
import { decide, KernelRun } from './kernel-run.ts';
import { eventOf, type Move, move } from './move.ts';

const RUNS = { numRuns: DEEP ? 1_500 : 200 };

function play(moves: readonly Move[], run: KernelRun): KernelRun {
  for (const one of moves) run.apply(eventOf(one, run));
  return run;
}

const START: Move = { type: 'input' };
const moves = fc.array(move, { maxLength: 60, size: 'max' });

const CALL = { name: 'bash', input: '{}', side_by_side: false, idempotent: false } as const;
const ONE_CALL: Move = { type: 'answer', said: '', calls: [CALL], same_ids: false };
const A_CHILD: Move = { type: 'settle', which: 0, bad: false, children: 1 };
/** A history that ends in each state in which a turn can be; `reports` is whether the agent owes a report. */
const ENDING_IN: Readonly<Record<string, { readonly reports: boolean; readonly list: Move[] }>> = {
  idle: { reports: false, list: [{ ...ONE_CALL, calls: [] }] },
  requesting: { reports: true, list: [] },
  executing: { reports: true, list: [ONE_CALL] },
  awaiting: { reports: true, list: [ONE_CALL, A_CHILD] },
  cancelling: { reports: true, list: [ONE_CALL, A_CHILD, { type: 'cancel', knows: 0 }] },
  errored: { reports: false, list: [{ type: 'request-failed' }] },
  failed: { reports: true, list: [{ type: 'request-failed' }] },
};

describe('the laws of the kernel', () => {
  it('is total: any event in any state gives a transition or an error, and never throws', () => {
    fc.assert(
      fc.property(anyState, anyEvent, context, (state, event, about) => {
        const result = decide(state, event, about);
        if (result.ok) return;
        assert.equal(result.invalid.state, state.type);
        assert.equal(result.invalid.event, event.type);
        assert.notEqual(result.invalid.reason, '');
      }),
      { numRuns: DEEP ? 5_000 : 600 },
    );
  });

  it('law 3: terminal states admit no event', () => {
    const terminal = anyState.filter((state) => isTerminal(state.type));
    fc.assert(
      fc.property(terminal, anyEvent, context, (state, event, about) => {
        assert.equal(decide(state, event, about).ok, false);
      }),
      RUNS,
    );
  });

  it('laws 1, 2, 3, 4, 5 and 12 hold after every event of any run', () => {
    fc.assert(
      fc.property(context, moves, (about, list) => void play([START, ...list], new KernelRun(about))),
      RUNS,
    );
  });

  it('law 12: a replay of the log gives the same state and the same messages', () => {
    fc.assert(
      fc.property(context, moves, (about, list) => {
        const first = play([START, ...list], new KernelRun(about));
        const again = new KernelRun(about);
        for (const event of structuredClone(first.events)) again.apply(event);
        assert.deepEqual(structuredClone(again.state), structuredClone(first.state));
        assert.deepEqual(structuredClone(again.messages), structuredClone(first.messages));
      }),
      { numRuns: DEEP ? 300 : 100 },
    );
  });

  it('a kill ends the agent in any state, stops running calls and requests nothing more', () => {
    const met = new Set<StateType>();
    const examples = Object.values(ENDING_IN).map(({ reports, list }): [TransitionContext, Move[]] => [
      { reports, submits: reports, turns: 3 },
      list,
    ]);
    fc.assert(
      fc.property(context, moves, (about, list) => {
        const run = play([START, ...list], new KernelRun(about));
        const before = run.state.type;
        met.add(before);
        const result = run.apply({ type: 'kill', at: 1, by: 'you' });
        assert.equal(result.ok, !isTerminal(before));
        if (!result.ok) return;
        assert.deepEqual(result.state, { type: 'killed', by: 'you' });
        assert.deepEqual(result.effects, [{ type: 'abort' }]);
      }),
      { ...RUNS, examples },
    );
    for (const type of Object.keys(ENDING_IN))
      assert.ok(met.has(type as StateType), `no run ended in ${type}: this proves nothing about it`);
  });

  it('after any history, a cancel and the outcomes of the children end the turn', () => {
    fc.assert(
      fc.property(context, moves, (about, list) => {
        const run = play([START, ...list], new KernelRun(about));
        run.apply({ type: 'cancel', at: 1, by: 'you', reason: 'stop', open: [] });
        for (const agent_id of [...run.spawned.keys()].filter((id) => !run.reported.has(id)))
          run.apply({
            type: 'child-result',
            at: 2,
            child: { agent_id, outcome: { type: 'success', result: '' } },
          });
        assert.ok(
          ['idle', 'errored', 'completed', 'failed', 'killed'].includes(run.state.type),
          run.state.type,
        );
      }),
      RUNS,
    );
  });

  it('after any history, the end of the run time ends the turn, and so does any last answer', () => {
    fc.assert(
      fc.property(context, moves, fc.boolean(), (about, list, answers) => {
        const run = play([START, ...list], new KernelRun(about));
        run.apply({ type: 'limit', at: 1, limit: 'run time', final: false });
        if (answers) run.apply(eventOf({ type: 'answer', said: 'so far', calls: [], same_ids: false }, run));
        run.apply({ type: 'limit', at: 2, limit: 'run time', final: true });
        // A wait ordered by a person is not a turn: it ends at its own deadline.
        assert.ok(
          ['idle', 'waiting', 'errored', 'completed', 'failed', 'killed'].includes(run.state.type),
          run.state.type,
        );
      }),
      RUNS,
    );
  });
});
