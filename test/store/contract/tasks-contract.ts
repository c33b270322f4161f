import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { TASKS_MAX } from '../../../src/kernel/tasks/change-tasks.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { TaskAnswer, TaskOrder } from '../../../src/records/run/listed-task.ts';
import type { Store } from '../../../src/store/store.ts';
import { child, fresh, newRoot, stepOf } from '../ledger-fixture.ts';

/** One call of an agent, with a new id unless one is given. */
function order(
  store: Store,
  agent: Agent,
  wanted: TaskOrder,
  call_id: string = randomUUID(),
): Promise<TaskAnswer> {
  const { id: agent_id, root_id, epoch } = agent;
  return store.changeTasks({ agent_id, root_id, epoch, call_id }, wanted);
}

const add = (title: string, depends_on: number[] = [], blocks: number[] = []): TaskOrder => ({
  action: 'add',
  title,
  depends_on,
  blocks,
});
const claim = (number: number | null = null): TaskOrder => ({ action: 'claim', number });
const done = (number: number, result = ''): TaskOrder => ({ action: 'done', number, result });

async function refusedAs(answer: Promise<TaskAnswer>, text: RegExp): Promise<void> {
  const found = await answer;
  assert.ok(!found.ok, JSON.stringify(found));
  assert.match(found.error, text);
}

async function claimed(answer: Promise<TaskAnswer>): Promise<number | undefined> {
  const found = await answer;
  assert.ok(found.ok, JSON.stringify(found));
  return (found.output.task as { number: number } | null)?.number;
}

/** Part of the store contract: the task list that the agents of a tree share. */
export function tasksContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  it('a task has one claimer, an agent claims one at a time, and what depends on it comes after it', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const [one, two] = [await child(store, root), await child(store, root)];
    await order(store, root, add('first'));
    await order(store, root, add('second', [1]));
    assert.equal(await claimed(order(store, one, claim())), 1);
    assert.equal(await claimed(order(other, two, claim())), undefined, 'the second waits for the first');
    await refusedAs(order(other, two, claim(1)), /task 1 is claimed by agent/);
    await refusedAs(order(other, two, claim(2)), /task 2 waits for 1/);
    await refusedAs(order(other, two, done(1)), /task 1 is claimed by agent, not by you/);
    await order(store, root, add('third'));
    await refusedAs(order(store, one, claim(3)), /you have task 1/);
    const finished = await order(store, one, done(1, 'went well'));
    assert.deepEqual(finished, {
      ok: true,
      output: { done: 1, open: 2, blocked: 0, claimed: 0, all_done: 1 },
    });
    assert.equal(await claimed(order(other, two, claim(2))), 2);
    await refusedAs(order(store, one, done(3)), /task 3 is not claimed/);
    await refusedAs(order(store, one, claim(9)), /there is no task 9/);
    assert.deepEqual(
      (await other.tasks(root.id)).map(({ number, state, agent_id, result }) => [
        number,
        state,
        agent_id,
        result,
      ]),
      [
        [1, 'done', one.id, 'went well'],
        [2, 'claimed', two.id, null],
        [3, 'open', null, null],
      ],
    );
    assert.deepEqual(await order(store, one, add('fourth', [1, 2, 1, 2])), { ok: true, output: { task: 4 } });
    const [, , , fourth] = await other.tasks(root.id);
    assert.deepEqual(fourth?.depends_on, [1, 2], 'each once');
  });

  it('of two tasks that were added before the same one, the second does not displace the first', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    await order(store, root, add('last'));
    await order(store, root, add('first', [], [1]));
    await order(other, root, add('second', [], [1]));
    assert.deepEqual((await store.tasks(root.id))[0]?.depends_on, [2, 3]);
    assert.equal(await claimed(order(store, root, claim(3))), 3);
    await order(store, root, done(3));
    await refusedAs(order(other, root, claim(1)), /task 1 waits for 2$/);
  });

  it('repeating a call changes nothing more', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    for (const each of [store, other])
      assert.deepEqual(await order(each, root, add('once'), 'same'), { ok: true, output: { task: 1 } });
    assert.equal(await claimed(order(store, root, claim())), 1);
    assert.equal(await claimed(order(other, root, claim())), 1);
    for (const each of [store, other]) assert.ok((await order(each, root, done(1, 'kept'))).ok);
    assert.ok((await order(store, root, done(1, 'again'))).ok);
    for (const each of [store, other])
      await refusedAs(order(each, root, { action: 'release', number: 1 }), /task 1 is already done/);
    const [only, more] = await store.tasks(root.id);
    assert.deepEqual([only?.state, only?.result, more], ['done', 'kept', undefined]);
    // Some models number the calls of every message from the start.
    assert.deepEqual(await order(store, root, add('another'), 'same'), { ok: true, output: { task: 2 } });
    const siblings = [await child(store, root), await child(store, root)];
    for (const [index, one] of siblings.entries())
      for (const each of [store, other])
        assert.deepEqual(
          await order(each, one, add('once'), 'same'),
          { ok: true, output: { task: 3 + index } },
          'a call of another agent, though its id and its title are the same',
        );
  });

  it('a claim ends with its agent, however that ends, or when it gives the task back', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const [killed, ended, tired] = [
      await child(store, root),
      await child(store, root),
      await child(store, root),
    ];
    for (const title of ['one', 'two', 'three']) await order(store, root, add(title));
    for (const agent of [killed, ended, tired]) await claimed(order(store, agent, claim()));
    await refusedAs(order(store, root, { action: 'release', number: 1 }), /claimed by agent, not by you/);
    await store.kill(killed.id, 'you', 1);
    await store.commit([
      stepOf(await fresh(store, ended), {
        state: { type: 'failed', failure: { kind: 'internal', error: 'x', retryable: false } },
      }),
    ]);
    await order(store, tired, { action: 'release', number: 3 });
    assert.deepEqual(
      (await store.tasks(root.id)).map(({ state, agent_id }) => [state, agent_id]),
      [1, 2, 3].map(() => ['open', null]),
    );
    await refusedAs(order(store, killed, claim()), /you do not lead this conversation any more/);
    await refusedAs(order(store, { ...tired, epoch: 99 }, claim()), /you do not lead/);
    assert.equal(await claimed(order(store, root, claim())), 1);
  });

  it('tasks cannot wait for each other, for one that does not exist, and are bounded', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    await refusedAs(order(store, root, add('x', [1])), /there is no task 1: the list is empty/);
    await order(store, root, add('first'));
    await order(store, root, add('second', [1]));
    await refusedAs(order(store, root, add('between', [2], [1])), /1 → the new task → 2 → 1/);
    await refusedAs(order(store, root, add('itself', [1], [1])), /1 → the new task → 1/);
    assert.ok((await order(store, root, add('before', [], [1]))).ok);
    assert.equal(await claimed(order(store, root, claim())), 3);
    for (let count = 4; count <= TASKS_MAX; count += 1) await order(store, root, add(`task ${count}`));
    await refusedAs(order(store, root, add('more')), /the list is full: at most 200/);
    const listed = await order(store, root, { action: 'list' });
    assert.ok(listed.ok && (listed.output.tasks as unknown[]).length === TASKS_MAX);
  });
}
