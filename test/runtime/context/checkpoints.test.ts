/** Proves that a conversation longer than its model's window continues, that its last request has what must not get lost, and that people see all of it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ModelRequest } from '../../../src/models/model.ts';
import { promptOf } from '../../../src/records/conversation/prompt.ts';
import { onBothDatabases } from '../both-databases.ts';
import { setStage } from '../stage.ts';
import { TASK, tokensOf, WINDOW, workTool, wornOutModel } from './worn-out-window.ts';

const TURNS = 120;

onBothDatabases('checkpoints', (database) => {
  it('the task, the children and the words of people survive them', { timeout: 60_000 }, async () => {
    const seen: ModelRequest[] = [];
    const stage = await setStage(() => 'unused', {
      models: { 'scripted/worn': wornOutModel(seen) },
      config: { model: 'scripted/worn' },
      database: await database(),
      tools: [workTool(TURNS)],
    });
    const said = stage.runtime.subscribe(({ type, ...event }) => {
      if (type !== 'message' || !('message' in event) || event.message.seq !== 30) return;
      said();
      void stage.runtime.send(event.agent_id, 'And be quick, says Ada.');
    });
    const { reply, root } = await stage.perform(TASK, { turns: 1_000 });
    assert.equal(reply, 'All counted.');
    assert.ok(seen.every((request) => tokensOf(request) <= WINDOW));
    const history = await stage.store.history(root.id);
    const cuts = history.flatMap((one) => (one.kind === 'event' ? one.content.event : []));
    const checkpoints = cuts.filter((event) => event === 'checkpoint').length;
    assert.deepEqual([checkpoints > 2, cuts.includes('elided')], [true, true]);
    assert.equal(
      history.filter(({ kind }) => kind === 'result').length,
      TURNS + 1,
      'people see every result',
    );
    assert.equal((await stage.store.checkpoint(root.id))?.number, checkpoints);
    const last = seen.findLast(({ agent }) => agent.parent_id === null) as ModelRequest;
    const [first] = last.messages;
    const kid = await stage.agent('kid');
    for (const text of [TASK, 'And be quick, says Ada.', 'So far I have counted.', `kid (${kid.id}): idle`])
      assert.ok(first?.role === 'user' && first.text.includes(text), text);
    assert.ok(last.tools.some(({ name }) => name === 'recall'));
    const read = (await stage.store.conversations([root.id])).get(root.id)?.messages ?? [];
    assert.ok(read.length < history.length / 2, 'a takeover reads from the newest checkpoint on');
    assert.deepEqual(promptOf(read).messages(), promptOf(history).messages());
  });
});
