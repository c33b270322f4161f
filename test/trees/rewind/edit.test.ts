// Proves that one message of the past can be another one: a person's, the task of a fork, the result of a call, the answer of a model, or the model itself;
// what came before stays as it was, and calls before it are not run again.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { it } from 'node:test';
import * as z from 'zod';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { type RewindOrder, rewindTree } from '../../../src/trees/rewind/rewind-tree.ts';
import { onBothDatabases, stagesOn } from '../../runtime/both-databases.ts';
import type { Play, Stage } from '../../runtime/stage.ts';
import { assertLawful } from './cut-trees.ts';

const ran: string[] = [];
const bash = defineTool({
  name: 'bash',
  description: 'Runs.',
  input: z.strictObject({ command: z.string() }),
  side_by_side: false,
  idempotent: false,
  subject: ({ command }) => command,
  run: async ({ command }) => {
    ran.push(command);
    return `${command} ran`;
  },
});

const play: Play = (scene) => {
  const task = scene.user.split('\n').at(-1);
  if (scene.name !== 'main') return `${scene.name} did ${task}`;
  if (scene.step === 0) return [['bash', { command: 'one' }]];
  if (scene.step === 1) return [['fork', { name: 'a', prompt: 'look' }]];
  return `${task}: ${scene.results[0]?.output}`;
};

onBothDatabases('an edited past', (database) => {
  const setStage = stagesOn(database, { tools: [bash] as never });

  async function edited(
    { store, runtime }: Stage,
    root: Agent,
    order: RewindOrder,
  ): Promise<readonly Agent[]> {
    const { root_id, edited: place } = await rewindTree(store, root, order, randomUUID(), tmpdir());
    assert.equal(place === null, order.edit == null);
    await runtime.resume(root_id as string);
    await runtime.settled(root_id as string);
    await assertLawful(store, root_id as string);
    return (await store.agents({ root_id: root_id as string })).toReversed();
  }

  it('goes on from there', async () => {
    const stage = await setStage(play);
    const { root } = await stage.perform('begin');
    const { store } = stage;
    const said = async ({ id }: Agent, at: number) => {
      const message = (await store.history(id)).at(at);
      return message?.kind === 'user'
        ? message.content.text
        : message?.kind === 'result'
          ? message.content.output
          : '';
    };
    ran.length = 0;
    const [asked] = (await edited(stage, root, { to: '1', edit: 'other' })) as [Agent];
    assert.equal(await said(asked, 0), 'other');
    assert.match(asked.reply ?? '', /one ran/);
    assert.deepEqual(ran, ['one'], 'a call behind the edit runs');

    const [silent] = (await edited(stage, root, { to: '1', edit: null })) as [Agent];
    assert.deepEqual([silent.state.type, silent.last_seq], ['idle', 0], 'before its first message');
    await stage.runtime.send(root.id, 'once more');
    await stage.runtime.settled(root.id);
    const seen = (await store.history(root.id)).findLast(({ kind }) => kind === 'user')?.seq ?? 0;
    const [left] = (await edited(stage, root, { to: String(seen), edit: null })) as [Agent];
    assert.deepEqual([left.state.type, left.last_seq], ['idle', seen - 1], 'its letter does not come again');
    await stage.runtime.send(left.id, 'something else');
    await stage.runtime.settled(left.id);
    assert.match((await store.agent(left.id))?.reply ?? '', /^something else/);

    ran.length = 0;
    const [call] = (await store.history(root.id)).flatMap(({ kind, content }) =>
      kind === 'result' ? [content.call_id] : [],
    );
    const [told] = (await edited(stage, root, { to: `${call}`, edit: 'it failed' })) as [Agent];
    assert.equal(await said(told, 2), 'it failed');
    assert.match(told.reply ?? '', /it failed/);
    assert.deepEqual(ran, [], 'a call before it does not');

    const a = await stage.agent('a');
    const first = (a.forked_from?.seq ?? 0) + 1;
    const [, child] = (await edited(stage, root, { to: `a#${first}`, edit: 'listen' })) as [Agent, Agent];
    const identity = await said(child, first - 1);
    assert.match(identity, /^You are now "a".*Your task:\nlisten$/s);
    assert.equal(child.reply, 'a did listen');

    const [ended] = (await edited(stage, root, { to: '2', edit: 'I stop here' })) as [Agent];
    assert.deepEqual([ended.state.type, ended.last_seq], ['idle', 2]);

    const [other] = (await edited(stage, root, { to: '3', model: 'play/other' })) as [Agent];
    assert.equal(other.config.model, 'play/other');
    assert.equal((await store.agent(root.id))?.config.model, 'play/actor', 'the old tree stays');
  });

  for (const [toolset, [name, input]] of Object.entries({
    process: ['fork', { name: 'kid', prompt: 'look' }],
    fanout: ['spawn_agents', { tasks: [{ task: 'look', label: 'kid' }] }],
    sessions: ['sessions_spawn', { task: 'look', label: 'kid' }],
    delegate: ['subagent_spawn', { task: 'look', description: 'kid' }],
  } as const))
    it(`${toolset}: an agent whose last words are others reports them`, async () => {
      const stage = await setStage(
        (scene) => {
          if (scene.name !== 'main') return scene.step === 0 ? 'these words' : 'that is all';
          return scene.step === 0 ? [[name, input]] : 'thanks';
        },
        { toolsets: [toolset] },
      );
      const { root } = await stage.perform('begin');
      const kid = (await stage.store.agents({ parent_id: root.id }))[0] as Agent;
      const at = (await stage.store.history(kid.id)).find(
        ({ kind, content }) => kind === 'assistant' && JSON.stringify(content).includes('these words'),
      );
      const to = `${kid.id}#${at?.seq}`;
      const [again, other] = (await edited(stage, root, { to, edit: 'others' })) as [Agent, Agent];
      const heard = JSON.stringify(await stage.store.history(again.id));
      assert.match(heard, /others/);
      assert.doesNotMatch(heard, /these words/);
      assert.match(JSON.stringify(await stage.store.history(other.id)), /others/);
      assert.equal(again.reply, 'thanks');
    });

  it('says what cannot be edited', async () => {
    const { store, perform, agent } = await setStage(play);
    const { root } = await perform('begin');
    const { id } = await agent('a');
    for (const to of [`${id}#1`, 'before 2', '10 minutes', '99'])
      await assert.rejects(
        rewindTree(store, root, { to, edit: 'x' }, randomUUID(), tmpdir()),
        { name: 'CoppiceError' },
        to,
      );
    for (const edit of ['', ' \n'])
      await assert.rejects(rewindTree(store, root, { to: '1', edit }, randomUUID(), tmpdir()), {
        code: 'E_INVALID_ARGUMENT',
        message: 'the text in place of message 1 is empty',
      });
  });
});
