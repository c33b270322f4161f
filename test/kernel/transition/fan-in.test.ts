/**
 * Proves the fan-in of a parent: with zero, one and a thousand children; late, early and duplicate results; cancel, limit and kill while
 * it lasts; and the exact text that the parent's model gets.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { waitEdges } from '../../../src/kernel/mailbox/wait-edges.ts';
import type { Effect } from '../../../src/kernel/transition/effect.ts';
import type { AgentEvent } from '../../../src/kernel/transition/event.ts';
import { transition } from '../../../src/kernel/transition/transition.ts';
import type { ChildOutcome, SpawnedChild } from '../../../src/records/agent/state.ts';
import { child, outcome } from './arbitrary-kernel.ts';
import { isFanIn, KernelRun } from './kernel-run.ts';
import { eventOf } from './move.ts';

const OWN = { reports: false, submits: false, turns: 10 };
const ONE_CALL = { name: 'spawn_agents', input: '{}', side_by_side: true, idempotent: true };

function children(count: number): SpawnedChild[] {
  return Array.from({ length: count }, (_, place) => ({ agent_id: `uuid-${place}`, task: `task ${place}` }));
}

/** A parent whose calls of `spawn_agents` are running, and the ids of the calls, in order. */
function spawning(calls = 1, context = OWN): { run: KernelRun; ids: string[] } {
  const run = new KernelRun(context);
  run.apply(eventOf({ type: 'input' }, run));
  run.apply(eventOf({ type: 'answer', said: '', calls: Array(calls).fill(ONE_CALL), same_ids: false }, run));
  assert.equal(run.state.type, 'executing');
  return { run, ids: [...run.calls] };
}

function settled(call_id: string, spawned: readonly SpawnedChild[]): AgentEvent {
  const result = { call_id, name: 'spawn_agents', status: 'ok' as const, output: 'spawned' };
  return { type: 'call-settled', at: 1, result, consequences: [], spawned };
}

function reported(agent_id: string, result: string | ChildOutcome = 'done'): AgentEvent {
  const outcome = typeof result === 'string' ? { type: 'success' as const, result } : result;
  return { type: 'child-result', at: 2, child: { agent_id, outcome } };
}

/** A parent that awaits these children. */
function awaiting(spawned: readonly SpawnedChild[], context = OWN): KernelRun {
  const { run, ids } = spawning(1, context);
  run.apply(settled(ids[0] as string, spawned));
  return run;
}

function told(run: KernelRun): unknown {
  const text = run.messages
    .flatMap((message) => (message.kind === 'user' ? [message.content.text] : []))
    .findLast((one) => one.startsWith('{'));
  return text === undefined ? undefined : JSON.parse(text);
}

describe('fan-in', () => {
  it('of no children continues at once without a message', () => {
    const run = awaiting([]);
    assert.equal(run.state.type, 'requesting');
    assert.equal(told(run), undefined);
  });

  it('of two children reports in the documented format, in the order of the tasks', () => {
    const run = awaiting([
      { agent_id: 'uuid-1', task: 'Review error handling from a security perspective' },
      { agent_id: 'uuid-2', task: 'Review error handling from a performance perspective' },
    ]);
    run.apply(
      reported('uuid-2', {
        type: 'failure',
        error: 'Codebase too large to analyze within time limit',
        error_kind: 'sub_agent_error',
      }),
    );
    run.apply(reported('uuid-1', 'Found 3 issues'));
    assert.equal(run.state.type, 'requesting');
    assert.deepEqual(told(run), {
      sub_agent_results: [
        {
          agent_id: 'uuid-1',
          task: 'Review error handling from a security perspective',
          outcome: { success: { result: 'Found 3 issues' } },
        },
        {
          agent_id: 'uuid-2',
          task: 'Review error handling from a performance perspective',
          outcome: {
            failure: {
              error: 'Codebase too large to analyze within time limit',
              error_kind: 'sub_agent_error',
            },
          },
        },
      ],
    });
  });

  it('laws 1, 2 and 4: hold for any number and order, with foreign and duplicate results in between', () => {
    const noise = fc.array(fc.record({ after: fc.nat({ max: 20 }), child }), { maxLength: 5 });
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 12 })
          .chain((count) => fc.shuffledSubarray(children(count), { minLength: count })),
        noise,
        outcome,
        (order, strangers, how) => {
          const run = awaiting(children(order.length));
          for (const [place, { agent_id }] of order.entries()) {
            assert.equal(run.apply(reported(agent_id, how)).ok, true);
            if (isFanIn(run.state))
              assert.equal(run.apply(reported(agent_id, how)).ok, false, 'law 4: doubled');
            for (const one of strangers.filter(({ after }) => after === place))
              assert.equal(
                run.apply({ type: 'child-result', at: 3, child: one.child }).ok,
                false,
                'law 4: unknown',
              );
          }
          assert.equal(run.state.type, 'requesting');
          assert.equal(run.apply(reported(order[0]?.agent_id as string)).ok, false, 'law 4: late');
        },
      ),
    );
  });

  it('of a thousand children ends with the last one', () => {
    const all = children(1_000);
    let { state } = awaiting(all);
    let effects: readonly Effect[] = [];
    for (const [place, { agent_id }] of all.toReversed().entries()) {
      assert.ok(state.type === 'awaiting' && state.pending.length === 1_000 - place, 'law 2');
      assert.equal(state.pending.length + state.results.length, 1_000, 'law 1');
      const next = transition(state, reported(agent_id), OWN);
      assert.ok(next.ok);
      ({ state, effects } = next);
    }
    assert.equal(state.type, 'requesting');
    const [message] = effects;
    assert.ok(message?.type === 'append' && message.message.kind === 'user');
    const rows = JSON.parse(message.message.content.text).sub_agent_results as { agent_id: string }[];
    assert.deepEqual(
      rows.map((row) => row.agent_id),
      all.map((one) => one.agent_id),
    );
  });

  it('keeps results that arrive while the parent runs other calls, and awaits the children of all calls', () => {
    const { run, ids } = spawning(2);
    run.apply(settled(ids[1] as string, [{ agent_id: 'second', task: 'b' }]));
    assert.deepEqual(waitEdges(run.state), ['second']);
    run.apply(reported('second'));
    assert.equal(run.apply(reported('second')).ok, false);
    assert.equal(run.apply(reported('first')).ok, false, 'law 4: not spawned yet');
    assert.deepEqual(waitEdges(run.state), [], 'nobody waits for one that has reported');
    run.apply(settled(ids[0] as string, [{ agent_id: 'first', task: 'a' }]));
    assert.deepEqual(run.state.type === 'awaiting' && run.state.pending, ['first']);
    assert.deepEqual(waitEdges(run.state), ['first']);
    run.apply(reported('first'));
    assert.equal(run.state.type, 'requesting');
  });

  it('children are created in the step that settles the call, whatever else is running', () => {
    const { run, ids } = spawning(2);
    const create: Effect = { type: 'create-agents', agents: [] };
    const spawn = settled(ids[0] as string, children(1));
    const step = run.apply({ ...spawn, consequences: [create] } as AgentEvent);
    assert.ok(step.ok && step.effects.includes(create) && step.state.type === 'executing');
    run.apply(settled(ids[1] as string, []));
    assert.deepEqual(run.state.type === 'awaiting' && run.state.pending, ['uuid-0']);
  });

  it('a cancel while calls run stops them, and asks children that have not reported to stop and awaits them', () => {
    const { run, ids } = spawning(2);
    run.apply(settled(ids[0] as string, children(3)));
    run.apply(reported('uuid-1', 'early'));
    const cancel = run.apply({ type: 'cancel', at: 3, by: 'you', reason: 'enough', open: [] });
    assert.ok(cancel.ok && cancel.effects[0]?.type === 'abort');
    assert.deepEqual(cancel.effects.at(-1), {
      type: 'cancel-agents',
      agent_ids: ['uuid-0', 'uuid-2'],
      reason: 'enough',
    });
    assert.deepEqual(run.state.type === 'cancelling' && run.state.pending, ['uuid-0', 'uuid-2']);
    for (const id of ['uuid-2', 'uuid-0']) run.apply(reported(id));
    assert.equal(run.state.type, 'idle');
    assert.match(JSON.stringify(told(run)), /early/);
  });

  it('the parent does not park when all results came early', () => {
    const { run, ids } = spawning(2);
    run.apply(settled(ids[0] as string, children(2)));
    for (const { agent_id } of children(2)) run.apply(reported(agent_id));
    run.apply(settled(ids[1] as string, []));
    assert.equal(run.state.type, 'requesting');
  });

  it('a cancel asks the remaining children to stop and awaits each; results that came are kept', () => {
    const run = awaiting(children(3));
    run.apply(reported('uuid-1', 'found it'));
    const cancel = run.apply({ type: 'cancel', at: 3, by: 'you', reason: 'enough', open: [] });
    assert.ok(cancel.ok);
    assert.deepEqual(cancel.effects.at(-1), {
      type: 'cancel-agents',
      agent_ids: ['uuid-0', 'uuid-2'],
      reason: 'enough',
    });
    assert.equal(run.apply({ type: 'cancel', at: 4, by: 'you', reason: 'again', open: [] }).ok, false);
    run.apply(
      reported('uuid-2', { type: 'failure', error: 'enough', error_kind: 'cancelled', partial: 'half' }),
    );
    assert.equal(run.state.type, 'cancelling');
    run.apply(reported('uuid-0', 'done just before'));
    assert.equal(run.state.type, 'idle');
    assert.match(JSON.stringify(told(run)), /found it.*"partial":"half"/);
    assert.equal(run.apply(reported('uuid-0')).ok, false, 'law 4: late');
  });

  it('an agent that reports ends as cancelled after its children have', () => {
    const run = awaiting(children(1), { reports: true, submits: false, turns: 10 });
    run.apply({ type: 'cancel', at: 3, by: 'you', reason: 'enough', open: [] });
    const last = run.apply(reported('uuid-0'));
    assert.ok(last.ok);
    assert.deepEqual(last.state, {
      type: 'failed',
      failure: { kind: 'cancelled', error: 'enough', retryable: false },
    });
  });

  it('at the end of the run time children are asked to stop, and the model gets one last request with the results so far', () => {
    const run = awaiting(children(2));
    run.apply(reported('uuid-1', 'found it'));
    const limit = run.apply({ type: 'limit', at: 3, limit: 'run time of 60 s', final: false });
    assert.ok(limit.ok);
    assert.deepEqual(
      limit.effects.map(({ type }) => type),
      ['cancel-agents', 'append', 'append', 'append', 'request-model'],
    );
    assert.ok(limit.state.type === 'requesting' && limit.state.turn.grace?.kind === 'timed_out');
    const [row, other] = (told(run) as { sub_agent_results: { outcome: object }[] }).sub_agent_results;
    assert.deepEqual(row?.outcome, {
      failure: { error: 'Cancelled: limit reached: run time of 60 s', error_kind: 'cancelled' },
    });
    assert.deepEqual(other?.outcome, { success: { result: 'found it' } });
    const late = run.apply(reported('uuid-0'));
    assert.deepEqual(!late.ok && late.invalid, {
      state: 'requesting',
      event: 'child-result',
      reason: 'no child is awaited',
    });
  });

  it('a kill during a cancel ends it', () => {
    const run = awaiting(children(2));
    run.apply({ type: 'cancel', at: 3, by: 'you', reason: 'enough', open: [] });
    run.apply({ type: 'kill', at: 4, by: 'you' });
    assert.deepEqual(run.state, { type: 'killed', by: 'you' });
    assert.equal(run.apply(reported('uuid-0')).ok, false, 'law 3');
  });

  it('a cancel that children never acknowledge ends at the end of the run time', () => {
    const run = awaiting(children(2));
    run.apply({ type: 'cancel', at: 3, by: 'you', reason: 'enough', open: [] });
    run.apply({ type: 'limit', at: 4, limit: 'run time of 60 s', final: false });
    assert.equal(run.state.type, 'idle');
  });
});
