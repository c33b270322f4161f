// Proves that an agent of a workflow can begin with the conversation of whoever started it, or go on with that of an agent that has finished; that their requests begin
// as those of that conversation, so that the cached prefix is shared; and that a restart changes nothing.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ModelRequest } from '../../src/models/model.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import { onBothDatabases } from '../runtime/both-databases.ts';
import { type Play, type Stage, setStage } from '../runtime/stage.ts';
import { until } from '../until.ts';
import { META } from './played-script.ts';
import { stagedWorkflowTool, termsOf, workflowHost } from './staged-workflow.ts';

const echo: Play = ({ user }) => `did ${user.split('\n').at(-1)}`;

const sent = ({ system, tools, messages }: ModelRequest) => ({ system, tools, messages });
const requestOf = ({ requests }: Stage, prompt: string) => {
  const found = requests.find(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'user' && last.text.split('\n').at(-1) === prompt;
  });
  assert.ok(found, `nobody was asked ${prompt}`);
  return sent(found);
};

onBothDatabases('conversations that agents of workflows inherit', (database) => {
  /** A conversation whose agent starts a workflow with its tool. */
  async function conversation(body: string, play: Play = echo) {
    let runtime: RuntimeFace | null = null;
    const stage = await setStage(
      (scene) => {
        if (scene.name !== 'main') return play(scene);
        if (scene.step === 0) return [['workflow', { script: META + body }]];
        return scene.step === 1 ? 'started' : `heard ${scene.user}`;
      },
      {
        database: await database(),
        workflows: workflowHost(),
        toolsets: ['process', 'workflow'],
        tools: [stagedWorkflowTool(() => runtime as RuntimeFace)],
      },
    );
    runtime = stage.runtime;
    const root = await stage.start('the word is plum');
    return { stage, root };
  }

  it('forks share everything that was sent before the workflow began', async () => {
    const { stage, root } = await conversation(
      `return parallel([() => agent('first', { context: 'fork', label: 'one' }), () => agent('second', { context: 'fork' })])`,
    );
    const { reply } = await stage.runtime.settled(root.id);
    assert.match(String(reply), /\["did first","did second"\]/);
    const [begun] = stage.requests;
    assert.ok(begun);
    const main = sent(begun);
    const [one, two] = [requestOf(stage, 'first'), requestOf(stage, 'second')];
    for (const request of [one, two]) {
      assert.deepEqual({ ...request, messages: request.messages.slice(0, main.messages.length) }, main);
      // The call that started the workflow is answered, or has the placeholder of every fork.
      assert.match(JSON.stringify(request.messages.at(-2)), /Not for you|accepted/);
    }
    assert.deepEqual(one.messages.slice(0, -1), two.messages.slice(0, -1));
    assert.match(JSON.stringify(one.messages.at(-1)), /You are an agent of the workflow/);
  });

  it('forks start no workflow and no agents, although their tools are described to them', async () => {
    const { stage, root } = await conversation("return agent('try', { context: 'fork' })", (scene) => {
      if (scene.step === 0)
        return [
          ['workflow', { script: `${META}return 1` }],
          ['fork', { name: 'x', prompt: 'y' }],
        ];
      return scene.last.map(({ output }) => output).join(' | ');
    });
    const { reply, agents } = await stage.runtime.settled(root.id);
    assert.match(String(reply), /workflow[\s\S]*\|[\s\S]*a sub-agent cannot create agents/);
    assert.equal(agents.length, 3);
  });

  it('gives more work to an agent that has finished, again and again', async () => {
    const { stage, root } = await conversation(`
      const all = [await agent('draft', { label: 'writer' })]
      all.push(await agent('sharpen', { continue: 'writer' }), await agent('shorten', { continue: 'writer' }))
      return all`);
    const { reply } = await stage.runtime.settled(root.id);
    assert.match(String(reply), /\["did draft","did sharpen","did shorten"\]/);
    const [first, last] = [requestOf(stage, 'draft'), requestOf(stage, 'shorten')];
    assert.deepEqual([last.system, last.tools], [first.system, first.tools]);
    assert.deepEqual(
      last.messages.map((message) => (message.role === 'user' ? message.text : message.role)),
      ['draft', 'assistant', 'sharpen', 'assistant', 'shorten'],
    );
  });

  it('submits checked results, and may have a budget of its own', async () => {
    const schema = "{ type: 'object', required: ['n'], properties: { n: { type: 'integer' } } }";
    const { stage, root } = await conversation(
      `const schema = ${schema}
      return [await agent('count', { context: 'fork', schema, label: 'c', budget: 1000 }), await agent('more', { continue: 'c', schema, budget: 900 })]`,
      ({ step }) => [['submit_result', { result: JSON.stringify({ n: step }) }]],
    );
    const { reply, agents } = await stage.runtime.settled(root.id);
    assert.match(String(reply), /\[\{"n":0\},\{"n":\d\}\]/);
    const budgets = agents.flatMap(
      ({ id, config }) => config.budgets?.map((one) => one.agent_id === id) ?? [],
    );
    assert.deepEqual(budgets, [true, true]);
  });

  it('says why there is no conversation to go on with', async () => {
    const play: Play = ({ user }) => {
      if (user === 'hang') return new Promise(() => undefined);
      return user === 'fail' ? { text: '', finish: 'refused' } : 'ok';
    };
    const stage = await setStage(play, {
      ...{ database: await database(), workflows: workflowHost() },
      config: {
        workflow: termsOf(`
          await agent('fail', { label: 'bad' })
          agent('hang', { label: 'busy' })
          for (const options of [{ context: 'fork' }, { continue: 'nobody' }, { continue: 'bad' }, { continue: 'busy' },
            { continue: 'a', context: 'fork' }, { continue: 'a', agentType: 'b' }, { continue: 'a', isolation: 'worktree' }])
            await agent('x', options)
          return agent.failures().map((one) => one.reason)`),
      },
    });
    const { reply } = await stage.perform();
    const text = String(reply);
    const reasons = JSON.parse(text.slice(text.indexOf('\n\n'))) as string[];
    for (const [index, wanted] of [
      /./,
      /needs the conversation of an agent that started the workflow, and no agent did/,
      /no agent of the run has this label/,
      /it did not finish its work/,
      /it is still at work: await it first/,
      /"continue" and "context" exclude each other/,
      /"continue" and "agentType" exclude each other/,
      /"continue" and "isolation" exclude each other/,
    ].entries())
      assert.match(reasons[index] ?? '', wanted);
  });

  it('goes on after a restart with the same conversation', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const body = `await agent('draft', { label: 'w' })
      return parallel([() => agent('forked', { context: 'fork' }), () => agent('continued', { continue: 'w' })])`;
    const { stage, root } = await conversation(body, async (scene) => {
      if (!scene.user.endsWith('draft')) await held;
      return echo(scene);
    });
    await until(() => stage.requests.length >= 5, 'both are asked');
    const before = [requestOf(stage, 'forked'), requestOf(stage, 'continued')];
    const next = await stage.reopen((scene) => (scene.name === 'main' ? scene.user : echo(scene)));
    release();
    await next.runtime.resume(root.id, { unattended: true });
    const { reply } = await next.runtime.settled(root.id);
    assert.match(String(reply), /\["did forked","did continued"\]/);
    assert.deepEqual([requestOf(next, 'forked'), requestOf(next, 'continued')], before);
  });
});
