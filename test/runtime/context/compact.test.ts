/** Proves that a person can request a checkpoint of an agent at rest or at work, and say what to keep; and what forks made before and after it see. */
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import type { ModelRequest } from '../../../src/models/model.ts';
import { closeOpened } from '../../close-opened.ts';
import { setStage } from '../stage.ts';
import { TASK, workTool, wornOutModel } from './worn-out-window.ts';

afterEach(closeOpened);

const ORDER = /replaced by your summary/;
const newest = ({ messages }: ModelRequest) => JSON.stringify(messages.at(-1));
const of = (seen: readonly ModelRequest[], name: string) => seen.filter(({ agent }) => agent.name === name);

it('at rest at once, at work before the next request; a fork made before keeps the whole history', async () => {
  const seen: ModelRequest[] = [];
  const stage = await setStage(() => 'unused', {
    models: { 'scripted/worn': wornOutModel(seen, 100_000) },
    config: { model: 'scripted/worn' },
    tools: [workTool(10)],
  });
  const { root } = await stage.perform(TASK);
  const before = await stage.runtime.fork(root.id, 'before', null);
  await stage.runtime.compact(root.id, 'the colour of the door');
  assert.equal((await stage.runtime.settled(root.id)).root.state.type, 'idle');
  const asked = seen.at(-1) as ModelRequest;
  assert.match(newest(asked), ORDER);
  assert.match(newest(asked), /the colour of the door/);
  const after = await stage.runtime.fork(root.id, 'after', null);
  for (const { id } of [before, after]) await stage.runtime.send(id, 'what did you count?');
  await stage.runtime.settled(root.id);
  const [whole] = of(seen, 'before') as [ModelRequest];
  const [short] = of(seen, 'after') as [ModelRequest];
  assert.deepEqual(whole.messages.slice(0, asked.messages.length - 1), asked.messages.slice(0, -1));
  assert.ok(short.messages.length < 8 && JSON.stringify(short.messages[0]).includes(TASK));
  assert.equal(short.shared_prefix, short.messages.length - 2, 'what came before its identity is shared');

  for (let times = 0; times < 2; times += 1) {
    await stage.runtime.compact(root.id);
    await stage.runtime.settled(root.id);
  }
  const [event] = (await stage.store.history(root.id)).slice(-1);
  assert.ok(event?.kind === 'event' && /nothing to summarise/.test(event.content.text));
});

it('at work: the order waits for the next request, and the turn goes on', async () => {
  const seen: ModelRequest[] = [];
  const stage = await setStage(() => 'unused', {
    models: { 'scripted/worn': wornOutModel(seen, 100_000) },
    config: { model: 'scripted/worn' },
    tools: [workTool(20)],
  });
  stage.runtime.subscribe((event) => {
    if (event.type === 'message' && event.message.seq === 20)
      void stage.runtime.compact(event.agent_id, 'all');
  });
  const { reply } = await stage.perform(TASK);
  assert.equal(reply, 'All counted.');
  assert.equal(seen.filter((request) => ORDER.test(newest(request))).length, 1);
});
