// Proves, on both databases, that a conversation that its provider refuses continues without its newest message: permanently, after restarts, and in forks.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import type { Model, ModelOutcome, ModelRequest } from '../../../src/models/model.ts';
import { saidIn } from '../../../src/records/conversation/child-text.ts';
import type { AssistantPart } from '../../../src/records/conversation/message.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { type Stage, setStage } from '../stage.ts';

const FAILURE = { kind: 'bad_request', error: '400: cannot take that', retryable: false } as const;

/** A model that refuses any request with `poison`; calls `look` for `read`, forks for `fork`, and otherwise repeats the last text. */
function picky(asked: ModelRequest[], names_it = false, takes_it = () => false): Model {
  return {
    id: 'play/picky',
    context_window: null,
    tells_cost: false,
    async stream(request): Promise<ModelOutcome> {
      asked.push(request);
      const index = request.messages.findIndex((one) => JSON.stringify(one).includes('poison'));
      if (index >= 0 && !takes_it()) {
        const place = names_it ? { behind_refused: request.messages.length - 1 - index } : {};
        return { type: 'failure', failure: { ...FAILURE, ...place } };
      }
      const last = request.messages.at(-1);
      const text = last?.role === 'user' ? last.text : 'heard';
      const name = text === 'read' ? 'look' : text === 'fork' ? 'fork' : null;
      const input = JSON.stringify(name === 'fork' ? { name: 'b', prompt: 'hello' } : {});
      const part: AssistantPart =
        name === null
          ? { type: 'text', text: `${text} taken` }
          : { type: 'call', id: `c${asked.length}`, name, input };
      const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null };
      return { type: 'answer', content: { model: 'play/picky', parts: [part] }, usage, finish: 'stop' };
    },
  };
}

const look = defineTool({
  name: 'look',
  description: 'Reads.',
  input: z.strictObject({}),
  side_by_side: true,
  idempotent: true,
  run: async () => 'poison',
}) as Tool;

onBothDatabases('a conversation that its provider refuses', (database) => {
  async function stage(asked: ModelRequest[], model = picky(asked)): Promise<Stage> {
    return setStage(() => 'nobody plays', {
      tools: [look],
      models: { 'play/picky': model },
      config: { model: 'play/picky' },
      database: await database(),
    });
  }

  it('rests without the message, answers the next one, and never sends it again, even after a restart or in a fork', async () => {
    const asked: ModelRequest[] = [];
    const first = await stage(asked);
    const { root, failure } = await first.perform('poison');
    assert.equal(failure?.kind, 'bad_request');
    const second = await first.reopen();
    await second.runtime.resume(root.id, { without_last: true });
    assert.equal((await second.runtime.settled(root.id)).failure, null);
    assert.equal(asked.length, 1, 'nothing is left to ask about');
    await second.runtime.send(root.id, 'good day');
    assert.equal((await second.runtime.settled(root.id)).reply, 'good day taken');
    const third = await second.reopen();
    await third.runtime.resume(root.id);
    await third.runtime.send(root.id, 'fork');
    await until(async () => (await third.store.agents({ root_id: root.id })).length === 2, 'it forked');
    const { agents } = await third.runtime.settled(root.id);
    assert.deepEqual(
      agents.map(({ state }) => state.type),
      ['idle', 'idle'],
    );
    const history = await third.store.history(root.id);
    assert.equal(history[0]?.kind === 'user' && history[0].content.text, 'poison', 'people still see it');
    const told = history.flatMap((one) => (one.kind === 'event' ? [one.content.text] : []));
    assert.ok(told.includes('left out of what the model is sent: the message "poison"'));
    assert.equal(JSON.stringify(asked.slice(1)).includes('poison'), false);
  });

  it('removes results alone: the calls stay answered, and the request is sent again', async () => {
    const asked: ModelRequest[] = [];
    const on = await stage(asked);
    const { root } = await on.perform('read');
    const again = await on.reopen();
    await again.runtime.resume(root.id, { without_last: true });
    const { reply, failure } = await again.runtime.settled(root.id);
    assert.deepEqual([reply, failure], ['heard taken', null]);
  });

  it('removes one more message each time until the request is accepted', async () => {
    const asked: ModelRequest[] = [];
    const on = await stage(asked);
    const { root } = await on.perform('poison');
    await on.runtime.send(root.id, 'and another');
    await on.runtime.settled(root.id);
    let stand = on;
    for (const stuck of [true, false]) {
      stand = await stand.reopen();
      await stand.runtime.resume(root.id, { without_last: true });
      assert.equal((await stand.runtime.settled(root.id)).failure !== null, stuck);
    }
  });

  it('leaves out the message that the provider names, however many follow: in its agent, after a restart, and in a fork that inherited it', async () => {
    const asked: ModelRequest[] = [];
    let lenient = true;
    const first = await stage(
      asked,
      picky(asked, true, () => lenient),
    );
    const { root } = await first.perform('read');
    await first.runtime.send(root.id, 'fork');
    await until(async () => (await first.store.agents({ root_id: root.id })).length === 2, 'it forked');
    const { agents } = await first.runtime.settled(root.id);
    const fork = agents.find((one) => one.id !== root.id);
    assert.ok(fork !== undefined);
    lenient = false;
    for (const id of [root.id, fork.id]) await first.runtime.send(id, `and now`);
    await first.runtime.settled(root.id);
    const second = await first.reopen();
    await second.runtime.resume(root.id, { without_last: true });
    await second.runtime.settled(root.id);
    const replies = async (on: Stage, id: string) => saidIn(await on.store.history(id));
    assert.equal((await second.store.agent(fork.id))?.reply, 'and now taken');
    assert.equal((await second.store.agent(root.id))?.state.type, 'idle');
    const third = await second.reopen();
    await third.runtime.resume(root.id);
    const before = asked.length;
    for (const id of [root.id, fork.id]) await third.runtime.send(id, 'good day');
    await third.runtime.settled(root.id);
    for (const id of [root.id, fork.id]) assert.ok((await replies(third, id)).includes('good day taken'));
    const sent = asked.slice(before);
    assert.equal(sent.length, 3, 'nothing was refused, and the root was told of the end of the fork');
    assert.ok(sent.every((one) => JSON.stringify(one.messages).includes('left out: the provider refused')));
  });

  it('removes the newest message too if the named one is refused again when nothing of it is left', async () => {
    const asked: ModelRequest[] = [];
    const stubborn: Model = {
      ...picky(asked),
      async stream({ messages }) {
        if (messages.length > 1)
          return { type: 'failure', failure: { ...FAILURE, behind_refused: messages.length - 1 } };
        return picky(asked).stream({ messages } as ModelRequest, () => undefined);
      },
    };
    const on = await stage(asked, stubborn);
    const { root } = await on.perform('hello');
    await on.runtime.send(root.id, 'and more');
    let stand = on;
    for (const left of [3, 2, 1]) {
      await stand.runtime.settled(root.id);
      stand = await stand.reopen();
      await stand.runtime.resume(root.id, { without_last: true });
      const { failure } = await stand.runtime.settled(root.id);
      assert.equal(failure === null, left < 3, `${left} left`);
    }
  });

  it('is shortened only in an agent that was refused, not in one that failed otherwise', async () => {
    const asked: ModelRequest[] = [];
    const busy: Model = {
      ...picky(asked),
      async stream(request, onDelta) {
        const last = request.messages.at(-1);
        if (last?.role !== 'user' || last.text !== 'busy') return picky(asked).stream(request, onDelta);
        return { type: 'failure', failure: { kind: 'overloaded', error: '529', retryable: true } };
      },
    };
    const on = await stage(asked, busy);
    const { root, agents } = await on.perform('fork');
    const fork = agents.find((one) => one.id !== root.id);
    assert.ok(fork !== undefined);
    await on.runtime.send(root.id, 'busy');
    await on.runtime.send(fork.id, 'poison');
    await on.runtime.settled(root.id);
    const again = await on.reopen();
    await again.runtime.resume(root.id, { without_last: true });
    await again.runtime.settled(root.id);
    const told = (await again.store.history(root.id)).flatMap((one) =>
      one.kind === 'event' ? [one.content.event] : [],
    );
    assert.deepEqual([told.includes('error'), told.includes('left-out')], [true, false]);
    assert.equal((await again.store.agent(fork.id))?.state.type, 'idle');
    await again.close();
  });

  it('changes only a failed turn', async () => {
    const asked: ModelRequest[] = [];
    const on = await stage(asked);
    const { root } = await on.perform('good day');
    const again = await on.reopen();
    await again.runtime.resume(root.id, { without_last: true });
    assert.equal((await again.runtime.settled(root.id)).reply, 'good day taken');
    const history = await again.store.history(root.id);
    assert.deepEqual(
      history.filter((one) => one.kind === 'event'),
      [],
    );
  });
});
