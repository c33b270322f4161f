// Proves on both databases that a fan-in ends whatever its children do: cancellation, kills, failures, huge results, a hundred at once, a restart.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { orderMail } from '../../../src/runtime/orders/ledger-orders.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { until } from '../../until.ts';
import { type Database, onBothDatabases, stagesOn } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import type { Stage } from '../stage.ts';
import { brief, cast, never, type Part, rounds, spawn, submit } from './fanout-stage.ts';

const stateOf = async (on: Stage, { id }: Pick<Agent, 'id'>) => (await on.store.agent(id))?.state;

/** Waits until the root awaits `count` children. */
async function awaits(on: Stage, root: Agent, count: number): Promise<void> {
  await until(async () => {
    const state = await stateOf(on, root);
    return state?.type === 'awaiting' && state.pending.length === count;
  }, `${count} children are awaited`);
}

/** A tool that ends only when the test calls `release`, even after an abort. */
function stubborn(): { readonly tool: Tool; readonly aborted: () => boolean; readonly release: () => void } {
  let [aborted, release] = [false, (): void => undefined];
  const tool = defineTool({
    name: 'stubborn',
    description: 'Hangs.',
    input: z.strictObject({}),
    run: (_input, { signal }) =>
      new Promise<string>((resolve) => {
        release = () => resolve('released');
        signal.addEventListener('abort', () => {
          aborted = true;
        });
      }),
  }) as Tool;
  return { tool, aborted: () => aborted, release: () => release() };
}

function suite(database: Database): void {
  const stage = stagesOn(database, { toolsets: ['fanout'] });

  it('a cancel by a person stops children during their tool calls, they report it, and the parent rests with the results so far', async () => {
    const { tool, aborted } = stubborn();
    const on = await stage(
      cast(
        [
          () => [
            spawn({ task: '1', label: 'quick' }, { task: '2', label: 'busy' }, { task: '3', label: 'slow' }),
          ],
        ],
        {
          busy: (scene) => (scene.step === 0 ? [['stubborn', {}]] : never()),
          slow: never,
        },
      ),
      { tools: [tool] },
    );
    const root = await on.start();
    await awaits(on, root, 2);
    await until(async () => (await on.agent('busy')).doing?.includes('stubborn') === true, 'busy is busy');
    await on.runtime.interrupt(root.id, 'not needed any more');
    await until(async () => (await stateOf(on, root))?.type === 'idle', 'the parent rests');
    assert.equal(aborted(), true);
    const told = (await rounds(on, root)).flat();
    assert.deepEqual(told.map(brief), [
      'result of quick',
      'cancelled: not needed any more',
      'cancelled: not needed any more',
    ]);
    for (const name of ['busy', 'slow']) assert.equal((await on.agent(name)).state.type, 'failed');
    const before = on.requests.length;
    // A second interrupt of the parent, whose children have ended, changes nothing.
    await on.runtime.interrupt(root.id, 'again').catch(() => undefined);
    await on.runtime.send(root.id, 'what did you get?');
    const { reply } = await on.runtime.settled(root.id);
    assert.equal(reply, 'done');
    assert.equal(on.requests.length, before + 1);
    assert.match(JSON.stringify(on.requests.at(-1)?.messages), /result of quick/);
  });

  it('a cancelled parent reports only after its last child has', async () => {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'a' }, { task: '2', label: 'b' })]], { a: never, b: never }),
    );
    const seen: string[] = [];
    on.runtime.subscribe((event) => {
      if (event.type !== 'agent') return;
      seen.push(`${event.agent.name} ${event.agent.state.type}`);
      if (event.agent.state.type === 'idle') end();
    });
    const root = await on.start();
    // Events are emitted after the commit, so the ledger already has these states.
    const at_work = ['a requesting', 'b requesting', 'main awaiting'];
    await until(() => at_work.every((one) => seen.includes(one)), 'all are told to be at work');
    seen.length = 0;
    await on.runtime.interrupt(root.id, 'enough');
    await ended;
    assert.equal(seen[0], 'main cancelling');
    assert.equal(seen.at(-1), 'main idle');
    assert.deepEqual(seen.filter((one) => one.endsWith('failed')).toSorted(), ['a failed', 'b failed']);
  });

  it('when a person kills a child, the parent is told and continues with the others', async () => {
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'victim' }, { task: '2', label: 'other' })]], { victim: never }),
    );
    const root = await on.start();
    await awaits(on, root, 1);
    const victim = await on.agent('victim');
    assert.deepEqual(await on.runtime.kill(victim.id), [victim.id]);
    const { reply } = await on.runtime.settled(root.id);
    assert.equal(reply, 'done');
    const told = (await rounds(on, root)).flat();
    assert.deepEqual(told.map(brief), ['killed: Killed by you', 'result of other']);
  });

  it('when a person kills the parent, its children end too, and their results are ignored', async () => {
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'a' }, { task: '2', label: 'b' })]], { a: never, b: never }),
    );
    const root = await on.start();
    await awaits(on, root, 2);
    assert.equal((await on.runtime.kill(root.id)).length, 3);
    for (const agent of await on.store.agents({ root_id: root.id }))
      assert.partialDeepStrictEqual(agent.state, { type: 'killed', by: 'you' });
    assert.deepEqual(await rounds(on, root), []);
  });

  it('children whose model fails, cannot be started or says nothing give typed errors beside good results', async () => {
    const on = await stage(
      cast(
        [
          () => [
            spawn({ task: '1', label: 'broken' }, { task: '2', label: 'fine' }, { task: '3', label: 'mute' }),
          ],
        ],
        {
          broken: () => {
            throw new Error('the model is away');
          },
          mute: () => '',
        },
      ),
    );
    const { root, reply } = await on.perform();
    assert.equal(reply, 'done');
    assert.deepEqual((await rounds(on, root)).flat().map(brief), [
      'no_model: the model is away',
      'result of fine',
      'no_result: stopped without a result: its last answer says nothing',
    ]);
  });

  it('the parent gets the results of children that hang, fail and flood, and the megabyte completely', async () => {
    const flood = '漢🎋x'.repeat(125_000);
    const on = await stage(
      cast(
        [
          () => [
            spawn(
              { task: '1', label: 'hangs', timeout_seconds: 0.5 },
              { task: '2', label: 'fails' },
              { task: '3', label: 'floods' },
            ),
          ],
        ],
        {
          hangs: never,
          fails: () => [['submit_error', { error: 'no' }]],
          floods: () => submit(flood),
        },
      ),
    );
    const { root, reply } = await on.perform();
    assert.equal(reply, 'done');
    const [rows = []] = await rounds(on, root);
    assert.deepEqual(rows.slice(0, 2).map(brief), [
      'timed_out: limit reached: run time of 0.5 s',
      'sub_agent_error: no',
    ]);
    assert.ok(rows[2]?.outcome.success?.result === flood, 'to the letter');
  });

  it('when its run time ends, the parent does not wait for its children, which are stopped', async () => {
    const clock = new HandClock();
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'quick' }, { task: '2', label: 'slow' })]], { slow: never }),
      { clock },
    );
    const root = await on.start('go', { run_ms: 60_000 });
    await awaits(on, root, 1);
    clock.pass(45_000);
    const outcome = await on.runtime.settled(root.id);
    const told = (await rounds(on, root)).flat();
    assert.deepEqual(told.map(brief), [
      'result of quick',
      'cancelled: Cancelled: limit reached: run time of 60 s',
    ]);
    assert.equal(outcome.reply, 'done');
    assert.equal((await on.agent('slow')).state.type, 'failed');
  });

  it('a letter to a child joins its next request', async () => {
    let go = (): void => undefined;
    const written = new Promise<void>((resolve) => {
      go = resolve;
    });
    const kid: Part = async (scene) => {
      if (scene.step > 0) return submit(`heard ${scene.user}`);
      await written;
      return 'Let me see.';
    };
    const on = await stage(cast([() => [spawn({ task: '1', label: 'kid' })]], { kid }));
    const root = await on.start();
    await awaits(on, root, 1);
    await on.runtime.send((await on.agent('kid')).id, 'look at auth.ts too');
    go();
    await on.runtime.settled(root.id);
    assert.deepEqual((await rounds(on, root)).flat().map(brief), ['heard look at auth.ts too']);
  });

  it('a hundred concurrent children, in one call and in ten, each report once, in order', async () => {
    for (const per_call of [100, 10]) {
      const names = Array.from({ length: 100 }, (_, index) => `c${index}`);
      const calls = Array.from({ length: 100 / per_call }, (_, call) =>
        spawn(
          ...names.slice(call * per_call, (call + 1) * per_call).map((label) => ({ task: label, label })),
        ),
      );
      const on = await stage(cast([() => calls]));
      const { root, agents } = await on.perform('go', { children: 100, live: 101, total: 101 });
      assert.equal(agents.length, 101);
      const [rows = [], ...more] = await rounds(on, root);
      assert.deepEqual(more, []);
      assert.deepEqual(
        rows.map(brief),
        names.map((name) => `result of ${name}`),
      );
      assert.equal(new Set(rows.map((row) => row.agent_id)).size, 100);
    }
  });

  it('a restart keeps results that came, children continue, and each result comes once', async () => {
    const parts: Readonly<Record<string, Part>> = { slow: never, slower: never };
    const root_part: Part = () => [
      spawn({ task: '1', label: 'quick' }, { task: '2', label: 'slow' }, { task: '3', label: 'slower' }),
    ];
    const on = await stage(cast([root_part], parts));
    const root = await on.start();
    await awaits(on, root, 2);
    const next = await on.reopen(cast([root_part], { slower: never }));
    await next.runtime.resume(root.id);
    await awaits(next, root, 1);
    const last = await next.reopen(cast([root_part]));
    await last.runtime.resume(root.id);
    const { reply } = await last.runtime.settled(root.id);
    assert.equal(reply, 'done');
    const [rows, ...more] = await rounds(last, root);
    assert.deepEqual(more, []);
    assert.deepEqual(rows?.map(brief), ['result of quick', 'result of slow', 'result of slower']);
    assert.equal((await last.store.agents({ root_id: root.id })).length, 4);
  });

  it('a cancel ordered while no process led the tree reaches the children, which report to the successor', async () => {
    const root_part: Part = () => [spawn({ task: '1', label: 'a' }, { task: '2', label: 'b' })];
    const on = await stage(cast([root_part], { a: never, b: never }));
    const root = await on.start();
    await awaits(on, root, 2);
    const next = await on.reopen();
    assert.ok((await next.store.send(orderMail(root, { type: 'cancel', reason: 'enough' }))).ok);
    await next.runtime.resume(root.id);
    await until(async () => (await stateOf(next, root))?.type === 'idle', 'the parent rests');
    assert.deepEqual((await rounds(next, root)).flat().map(brief), [
      'cancelled: enough',
      'cancelled: enough',
    ]);
  });
}

onBothDatabases('the end of a fan-in', suite);
