// Proves, on both databases, that an internal error in one call or one agent fails only that call or agent: all other agents of the process
// continue, and a ledger with the data that caused it can be led again.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { z } from 'zod';
import type { Step } from '../../../src/kernel/step.ts';
import { inputSchema } from '../../../src/kernel/toolsets/arguments.ts';
import type { Toolset, ToolsetTool } from '../../../src/kernel/toolsets/toolset.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../../../src/runtime/runtime-clock.ts';
import { postgresStoreError } from '../../../src/store/postgres/postgres-error.ts';
import type { Store } from '../../../src/store/store.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { until } from '../../until.ts';
import { type Database, onBothDatabases } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import { type Play, setStage } from '../stage.ts';
import { errorOf } from '../toolsets/fanout-stage.ts';

const faulty = (name: string, fault: Partial<ToolsetTool>): ToolsetTool => ({
  spec: { name, description: name, input: inputSchema(z.strictObject({})) },
  fits: () => true,
  decode: () => ({ type: 'settle', output: 'fine', consequences: [] }),
  ...fault,
});

const boom = (): never => {
  throw new RangeError('Maximum call stack size exceeded');
};

const FAULTY: Toolset = {
  name: 'faulty',
  tools: [
    faulty('decodes', { decode: boom }),
    faulty('mentions', { mentions: boom }),
    faulty('needs', { needs: boom }),
  ],
  guidance: '',
};

const play: Play = ({ step, user }) => {
  if (user !== 'break') return 'well';
  return step === 0 ? ['decodes', 'mentions', 'needs'].map((name) => [name, {}] as const) : 'went on';
};

/** Half a call in all, which neither database takes for a whole number, if the step has the text `bad`. */
function poisoned(step: Step): Step {
  const is_bad =
    step.reply === 'bad' ||
    step.messages.some(({ kind, content }) => kind === 'result' && content.output === 'bad');
  return is_bad ? { ...step, calls: 0.5 } : step;
}

type Steps = Parameters<Store['commit']>[0];

/** A store that commits what `change` makes of the steps, and rejects if it throws. */
const committing = (change: (steps: Steps) => Steps) => (store: Store) =>
  new Proxy(store, {
    get: (target, key) => {
      const value = Reflect.get(target, key);
      if (key !== 'commit') return typeof value === 'function' ? value.bind(target) : value;
      return async (steps: Steps) => target.commit(change(steps));
    },
  });

/** What PostgreSQL answers to a character that the encoding of its database does not have. */
const UNTRANSLATABLE = Object.assign(
  new Error('character with byte sequence 0xe6 0x97 0xa5 in encoding "UTF8" has no equivalent in "LATIN1"'),
  { code: '22P05' },
);

/** Mail bodies that are not valid JSON, or not an order or outcome that an agent accepts. */
const UNREADABLE = {
  control: [
    'no order',
    null,
    ['wait'],
    { type: 'dance' },
    { type: 'cancel' },
    { type: 'cancel', reason: { text: 'x' } },
    { type: 'capture' },
    { type: 'capture', text: 7 },
    { type: 'fork', id: 'x' },
    { type: 'fork', id: 'x', name: 7, prompt: null },
    { type: 'wait' },
    { type: 'wait', timeout_ms: 1000 },
    { type: 'wait', from: [], timeout_ms: '1' },
    { type: 'wait', timeout_ms: 1000, from: 'x' },
    { type: 'wait', timeout_ms: 1000, from: [7] },
    { type: 'answer', ask_id: 'x', verdict: 'perhaps', note: '' },
  ],
  outcome: [
    { outcome: null },
    { agent_id: 'x', outcome: {} },
    { agent_id: 'x', outcome: { type: 'success' } },
    { agent_id: 'x', outcome: { type: 'failure' } },
  ],
  announce: [
    'no order',
    { agent_id: 'x', outcome: { type: 'success', result: 7 } },
    { agent_id: 'x', outcome: { type: 'failure', error_kind: 'lost' } },
  ],
} as const;

const UNFOLLOWED = [
  { type: 'fork', id: 'SELF', name: 'x', prompt: 'do' },
  { type: 'wait', timeout_ms: 200, from: ['SELF', 'nobody', 'a\0b\ud800'] },
  { type: 'wait', timeout_ms: -1e308, from: null },
];

function suite(database: Database): void {
  it('when a tool throws while its call is decided, the call gets an error, and its agent and the other tree continue', async () => {
    const on = await setStage(play, {
      toolsets: ['process', 'faulty'],
      more_toolsets: [FAULTY],
      database: await database(),
    });
    const other = await on.start('hello');
    const broken = await on.start('break');
    assert.equal((await on.runtime.settled(broken.id)).reply, 'went on');
    assert.equal((await on.runtime.settled(other.id)).reply, 'well');
    const results = await on.results(broken);
    assert.deepEqual(
      results.map((result) => [result.status, errorOf(result).code]),
      [1, 2, 3].map(() => ['error', 'INTERNAL']),
    );
    assert.match(errorOf(results[0]).message, /decodes failed inside Coppice: Maximum call stack/);
  });

  it('of thousands of calls in one message with the same id none is run, and the model is told why', async () => {
    const many: Play = ({ step }) =>
      step === 0 ? Array.from({ length: 10_000 }, () => ['fork', { name: 'x' }] as const) : 'fewer then';
    const on = await setStage(many, { database: await database() });
    const agent = await on.start('one');
    assert.equal((await on.runtime.settled(agent.id)).reply, 'fewer then');
    const results = await on.results(agent);
    assert.equal(results.length, 1_000);
    assert.match(
      results[999]?.output ?? '',
      /had 10000 calls .* the maximum is 1000 .* none of them was run/,
    );
    assert.equal((await on.store.agents({ root_id: agent.root_id })).length, 1);
  });

  it('calls with schemas are decided one per step, in order; calls without are decided at once', async () => {
    const created: number[] = [];
    const names = Array.from({ length: 6 }, (_, index) => `s${index}`);
    const spawn = (label: string, more: object) =>
      ['sessions_spawn', { task: 'do', label, ...more }] as const;
    const schema = (label: string) => ({ output_schema: { properties: { [label]: { type: 'string' } } } });
    const on = await setStage(
      ({ name, step, user }) => {
        if (name !== 'main') return '{}';
        if (step > 0 || !['with', 'without'].includes(user)) return 'done';
        return names.map((label) => spawn(label, user === 'with' ? schema(label) : {}));
      },
      {
        toolsets: ['sessions'],
        database: await database(),
        wrap: (store) =>
          new Proxy(store, {
            get: (target, key) => {
              const value = Reflect.get(target, key);
              if (key !== 'commit') return typeof value === 'function' ? value.bind(target) : value;
              return (steps: Parameters<typeof store.commit>[0]) => {
                created.push(...steps.map(({ create }) => create.length).filter((count) => count > 0));
                return target.commit(steps);
              };
            },
          }),
      },
    );
    const one = await on.perform('with');
    assert.deepEqual(created.splice(0), [1, 1, 1, 1, 1, 1]);
    const results = (await on.results(one.root)).map(({ output }) => JSON.parse(output).status);
    assert.deepEqual(
      results,
      names.map(() => 'accepted'),
    );
    await on.perform('without');
    assert.deepEqual(created, [6]);
  });

  it('a step that the ledger cannot store ends its turn, and holds up no other agent', async () => {
    const bad = defineTool({ name: 'bad', description: 'x', input: z.strictObject({}), run: () => 'bad' });
    const on = await setStage(
      ({ user, step }) => {
        if (user === 'poison') return 'bad';
        return user === 'call' && step === 0 ? [['bad', {}]] : 'well';
      },
      {
        database: await database(),
        tools: [bad as Tool],
        wrap: committing((steps) => steps.map(poisoned)),
      },
    );
    const [answers, calls, other] = await Promise.all(
      ['poison', 'call', 'two'].map((text) => on.start(text)),
    );
    assert.equal((await on.runtime.settled(other?.id ?? '')).reply, 'well');
    for (const { id } of [answers, calls] as Agent[]) {
      await on.runtime.settled(id);
      const { state, usage } = (await on.store.agent(id)) ?? {};
      assert.ok(state?.type === 'errored', state?.type);
      assert.match(state.failure.error, /^a fault in Coppice: the ledger cannot store the next step: /);
      assert.ok((usage?.output ?? 0) > 0, 'what the answer has cost counts');
      await on.runtime.send(id, 'again');
      await until(async () => (await on.store.agent(id))?.reply === 'well', 'it goes on');
    }
  });

  it('a turn ends also where the database cannot store the words about what it could not store', async () => {
    const bad = defineTool({ name: 'bad', description: 'x', input: z.strictObject({}), run: () => '\u65e5' });
    const on = await setStage(
      ({ user, step }) => {
        if (user === 'call') return step === 0 ? [['bad', {}]] : 'well';
        return user === 'again' ? 'well' : '\u65e5';
      },
      {
        database: await database(),
        tools: [bad as Tool],
        wrap: committing((steps) => {
          if (/[^\0-\xff]/.test(JSON.stringify(steps)))
            throw postgresStoreError(UNTRANSLATABLE, 'postgres://ledger');
          return steps;
        }),
      },
    );
    for (const text of ['say', 'call']) {
      const { id } = await on.start(text);
      await on.runtime.settled(id);
      const { state, usage } = (await on.store.agent(id)) ?? {};
      assert.ok(state?.type === 'errored', state?.type);
      assert.equal(state.failure.error, 'a fault in Coppice: the ledger cannot store the next step');
      assert.ok((usage?.output ?? 0) > 0, 'what the answer has cost counts');
      const said = on.events.filter((one) => one.type === 'notice' && one.agent_id === id);
      assert.match(JSON.stringify(said), /cannot store the next step: .* no equivalent in/);
      await on.runtime.send(id, 'again');
      await until(async () => (await on.store.agent(id))?.reply === 'well', 'it goes on');
    }
  });

  it('a ledger that stores no step, and says so in its own words, ends the wait for it', async () => {
    class Hasty extends HandClock {
      override readonly after: RuntimeClock['after'] = (ms, ring) =>
        SYSTEM_RUNTIME_CLOCK.after(ms > 5_000 ? ms : 0, ring);
    }
    for (const error of [new Error('my disk says no'), new TypeError('my disk says no')]) {
      const no = () => {
        throw error;
      };
      const on = await setStage(() => 'well', {
        ...{ database: await database(), clock: new Hasty(), wrap: committing(no) },
      });
      const { id } = await on.start('one');
      const told = { code: 'E_DATABASE', message: /my disk says no/ };
      await assert.rejects(on.runtime.settled(id), told);
      await assert.rejects(on.runtime.settled(id), told, 'and the next one');
    }
  });

  it('unreadable mail is set aside once, with a notice to people; its agent goes on', async () => {
    const on = await setStage(({ user }) => user, { database: await database() });
    const agent = await on.start('one');
    await on.runtime.settled(agent.id);
    const kinds = Object.keys(UNREADABLE) as (keyof typeof UNREADABLE)[];
    const expected: string[] = [];
    for (const kind of kinds)
      for (const body of UNREADABLE[kind]) {
        expected.push(`mail (${kind}) from you is malformed and was discarded`);
        const sent = await (await on.elsewhere()).send({
          id: randomUUID(),
          root_id: agent.id,
          to_id: agent.id,
          from_id: null,
          from_name: 'you',
          kind,
          body: typeof body === 'string' ? body : JSON.stringify(body),
          sent_at: 1,
        });
        assert.ok(sent.ok);
      }
    await on.runtime.send(agent.id, 'two');
    await until(async () => (await on.store.agent(agent.id))?.reply === 'two', 'the agent went on');
    await until(async () => (await on.store.mail(agent.id)).length === 0, 'nothing of it is left');
    const said = (await on.store.history(agent.id)).flatMap((one) =>
      one.kind === 'event' ? [one.content.text] : [],
    );
    assert.deepEqual(said, expected);
  });

  it('an order that can be read but not followed is refused once; its agent goes on', async () => {
    const on = await setStage(({ user }) => user, { database: await database() });
    for (const order of UNFOLLOWED) {
      const agent = await on.start('one');
      await on.runtime.settled(agent.id);
      const body = JSON.stringify(order).replaceAll('SELF', agent.id);
      const sent = await (await on.elsewhere()).send({
        id: randomUUID(),
        root_id: agent.id,
        to_id: agent.id,
        from_id: null,
        from_name: 'you',
        kind: 'control',
        body,
        sent_at: Date.now(),
      });
      assert.ok(sent.ok);
      await on.runtime.send(agent.id, 'two');
      await until(async () => (await on.store.agent(agent.id))?.reply === 'two', `it went on after ${body}`);
      await until(async () => (await on.store.mail(agent.id)).length === 0, `nothing is left of ${body}`);
    }
  });
}

onBothDatabases('contained faults', suite);
