// Proves on both databases that `subagent_delegate` sends one request to the right agent program, or says why it cannot.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ModelRequest } from '../../../src/models/model.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import { bare, type StageOptions } from '../stage.ts';
import { ask, delegation, echo, fixedModel, play } from './delegate-play.ts';

onBothDatabases('single-shot delegation', (database) => {
  const stage = stagesOn(database, { toolsets: ['delegate'] });

  it('a delegation sends one request to the named program, without our tools and system prompt', async () => {
    const seen: ModelRequest[] = [];
    const answers = (name: string) => fixedModel(name, `${name} answers`, seen);
    const names = ['acp:one', 'acp:one/wren', 'acp:two', 'acp:two/owl', 'acp:one/robin'];
    const on = await stage(
      play([
        () => [
          ask('usual'),
          ask('agent', { agentId: 'robin' }),
          ask('server', { serverName: 'two' }),
          ask('both', { serverName: 'two', agentId: 'owl' }),
          ask('named', { serverName: 'one' }),
        ],
      ]),
      {
        tools: [echo],
        terms: delegation({ servers: ['two', 'one'], default_server: 'one', default_agent: 'wren' }),
        models: Object.fromEntries(names.map((name) => [name, answers(name)])),
      },
    );
    const { root, agents } = await on.perform();
    assert.deepEqual(
      (await on.results(root)).map((result) => bare(result.output)),
      ['acp:one/wren', 'acp:one/robin', 'acp:two', 'acp:two/owl', 'acp:one/wren'].map(
        (name) => `${name} answers`,
      ),
    );
    assert.equal(seen.length, 5);
    for (const request of seen) {
      assert.deepEqual([request.tools, request.system], [[], '']);
      assert.deepEqual(request.messages, [{ role: 'user', text: `ask ${request.agent.name}` }]);
    }
    assert.equal(agents.length, 6);
    assert.deepEqual(
      new Set((await on.store.runs({ root_id: root.id })).map((run) => run.source)),
      new Set(['delegate']),
    );
  });

  it('a program that calls our tools gets none; its text after being told so is the result, which says so', async () => {
    const seen: ModelRequest[] = [];
    const call = { type: 'call' as const, id: 'c', name: 'echo', input: '{"text":"x"}' };
    const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null };
    const model = fixedModel(
      'acp:one',
      {
        type: 'answer',
        content: { model: 'acp:one', parts: [{ type: 'text', text: 'half' }, call] },
        usage,
        finish: 'calls',
      },
      seen,
    );
    const on = await stage(play([() => [ask('greedy')]]), {
      tools: [echo],
      terms: delegation({ servers: ['one'] }),
      models: { 'acp:one': model },
    });
    const { root } = await on.perform();
    const greedy = await on.agent('greedy');
    const answered = (await on.store.history(greedy.id)).flatMap((message) =>
      message.kind === 'result' ? [message.content.status] : [],
    );
    assert.deepEqual(answered, ['error', 'error']);
    assert.equal(
      bare((await on.results(root))[0]?.output ?? ''),
      'the sub-agent was cut short: limit reached: 1 model request in one turn\n\nWhat it had by then:\nhalf',
    );
    assert.equal(seen.length, 2);
  });

  it('a missing, unknown or failing server is a clear error, and nothing is created', async () => {
    const results = async (options: StageOptions, ...more: Record<string, unknown>[]) => {
      const on = await stage(play([() => more.map((one) => ask('x', one))]), options);
      const { root, agents } = await on.perform();
      assert.equal(agents.length, 1);
      const outputs = (await on.results(root)).map((result) => `${result.status} ${bare(result.output)}`);
      await on.close();
      return outputs;
    };
    const none = await results({}, {}, { serverName: 'one' });
    for (const text of none) assert.match(text, /^error .*NOT_AVAILABLE.*no ACP server is configured/);
    const [unknown, missing] = await results(
      { terms: delegation({ servers: ['one', 'two'] }), missing_models: ['acp:one'] },
      { serverName: 'three' },
      {},
    );
    assert.match(unknown ?? '', /^error .*no ACP server .*three.*Servers: one, two/);
    assert.match(missing ?? '', /^error .*NOT_AVAILABLE.*acp:one/);
  });
});
