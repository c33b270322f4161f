// Proves the `delegate` vocabulary on both databases: `subagent_spawn` blocks until the sub-agent ends, `subagent_delegate` gets one answer of a program.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ModelRequest } from '../../../src/models/model.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import { bare, parsed } from '../stage.ts';
import { ask, delegation, echo, meeting, play, spawn } from './delegate-play.ts';

function namesOf(request: ModelRequest | undefined): string[] {
  return (request?.tools ?? []).map((tool) => tool.name);
}

onBothDatabases('delegate toolset', (database) => {
  const stage = stagesOn(database, { toolsets: ['delegate'] });

  it('blocks until the nested loop has ended; the final text is the result, and the run is in the history', async () => {
    const on = await stage(
      play([() => [spawn('count')]], {
        count: (scene) => (scene.step < 2 ? [['echo', { text: `${scene.step}` }]] : 'counted to two'),
      }),
      { tools: [echo] },
    );
    const { root, agents } = await on.perform();
    const [result] = await on.results(root);
    assert.deepEqual(
      [result?.status, result?.output, result?.did?.replace(/\d+ s/, 'N s')],
      ['ok', 'counted to two', '2 tool calls (echo 2); N s; 36 tokens'],
    );
    assert.deepEqual(
      on.requests.map((request) => request.agent.name),
      ['main', 'count', 'count', 'count', 'main'],
    );
    const child = agents.find((agent) => agent.name === 'count');
    assert.ok(child?.state.type === 'completed' && child.state.result === 'counted to two');
    assert.equal(child?.origin, 'delegate');
    const [run, ...others] = await on.store.runs({ root_id: root.id });
    assert.equal(others.length, 0);
    assert.deepEqual(
      [run?.source, run?.status, run?.result, run?.label, run?.task, run?.requester_id, run?.agent_id],
      ['delegate', 'completed', 'counted to two', 'count', 'do count', root.id, child?.id],
    );
    assert.equal(run?.id, child?.config.task?.run_id);
    assert.deepEqual(await on.store.mail(root.id), []);
  });

  it('several delegations of one turn run in parallel; results are in the order of the calls', async () => {
    const together = meeting(3);
    const speak = (name: string) => () => together(`${name} is back`);
    const on = await stage(
      play([() => [spawn('a'), spawn('b'), spawn('c')]], { a: speak('a'), b: speak('b'), c: speak('c') }),
    );
    const { root } = await on.perform();
    assert.deepEqual(
      (await on.results(root)).map((result) => bare(result.output)),
      ['a is back', 'b is back', 'c is back'],
    );
  });

  it('a sub-agent has the tools of its parent, a fresh conversation, and its own or its parent’s system prompt', async () => {
    const script = play([() => [spawn('heir'), spawn('other', { systemPrompt: 'you are other' })]]);
    const on = await stage(script, { tools: [echo], config: { system: 'you are the parent' } });
    await on.perform('the secret of the parent');
    const request = (name: string) => on.requests.find((one) => one.agent.name === name);
    assert.deepEqual(namesOf(request('heir')), ['echo', 'subagent_spawn']);
    assert.deepEqual(namesOf(request('heir')), namesOf(request('main')));
    assert.deepEqual(request('heir')?.messages, [{ role: 'user', text: 'do heir' }]);
    assert.equal(request('heir')?.system, 'you are the parent');
    assert.equal(request('other')?.system, 'you are other');
    await on.close();
    const terms = delegation({ system: 'you are of the house' });
    const house = await stage(script, { terms, config: { system: 'you are the parent' } });
    await house.perform();
    const systems = new Map(house.requests.map((one) => [one.agent.name, one.system]));
    assert.deepEqual([systems.get('heir'), systems.get('other')], ['you are of the house', 'you are other']);
  });

  it('invalid arguments are refused by name, and nothing is created', async () => {
    const cases: readonly (readonly [string, unknown, RegExp])[] = [
      ...[-1, 1.5, 1_001, 'three'].map(
        (maxTurns) => ['subagent_spawn', spawn('x', { maxTurns })[1], /"maxTurns"/] as const,
      ),
      ['subagent_spawn', '{"task":"x","description":"x","maxTurns":NaN}', /not valid JSON/],
      ['subagent_spawn', { description: 'x' }, /"task"/],
      ['subagent_spawn', { task: ' ', description: 'x' }, /"task"/],
      ['subagent_spawn', spawn('x', { depth: 9 })[1], /depth/],
      ['subagent_spawn', spawn('x', { output_schema: { type: 7 } })[1], /"output_schema"/],
      ['subagent_delegate', { task: '', description: 'x' }, /"task"/],
      ['subagent_delegate', ask('x', { serverName: ['a', 'b'] })[1], /"serverName"/],
    ];
    const on = await stage(play([() => cases.map(([name, input]) => [name, input] as const)]), {
      terms: delegation({ servers: ['one'] }),
    });
    const { root, agents } = await on.perform();
    const results = await on.results(root);
    assert.equal(results.length, cases.length);
    cases.forEach(([, , message], index) => {
      const error = parsed(results[index]).error as { code: string; message: string };
      assert.equal(error.code, 'INVALID_ARG', JSON.stringify(cases[index]));
      assert.match(error.message, message);
    });
    assert.equal(agents.length, 1);
    assert.deepEqual(await on.store.runs({ root_id: root.id }), []);
  });

  it('maxTurns is the number of requests, of which the last one has no tools, and the result says so', async () => {
    const cut = (n: number) =>
      `the sub-agent was cut short: limit reached: ${n} model ${n === 1 ? 'request' : 'requests'} in one turn\n\nWhat it had by then:\nwhat I have`;
    const eager = (scene: { user: string }) =>
      scene.user.includes('Finish now') ? 'what I have' : ([['echo', { text: 'more' }]] as const);
    const on = await stage(
      play([() => [spawn('eager', { maxTurns: 3 }), spawn('usual'), spawn('once', { maxTurns: 1 })]], {
        ...{ eager, usual: eager, once: eager },
      }),
      {
        tools: [echo],
        terms: delegation({ default_turns: 2 }),
      },
    );
    const { root } = await on.perform();
    assert.deepEqual(
      (await on.results(root)).map(({ status, output }) => [status, bare(output)]),
      [
        ['ok', cut(3)],
        ['ok', cut(2)],
        ['ok', cut(1)],
      ],
    );
    const runs = (await on.store.runs({ root_id: root.id })).toReversed();
    assert.deepEqual(
      runs.map(({ status, result, error }) => [status, result, error]),
      [3, 2, 1].map((n) => [
        ...['completed', 'what I have'],
        `limit reached: ${n} model ${n === 1 ? 'request' : 'requests'} in one turn`,
      ]),
    );
    const asked = (name: string) => on.requests.filter((request) => request.agent.name === name).length;
    assert.deepEqual([asked('eager'), asked('usual'), asked('once')], [3, 2, 1]);
  });

  it('at the depth limit both tools are absent, and calling them is an error that creates nothing', async () => {
    const told: string[] = [];
    const on = await stage(
      play([() => [spawn('first')]], {
        first: (scene) =>
          scene.step === 0 ? [spawn('second')] : `first heard: ${bare(scene.last[0]?.output ?? '')}`,
        second: (scene) => {
          if (scene.step === 0) return [spawn('third'), ask('third')];
          told.push(...scene.last.map((result) => result.output));
          return 'second is the last';
        },
      }),
      { tools: [echo], terms: delegation({ servers: ['one'] }) },
    );
    const { root, agents } = await on.perform();
    const tools = (name: string) => namesOf(on.requests.find((one) => one.agent.name === name));
    assert.deepEqual(tools('first'), ['echo', 'subagent_delegate', 'subagent_spawn']);
    assert.deepEqual(tools('second'), ['echo']);
    assert.equal(told.length, 2);
    for (const text of told) assert.match(text, /LIMIT_REACHED.*2 of 2/);
    assert.equal(bare((await on.results(root))[0]?.output ?? ''), 'first heard: second is the last');
    assert.equal(agents.length, 3);
  });

  it('with a schema, the sub-agent submits, and can correct a mismatch', async () => {
    const output_schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
    const on = await stage(
      play([() => [spawn('adder', { output_schema })]], {
        adder: (scene) => [['submit_result', { result: scene.step === 0 ? '{"sum":"four"}' : '{"sum":4}' }]],
      }),
    );
    const { root } = await on.perform();
    const [result] = await on.results(root);
    assert.deepEqual(JSON.parse(result?.output ?? ''), { sum: 4 }, 'the output is the document alone');
    const told = JSON.stringify(on.requests.findLast(({ agent }) => agent.name === 'main')?.messages.at(-1));
    assert.ok(told.includes(JSON.stringify(`{"sum":4}\n\n[Did: ${result?.did}]`).slice(1, -1)), told);
    assert.equal(on.requests.filter((request) => request.agent.name === 'adder').length, 2);
  });

  it('rules that deny also apply to the sub-agent', async () => {
    const config = {
      permissions: {
        cli: { allow: [], ask: [], deny: [] },
        config: { allow: ['*'], ask: [], deny: ['echo'] },
      },
    };
    const on = await stage(
      play([() => [spawn('bold')]], {
        bold: (scene) => (scene.step === 0 ? [['echo', { text: 'x' }]] : `${scene.last[0]?.status}`),
      }),
      { tools: [echo], config },
    );
    const { root } = await on.perform();
    assert.equal(bare((await on.results(root))[0]?.output ?? ''), 'denied');
  });
});
