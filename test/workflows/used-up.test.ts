// Proves that a run whose budget is used up starts no more agents, still gives its result where it needs none, names what had finished otherwise, and
// goes on without a loss when a person raises the limit.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import { onBothDatabases } from '../runtime/both-databases.ts';
import { setStage } from '../runtime/stage.ts';
import { META } from './played-script.ts';
import { stagedWorkflowTool, termsOf, workflowHost } from './staged-workflow.ts';

const LOOP =
  "const all = []; for (let n = 0; n < 4; n++) all.push(await agent('do ' + n, { label: 'l' + n })); return all";

onBothDatabases('a run whose budget is used up', (database) => {
  const stageOf = async (body: string) =>
    setStage(({ user }) => `did ${user}`, {
      ...{ database: await database(), workflows: workflowHost(), config: { workflow: termsOf(body) } },
    });

  it('rests with what it has, and goes on from there', async () => {
    const stage = await stageOf(LOOP);
    // An answer of the stage takes 12 tokens.
    const { id } = await stage.start('begin', { tokens: 24 });
    const { root, failure } = await stage.runtime.settled(id);
    assert.equal(root.state.type, 'errored');
    assert.match(failure?.error ?? '', /limit "tokens" of the tree reached: 24 of 24 tokens used/);
    assert.equal(stage.requests.length, 2);
    await stage.store.setLimits(id, { ...(await stage.store.tree(id))?.limits, tokens: 1_000 } as never);
    await stage.runtime.resume(id);
    await stage.runtime.retry(id);
    const { reply } = await stage.runtime.settled(id);
    assert.deepEqual(JSON.parse(reply ?? ''), ['did do 0', 'did do 1', 'did do 2', 'did do 3']);
    assert.equal(stage.requests.length, 4, 'nobody is asked twice');
  });

  it('gives a result that needs no more agents', async () => {
    const stage = await stageOf("return [await agent('one'), budget.remaining(), await sleep(0.01)]");
    const { id } = await stage.start('begin', { tokens: 10 });
    const { reply, outcome_text } = await stage.runtime.settled(id);
    assert.deepEqual([JSON.parse(reply ?? '').slice(0, 1), outcome_text], [['did one'], 'done']);
  });

  it('tells who started it what had finished', async () => {
    let runtime: RuntimeFace | null = null;
    const stage = await setStage(
      ({ user, name, step }) => {
        if (name !== 'main') return `did ${user}`;
        if (step === 0) return [['workflow', { script: META + LOOP }]];
        return user;
      },
      {
        ...{ database: await database(), workflows: workflowHost(), toolsets: ['process', 'workflow'] },
        tools: [stagedWorkflowTool(() => runtime as RuntimeFace)],
      },
    );
    runtime = stage.runtime;
    const { id } = await stage.start('begin', { tokens: 36 });
    await stage.runtime.settled(id);
    const heard = (await stage.store.history(id)).flatMap((one) =>
      one.kind === 'user' && one.content.text.includes('[Subagent: test') ? [one.content.text] : [],
    );
    assert.equal(heard.length, 1);
    assert.match(heard[0] ?? '', /limit "tokens" of the tree reached/);
    assert.match(heard[0] ?? '', /Agents that had finished \(\d\); `coppice workflow rerun [\da-f]{8}`/);
    assert.match(heard[0] ?? '', /- l0: did do 0/);
  });
});
