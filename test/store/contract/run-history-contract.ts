import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Failure } from '../../../src/records/agent/failure.ts';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import type { NewAgent } from '../../../src/records/run/new-agent.ts';
import type { NewRun, Run } from '../../../src/records/run/run.ts';
import type { Store } from '../../../src/store/store.ts';
import { answer, fresh, letter, newAgent, newRoot, said, stepOf } from '../ledger-fixture.ts';
import { paged } from './list-place-contract.ts';

const IDLE: AgentState = { type: 'idle' };
const ASKING: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(1) };

function failed(kind: Failure['kind'], error: string, partial?: string): AgentState {
  const failure: Failure = { kind, error, retryable: false };
  return partial === undefined ? { type: 'failed', failure } : { type: 'failed', failure, partial };
}

/** A background child with its row in the run history, to be created by `parent`. */
function withRun(
  parent: Agent,
  agent: Partial<NewAgent['agent']> = {},
  run: Partial<NewRun> = {},
): NewAgent & { readonly run: NewRun } {
  const id = randomUUID();
  const session_key = `agent:main:subagent:${id}`;
  const created = newAgent(parent, { id, session_key, origin: 'session', state: IDLE, ...agent }, []);
  return {
    ...created,
    run: {
      id: randomUUID(),
      source: 'subagent',
      session_key: created.agent.session_key,
      requester_id: parent.id,
      requester_key: parent.session_key,
      task: 'naïve 漢字 🎋 %_ $1',
      label: 'a label',
      model: 'fake/m',
      thinking: 'low',
      timeout_ms: 120_000,
      cleanup: 'keep',
      deliver: [],
      job_id: null,
      ...run,
    },
  };
}

/** Part of the store contract: the run history, and removed children. */
export function runHistoryContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  async function begin(root: Agent, ...created: readonly NewAgent[]): Promise<Agent[]> {
    const { store } = stores();
    const [verdict] = await store.commit([stepOf(await fresh(store, root), { create: created })]);
    assert.ok(verdict?.ok, JSON.stringify(verdict));
    return Promise.all(created.map(async ({ agent }) => (await store.agent(agent.id)) as Agent));
  }
  const runOf = async (id: string): Promise<Run> => {
    const [run] = await stores().other.findRuns(id);
    assert.ok(run, `the run ${id} is there`);
    return run;
  };
  const step = async (agent: Agent, over: Parameters<typeof stepOf>[1]): Promise<void> => {
    const { store } = stores();
    const [verdict] = await store.commit([stepOf(await fresh(store, agent), over)]);
    assert.ok(verdict?.ok, JSON.stringify(verdict));
  };

  it('a run is created with its agent: queued while the agent rests, running if it starts at once', async () => {
    const root = await newRoot(stores().store);
    const queued = withRun(root, { created_at: 1_000 });
    const running = withRun(root, { created_at: 2_000, state: ASKING }, { label: null, timeout_ms: null });
    await begin(root, queued, running);
    assert.deepEqual(await runOf(queued.run.id), {
      ...queued.run,
      root_id: root.id,
      agent_id: queued.agent.id,
      status: 'queued',
      result: null,
      error: null,
      created_at: 1_000,
      started_at: null,
      finished_at: null,
      duration_ms: null,
      outcome: null,
      outcome_text: null,
    });
    const begun = await runOf(running.run.id);
    assert.deepEqual([begun.status, begun.started_at, begun.finished_at], ['running', 2_000, null]);
    assert.deepEqual([begun.label, begun.timeout_ms], [null, null]);
  });

  it('pages of runs have each run once, whatever was created in the same millisecond', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const created = [7, 8, 8, 8, 8, 9].map((created_at) => withRun(root, { created_at }));
    await begin(root, ...created);
    const ids = created.map(({ run }) => run.id).toReversed();
    for (const limit of [1, 2, 4])
      assert.deepEqual(await paged((before) => store.runs({ root_id: root.id, before, limit })), ids);
  });

  it('a run starts with the first turn, once; other steps leave it queued', async () => {
    const root = await newRoot(stores().store);
    const created = withRun(root, { created_at: 1_000 });
    const [agent] = (await begin(root, created)) as [Agent];
    await step(agent, { at: 1_500, messages: [said('a letter lies here')], state: IDLE });
    assert.equal((await runOf(created.run.id)).status, 'queued');
    await step(agent, { at: 2_000, state: ASKING });
    assert.deepEqual(
      [(await runOf(created.run.id)).status, (await runOf(created.run.id)).started_at],
      ['running', 2_000],
    );
    await step(agent, { at: 3_000, state: IDLE });
    await step(agent, { at: 4_000, state: ASKING });
    assert.equal((await runOf(created.run.id)).started_at, 2_000);
  });

  it('a run is closed in the transaction that ends its agent, however that ends', async () => {
    const root = await newRoot(stores().store);
    const cases: readonly (readonly [AgentState, Partial<Run>])[] = [
      [
        { type: 'completed', result: 'XFS, 1993 🎋' },
        { status: 'completed', result: 'XFS, 1993 🎋', error: null, outcome: 'done', outcome_text: 'done' },
      ],
      [
        failed('overloaded', 'no answer'),
        {
          ...{ status: 'failed', result: null, error: 'no answer' },
          ...{ outcome: 'failed', outcome_text: 'failed: overloaded: no answer' },
        },
      ],
      [
        failed('timed_out', 'too late', 'half of it'),
        {
          ...{ status: 'timeout', result: 'half of it', error: 'too late' },
          ...{ outcome: 'cut_short', outcome_text: 'cut short: too late' },
        },
      ],
      [
        failed('cancelled', 'not wanted'),
        {
          ...{ status: 'cancelled', result: null, error: 'not wanted' },
          ...{ outcome: 'stopped', outcome_text: 'stopped: not wanted' },
        },
      ],
    ];
    for (const [state, expected] of cases) {
      const created = withRun(root, { created_at: 1_000 });
      const [agent] = (await begin(root, created)) as [Agent];
      await step(agent, { at: 2_000, state: ASKING });
      const stale = stepOf(await fresh(stores().store, agent), { at: 4_000, epoch: 0, state });
      assert.equal((await stores().store.commit([stale]))[0]?.ok, false);
      assert.equal((await runOf(created.run.id)).status, 'running');
      await step(agent, { at: 5_500, state });
      const { started_at, finished_at, duration_ms, ...run } = await runOf(created.run.id);
      const { status, result, error, outcome, outcome_text } = run;
      assert.deepEqual({ status, result, error, outcome, outcome_text }, expected);
      assert.deepEqual([started_at, finished_at, duration_ms], [2_000, 5_500, 3_500]);
    }
  });

  it('a kill closes the run: by a step, from outside, and along with its requester', async () => {
    const { store } = stores();
    const worker = randomUUID();
    const root = await newRoot(store, {}, { worker });
    const [by_step, from_outside, below] = [withRun(root), withRun(root), withRun(root)];
    const middle = newAgent(root);
    const [first, second, parent] = (await begin(root, by_step, from_outside, middle)) as Agent[];
    await step(parent as Agent, {
      create: [{ ...below, agent: { ...below.agent, parent_id: middle.agent.id } }],
    });
    for (const agent of [first, second])
      await step(agent as Agent, { at: 2_000, state: ASKING, messages: [answer('so far')] });
    await step(root, { at: 3_000, kill: [by_step.agent.id] });
    // The step's verdict does not report this mail, so even the worker that committed it gets a signal.
    assert.deepEqual(await store.signals(worker), [{ agent_id: root.id, kind: 'mail', about: null }]);
    await store.kill(from_outside.agent.id, 'you', 4_000);
    await store.kill(middle.agent.id, 'you', 5_000);
    const ends = await Promise.all([by_step, from_outside, below].map(({ run }) => runOf(run.id)));
    assert.deepEqual(
      ends.map(({ status, error, result, finished_at }) => [status, error, result, finished_at]),
      [
        ['cancelled', 'Killed by agent', 'so far', 3_000],
        ['cancelled', 'Killed by you', 'so far', 4_000],
        ['cancelled', 'Killed by you', null, 5_000],
      ],
    );
    assert.deepEqual(
      ends.map((run) => [run.started_at, run.duration_ms]),
      [
        [2_000, 1_000],
        [2_000, 2_000],
        [null, 0],
      ],
    );
    // A living requester is told of the end; one that was killed along with the run is not.
    assert.deepEqual(
      (await store.mail(root.id)).map(({ kind, from_id }) => [kind, from_id]),
      [
        ['announce', by_step.agent.id],
        ['announce', from_outside.agent.id],
        // A fork that was killed in the middle of its turn.
        ['report', middle.agent.id],
      ],
    );
    assert.deepEqual(await store.mail(middle.agent.id), []);
  });

  it('runs: newest first, by tree, source and activity, up to the limit', async () => {
    const { store, other } = stores();
    const [root, stranger] = [await newRoot(store), await newRoot(store)];
    const created = [
      withRun(root, { created_at: 1_000 }),
      withRun(root, { created_at: 3_000, state: ASKING, origin: 'delegate' }, { source: 'delegate' }),
      withRun(root, { created_at: 2_000 }),
      withRun(root, { created_at: 2_000 }),
    ];
    const agents = await begin(root, ...created);
    const foreign = withRun(stranger, { created_at: 9_000 });
    await begin(stranger, foreign);
    await store.kill((agents[2] as Agent).id, 'you', 2_500);
    const ids = async (filter: Parameters<Store['runs']>[0]) =>
      (await other.runs(filter)).map((run) => created.findIndex((one) => one.run.id === run.id));
    assert.deepEqual(await ids({ root_id: root.id }), [1, 3, 2, 0]);
    assert.deepEqual(await ids({ root_id: root.id, limit: 2 }), [1, 3]);
    assert.deepEqual(await ids({ root_id: root.id, active: true }), [1, 3, 0]);
    assert.deepEqual(await ids({ root_id: root.id, source: 'subagent', active: true, limit: 1 }), [3]);
    assert.deepEqual(await ids({ root_id: root.id, source: 'delegate' }), [1]);
    assert.deepEqual(await ids({ root_id: root.id, source: 'cron' }), []);
    const all = (await other.runs({})).map((run) => run.id);
    assert.ok(all.includes(foreign.run.id) && created.every(({ run }) => all.includes(run.id)));
  });

  it('finds runs by id, prefix of at least four characters, and session key; no character is a wildcard', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const head = randomUUID().slice(0, 8);
    const twins = ['1', '2'].map((tail) =>
      withRun(root, {}, { id: `${head}-0000-4000-8000-00000000000${tail}` }),
    );
    await begin(root, ...twins);
    const [one, two] = twins.map(({ run }) => run.id) as [string, string];
    const found = async (text: string) => (await other.findRuns(text)).map((run) => run.id);
    assert.deepEqual(await found(one), [one]);
    assert.deepEqual((await found(head)).toSorted(), [one, two]);
    assert.deepEqual((await found(head.toUpperCase())).toSorted(), [one, two]);
    assert.deepEqual(await found(twins[1]?.agent.session_key ?? ''), [two]);
    for (const text of [head.slice(0, 3), '', '%', '____', '%%%%', 'zzzz', "'; DROP TABLE subagent_runs; --"])
      assert.deepEqual(await found(text), [], text);
  });

  it('remove: only ended, childless children of the agent are removed, with all that is theirs; the run stays', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const stranger = await newRoot(store);
    const done = withRun(root, {}, { cleanup: 'delete' });
    const busy = withRun(root);
    const parent = newAgent(root);
    const foreign = withRun(stranger);
    const [done_agent, busy_agent, parent_agent] = (await begin(root, done, busy, parent)) as Agent[];
    const grandchild = newAgent(parent_agent as Agent);
    await begin(parent_agent as Agent, grandchild);
    const [foreign_agent] = await begin(stranger, foreign);
    await step(root, { send: [letter(root, done_agent as Agent, 'for the one that goes')] });
    const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null };
    const request = { model: 'm', usage, started_at: 1, duration_ms: 1 };
    await step(done_agent as Agent, { messages: [said('theirs')], requests: [request], state: ASKING });
    const last_words = letter(done_agent as Agent, root, 'last words');
    await step(done_agent as Agent, { state: { type: 'completed', result: 'r' }, send: [last_words] });
    for (const agent of [parent_agent, foreign_agent])
      await step(agent as Agent, { state: { type: 'completed', result: 'r' } });
    const before = await store.tree(root.id);
    const wanted = [done, busy, parent, grandchild, foreign].map(({ agent }) => agent.id);
    await step(root, { remove: [...wanted, root.id, randomUUID()] });
    const left = await Promise.all(wanted.map(async (id) => (await store.agent(id)) !== null));
    assert.deepEqual(left, [false, true, true, true, true]);
    assert.notEqual(await store.agent(root.id), null);
    assert.deepEqual(await store.history(done.agent.id), []);
    assert.deepEqual(await store.mail(done.agent.id, true), []);
    assert.deepEqual(await store.requests(done.agent.id), []);
    assert.equal((await runOf(done.run.id)).result, 'r');
    // Its usage stays counted, and mail that it sent stays with its recipients.
    assert.deepEqual(await store.tree(root.id), before);
    assert.deepEqual(
      (await store.mail(root.id)).map((mail) => mail.body),
      ['last words'],
    );
    assert.equal((await fresh(store, busy_agent as Agent)).state.type, 'idle');
    await step(root, { messages: [said('goes on')] });
  });

  it('mail to an agent that the same step creates arrives first; a refused step leaves neither', async () => {
    const { store, other } = stores();
    const root = await newRoot(store, { total: 2 });
    const created = withRun(root);
    const to = { ...root, id: created.agent.id };
    const task = { ...letter(root, to, 'the task'), kind: 'task' as const };
    const [verdict] = await store.commit([stepOf(root, { create: [created], send: [task] })]);
    assert.ok(verdict?.ok);
    assert.deepEqual(
      verdict.sent.map((mail) => [mail.to_id, mail.number, mail.consumed_seq]),
      [[created.agent.id, 1, null]],
    );
    const [kept] = await other.mail(created.agent.id);
    assert.deepEqual([kept?.kind, kept?.body], ['task', 'the task']);
    assert.equal((await other.agent(created.agent.id))?.mail_count, 1);
    const second = withRun(root);
    const [refused] = await store.commit([
      stepOf(await fresh(store, root), {
        create: [second],
        send: [{ ...letter(root, { ...root, id: second.agent.id }), kind: 'task' }],
      }),
    ]);
    assert.ok(refused?.ok === false && refused.refusal.reason === 'limit');
    assert.equal(await store.agent(second.agent.id), null);
    assert.deepEqual(await store.findRuns(second.run.id), []);
    assert.deepEqual(await store.mail(second.agent.id), []);
  });

  it('stores the number of the last letter that an agent was notified of', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    assert.equal(root.noticed, 0);
    await step(root, { noticed: 7 });
    assert.equal((await fresh(other, root)).noticed, 7);
  });
}
