/**
 * Proves typed results (docs/library.md#typed-results): a result is checked by the rules of `output_schema` when it is submitted, for roots, forks and children
 * that a program creates in every vocabulary, and read as the program's own schema says.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import * as z from 'zod';
import { TOOLSETS } from '../../src/library/coppice-options.ts';
import { closeOpened } from '../close-opened.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { libraryStage } from './library-stage.ts';

after(closeOpened);

const submit = (result: unknown) => ({
  calls: [{ name: 'submit_result', input: { result: JSON.stringify(result) } }],
});
const review = z.object({ score: z.number(), at: z.string().transform((text) => new Date(text)) });
const RIGHT = { score: 4, at: '2026-01-02' };

const stage = (rules: readonly object[], coppice = {}) =>
  libraryStage(rules as never, { subagents: null, coppice });

describe('a root with an output', () => {
  it('is told the schema, corrected by it, and read as the program means it', async () => {
    const { coppice, requests } = await stage([
      { when: { step: 0 }, ...submit({ score: 'high' }) },
      submit(RIGHT),
    ]);
    const agent = await coppice.start({ prompt: 'review', output: review });
    const done = await agent.result();
    assert.equal(done.failure, null);
    const at: Date = done.output.at;
    assert.deepEqual([done.output.score, at.getUTCFullYear(), done.outcome], [4, 2026, 'done']);
    assert.deepEqual([done.root.state.type, done.reply], ['completed', JSON.stringify(RIGHT)]);
    const [first, second] = requests;
    const asked = first?.messages[0];
    assert.match(
      asked?.role === 'user' ? asked.text : '',
      /^review\n\nYour result must be JSON that .*"score"/,
    );
    const names = first?.tools.map(({ name }) => name) ?? [];
    assert.ok(names.includes('submit_result') && names.includes('fork') && !names.includes('spawn_agents'));
    assert.match(JSON.stringify(second?.messages.at(-1)), /does not match the schema/);
    await assert.rejects(agent.send('more'), { code: 'E_AGENT_DEAD' });
  });

  it('takes a plain JSON Schema, and fails where the own schema says more than that', async () => {
    const { coppice } = await stage([submit({ n: 3 })]);
    const json = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const done = await (await coppice.start({ prompt: 'x', output: json })).result();
    assert.deepEqual(done.output, { n: 3 });
    const even = z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') });
    const odd = await (await coppice.start({ prompt: 'x', output: even })).result();
    assert.deepEqual([odd.output, odd.failure?.kind, odd.outcome], [null, 'no_result', 'failed']);
    assert.match(odd.failure?.error ?? '', /does not fit: n: must be even/);
  });

  it('that only talks is reminded once, and then rests failed: a person can ask again', async () => {
    const { coppice, requests } = await stage([
      { when: { user: 'again' }, ...submit(RIGHT) },
      { say: 'talk' },
    ]);
    const agent = await coppice.start({ prompt: 'x', output: review });
    const talked = await agent.result();
    assert.deepEqual(
      [talked.output, talked.failure?.kind, talked.root.state.type],
      [null, 'no_result', 'errored'],
    );
    assert.equal(requests.length, 2);
    await agent.send('again');
    assert.equal((await agent.result()).output?.score, 4);
  });

  it('waits for its forks before it owes anything, and its forks owe nothing', async () => {
    const fork = { calls: [{ name: 'fork', input: { name: 'helper', prompt: 'help' } }] };
    const { coppice, requests } = await stage([
      { when: { agent: 'helper', step: 0 }, ...submit(RIGHT) },
      { when: { agent: 'helper' }, say: 'helped' },
      { when: { agent: 'main', step: 0 }, ...fork },
      { when: { agent: 'main', step: 1 }, say: 'I wait' },
      submit(RIGHT),
    ]);
    const done = await (await coppice.start({ prompt: 'x', output: review })).result();
    assert.equal(done.output?.score, 4);
    assert.deepEqual(
      done.agents.map(({ name, state }) => [name, state.type]),
      [
        ['main', 'completed'],
        ['helper', 'idle'],
      ],
    );
    const [mine, helper] = [requests[0], requests.find(({ messages }) => messages.length > 2)];
    assert.deepEqual(mine?.tools, helper?.tools, 'both describe the same tools');
    const refused = requests.flatMap(({ messages }) => messages).filter(({ role }) => role === 'results');
    assert.match(JSON.stringify(refused), /only a sub-agent submits/);
  });

  it('goes on after its process: the schema is in the ledger', async () => {
    const database = `sqlite:${join(temporaryFolder(), 'typed.db')}`;
    const first = await stage([{ delay_ms: 600_000, say: 'late' }], { database });
    await first.coppice.start({ id: 'typed', prompt: 'x', output: review });
    await until(() => first.requests.length === 1, 'it is at work');
    await first.coppice.close();
    const second = await stage([submit(RIGHT)], { database });
    const done = await (await second.coppice.start({ id: 'typed', prompt: 'x', output: review })).result();
    assert.equal(done.output?.at.getUTCFullYear(), 2026);
  });

  it('is refused for a schema that is none', async () => {
    const { coppice } = await stage([{ say: 'x' }]);
    for (const [output, message] of [
      ['text', /it is no schema/],
      [{ type: 'nonsense' }, /cannot be used/],
      [{ '~standard': { validate: () => ({ value: 1 }) } }, /does not say it as a JSON Schema/],
      [z.object({ a: z.bigint() }), /BigInt/],
    ] as const)
      await assert.rejects(coppice.start({ prompt: 'x', output: output as never }), {
        ...{ code: 'E_INVALID_ARGUMENT', message },
      });
    await assert.rejects(coppice.start({ prompt: 'x', model: 'acp:none', output: review }), {
      ...{ code: 'E_INVALID_ARGUMENT', message: /cannot submit/ },
    });
  });
});

describe('children from code', () => {
  const RULES = [
    { when: { agent: 'typed' }, ...submit(RIGHT) },
    { when: { agent: 'plain' }, say: 'plain words' },
    { say: 'root words' },
  ];

  for (const vocabulary of TOOLSETS)
    it(`are created under ${vocabulary}: forks know the conversation, others do not`, async () => {
      const { coppice, requests } = await stage(RULES);
      const root = await coppice.start({ prompt: 'begin', toolsets: [vocabulary] });
      await root.result();
      const fork = await root.fork({ prompt: 'score it', name: 'typed', output: review });
      const forked = await fork.result();
      assert.deepEqual([forked.failure, forked.output?.score, forked.root.parent_id], [null, 4, root.id]);
      const first = requests.at(1)?.messages[0];
      assert.equal(first?.role === 'user' ? first.text : '', 'begin');
      await root.result();
      const count = requests.length;
      const spawned = await root.spawn({
        prompt: 'score it',
        name: 'typed',
        output: review,
        budget: { usd: 1 },
      });
      assert.deepEqual((await spawned.result()).output?.score, 4);
      const plain = await (await root.spawn({ prompt: 'talk', name: 'plain', system: 'Be plain.' })).result();
      assert.deepEqual([plain.reply, plain.output], ['plain words', null]);
      await root.result();
      assert.equal(requests.length, count + 2, 'the parent is not told');
      assert.equal(requests[count]?.messages.length, 1);
    });

  it('are made once for one id, end by a signal, and are refused where they cannot be', async () => {
    const { coppice } = await stage([
      { when: { agent: 'slow' }, delay_ms: 600_000, say: 'x' },
      { say: 'done' },
    ]);
    const root = await coppice.start({ prompt: 'begin', limits: { depth: 1 } });
    await root.result();
    const one = await root.spawn({ id: 'a', prompt: 'x', name: 'one' });
    assert.equal((await root.spawn({ id: 'a', prompt: 'x', name: 'one' })).id, one.id);
    await one.result();
    const controller = new AbortController();
    const slow = await root.spawn({ prompt: 'x', name: 'slow', signal: controller.signal });
    controller.abort();
    assert.equal((await slow.result()).outcome, 'stopped');
    assert.equal((await root.result()).root.state.type, 'idle');
    const late = await root.spawn({ prompt: 'x', name: 'slow', timeout_ms: 50 });
    assert.equal((await late.result()).outcome, 'cut_short');
    const fork = await root.fork({ prompt: 'x' });
    await fork.result();
    for (const [wrong, code, message] of [
      [() => fork.fork({ prompt: 'x' }), 'E_REFUSED', /"depth" reached/],
      [() => fork.spawn({ prompt: 'x' }), 'E_REFUSED', /"depth" reached/],
      [() => root.spawn({ prompt: 'x', profile: 'none' }), 'E_REFUSED', /no profile "none"/],
      [() => root.spawn({ prompt: 'x', model: 'nobody/x' }), 'E_MODEL_UNKNOWN', /nobody/],
      [() => root.fork({ promt: 'x' } as never), 'E_INVALID_ARGUMENT', /fork needs the option "prompt"/],
      [() => root.fork({ prompt: 'x', cwd: '/' } as never), 'E_CONFIG', /fork has no option "cwd"/],
      [() => root.fork({ prompt: 'x', system: 'y' } as never), 'E_CONFIG', /fork has no option "system"/],
      [() => root.spawn({ prompt: 'x', turns: -1 }), 'E_INVALID_ARGUMENT', /turns must be/],
    ] as const)
      await assert.rejects(wrong(), { code, message });
    await root.kill();
    await assert.rejects(root.fork({ prompt: 'x' }), { code: 'E_AGENT_DEAD' });
  });
});
