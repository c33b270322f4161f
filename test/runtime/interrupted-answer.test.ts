/**
 * Proves that an answer that is interrupted while it streams is kept as far as it arrived: in the ledger, and in the model's next
 * request, in a form that every provider accepts.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { open, PROTOCOLS } from '../models/protocols.ts';
import type { Answer } from '../servers/brain.ts';
import { until } from '../until.ts';
import { onBothDatabases } from './both-databases.ts';
import { HandClock } from './hand-clock.ts';
import { type Stage, setStage } from './stage.ts';

const DEEP = 'The first half of it. The second half of it.';

function textSeen(stage: Stage): string {
  return stage.events
    .flatMap((event) => (event.type === 'delta' && event.delta.type === 'text' ? [event.delta.text] : []))
    .join('');
}

/** A stage whose model streams `first` until it stalls, and then gives complete answers. */
async function stageOn(
  test: TestContext,
  protocol: (typeof PROTOCOLS)[number],
  first: Answer,
  database?: string,
) {
  const { server, model } = await open(
    protocol,
    ({ index }) => (index === 0 ? first : { text: 'As you say.' }),
    {
      attempts: 1,
      idle_ms: 60_000,
    },
  );
  const clock = new HandClock();
  const stage = await setStage(() => 'never asked', {
    clock,
    config: { model: model.id },
    models: { [model.id]: model },
    database,
  });
  test.after(async () => {
    await stage.close();
    await server.close();
  });
  return { server, stage, clock };
}

async function assistants(stage: Stage, agent_id: string) {
  return (await stage.store.history(agent_id)).flatMap((one) =>
    one.kind === 'assistant' ? [one.content] : [],
  );
}

for (const protocol of PROTOCOLS)
  describe(`an interrupted answer of ${protocol.type}`, () => {
    it('stays, marked, and the provider accepts it with the next message of the person', async (test) => {
      const { server, stage } = await stageOn(test, protocol, {
        reasoning: 'let me think',
        text: DEEP,
        pieces: 2,
        calls: [{ name: 'fork', input: { name: 'x', prompt: 'y' } }],
        fault: { stall_after: stallAfterText(protocol.type) },
      });
      const root = await stage.start('tell me');
      await until(() => textSeen(stage).includes('first half'), 'it streams');
      const heard = textSeen(stage);
      await stage.runtime.interrupt(root.id, 'Esc was pressed');
      await stage.runtime.settled(root.id);
      const [kept] = await assistants(stage, root.id);
      assert.deepEqual(kept?.parts, [{ type: 'text', text: heard }]);
      assert.equal(kept?.finish, 'interrupted');
      await stage.runtime.send(root.id, 'shorter, please');
      assert.equal((await stage.runtime.settled(root.id)).reply, 'As you say.');
      const [, second] = server.exchanges;
      assert.equal(second?.refused, null);
      const told = second?.messages.map(({ role, text }) => [role, text]);
      assert.deepEqual(
        told?.map(([role]) => role),
        ['user', 'assistant', 'user'],
      );
      assert.ok(told?.[1]?.[1]?.startsWith(heard.trimEnd()), JSON.stringify(told));
      assert.match(told?.[1]?.[1] ?? '', /\[The answer was interrupted here\.\]$/);
    });

    it('also stays when the run time ended it, and a retry ends with a user message, which providers require', async (test) => {
      const { server, stage, clock } = await stageOn(test, protocol, {
        reasoning: 'let me think',
        text: DEEP,
        pieces: 2,
        fault: { stall_after: stallAfterText(protocol.type) },
      });
      const root = await stage.start('tell me', { run_ms: 60_000 });
      await until(() => textSeen(stage).includes('first half'), 'it streams');
      clock.pass(60_000);
      const ended = await stage.runtime.settled(root.id);
      assert.equal(ended.failure?.kind, 'timed_out');
      assert.equal((await assistants(stage, root.id)).at(-1)?.finish, 'interrupted');
      await stage.runtime.retry(root.id);
      assert.equal((await stage.runtime.settled(root.id)).reply, 'As you say.');
      assert.equal(server.exchanges[1]?.refused, null);
      assert.deepEqual(
        server.exchanges[1]?.messages.map(({ role }) => role),
        ['user', 'assistant', 'user'],
      );
    });

    it('leaves nothing behind if only reasoning or nothing had arrived', async (test) => {
      const { server, stage } = await stageOn(test, protocol, {
        reasoning: 'let me think',
        text: DEEP,
        fault: { stall_after: 1 },
      });
      const root = await stage.start('tell me');
      await until(() => server.exchanges.length === 1, 'it was asked');
      await stage.runtime.interrupt(root.id, 'Esc was pressed');
      await stage.runtime.settled(root.id);
      assert.deepEqual(await assistants(stage, root.id), []);
      await stage.runtime.send(root.id, 'again');
      assert.equal((await stage.runtime.settled(root.id)).reply, 'As you say.');
      assert.equal(server.exchanges[1]?.refused, null);
    });
  });

/** Number of events of the protocol after which the first half of the text has arrived, and the second has not. */
function stallAfterText(type: (typeof PROTOCOLS)[number]['type']): number {
  return { anthropic: 8, openai: 8, 'openai-compatible': 3, google: 2 }[type];
}

onBothDatabases('an interrupted answer', (database) => {
  it('is read back with the conversation by the next process', async (test) => {
    const protocol = PROTOCOLS[0];
    const first = { text: DEEP, pieces: 2, fault: { stall_after: 4 } };
    const { stage } = await stageOn(test, protocol, first, await database());
    const root = await stage.start('tell me');
    await until(() => textSeen(stage).includes('first half'), 'it streams');
    await stage.runtime.interrupt(root.id, 'Esc was pressed');
    await stage.runtime.settled(root.id);
    const again = await stage.reopen(({ request }) => JSON.stringify(request.messages), { models: {} });
    await again.runtime.resume(root.id);
    await again.runtime.send(root.id, 'what did you say?');
    const { reply } = await again.runtime.settled(root.id);
    await again.close();
    assert.match(reply, /The first half of it.*interrupted here/);
  });
});
