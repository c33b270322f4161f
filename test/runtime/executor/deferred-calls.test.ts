// Proves that changes of the task list that one message asks for are made one after another, in the order of its calls, and that what was made for an agent that
// has ended meanwhile is removed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Advance } from '../../../src/kernel/turn/advance-result.ts';
import type { Cell } from '../../../src/runtime/executor/cell.ts';
import { DeferredCalls, type DeferredCallsOptions } from '../../../src/runtime/executor/deferred-calls.ts';

it('the second change of a message begins when the first has been made', async () => {
  const seen: string[] = [];
  const waiting: (() => void)[] = [];
  const decided = Promise.withResolvers<void>();
  const store = {
    changeTasks: async ({ call_id }: { readonly call_id: string }) => {
      seen.push(`${call_id} begins`);
      await new Promise<void>((resolve) => waiting.push(resolve));
      seen.push(`${call_id} ends`);
      return { ok: true, output: {} };
    },
  };
  const retry = ({ answers }: Cell) => {
    if (answers.size === 2) decided.resolve();
  };
  const calls = new DeferredCalls({ store, retry } as unknown as DeferredCallsOptions);
  const agent = { id: 'a', root_id: 'a', epoch: 1 };
  const cell = { agent, gone: false, answers: new Map(), surveyed: new Set(), looked_up: new Set() };
  const deferred = ['one', 'two'].map((call_id) => ({
    ...{ call: { id: call_id }, look_up: [], survey: false },
    needs: [{ type: 'tasks', call_id, order: { action: 'list' } }],
  }));
  calls.settle(cell as unknown as Cell, { answered: [], unused: [], deferred } as unknown as Advance);
  let open = true;
  void decided.promise.then(() => {
    open = false;
  });
  while (open) {
    for (const end of waiting.splice(0)) end();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(seen, ['one begins', 'one ends', 'two begins', 'two ends']);
});

it('a worktree that was made for a call is removed if the agent has ended meanwhile, and else is its own', async () => {
  for (const gone of [true, false]) {
    const discarded: unknown[] = [];
    const made = Promise.withResolvers<object>();
    const decided = Promise.withResolvers<void>();
    const worktree = { path: '/tree' };
    const calls = new DeferredCalls({
      resolveNeed: () => made.promise,
      discard: (one: unknown) => discarded.push(one),
      retry: () => decided.resolve(),
    } as unknown as DeferredCallsOptions);
    const agent = { id: 'a', root_id: 'a', epoch: 1 };
    const cell = { agent, gone: false, answers: new Map(), surveyed: new Set(), looked_up: new Set() };
    const one = { call: { id: 'one' }, look_up: [], survey: false, needs: [{ type: 'worktree' }] };
    calls.settle(
      cell as unknown as Cell,
      { answered: [], unused: [], deferred: [one] } as unknown as Advance,
    );
    cell.gone = gone;
    made.resolve({ ok: true, text: '', worktree });
    await decided.promise;
    assert.deepEqual([discarded, cell.answers.size], gone ? [[worktree], 0] : [[], 1]);
  }
});
