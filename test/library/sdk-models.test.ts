// Proves that a program may give a model object of the AI SDK wherever the library takes a model, and that the ledger knows it by a name.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { openCoppice } from '../../src/coppice.ts';
import { startOpenAiResponsesServer } from '../servers/openai-responses-server.ts';
import type { ProtocolServer } from '../servers/protocol-server.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('a model object of the AI SDK', () => {
  let server: ProtocolServer;
  let openai: ReturnType<typeof createOpenAI>;
  const database = `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
  before(async () => {
    server = await startOpenAiResponsesServer({ answer: () => ({ text: 'done' }) });
    openai = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'sk-of-the-test' });
  });
  after(() => server.close());

  it('is the model of all agents, and of one, and one of those with a name', async () => {
    const coppice = await openCoppice({
      database,
      model: openai('gpt-5'),
      models: { cheap: openai('gpt-5-nano') },
    });
    const agent = await coppice.start({ prompt: 'begin', id: 'the work' });
    const { root, reply } = await agent.result();
    assert.deepEqual([root.config.model, reply], ['openai.responses/gpt-5', 'done']);
    for (const method of ['fork', 'spawn'] as const) {
      const child = await agent[method]({ prompt: 'x', name: method, model: 'cheap' });
      assert.equal((await child.result()).root.config.model, 'cheap', method);
    }
    const one = await coppice.start({ prompt: 'begin', model: openai('gpt-5-mini') });
    assert.equal((await one.result()).root.config.model, 'openai.responses/gpt-5-mini');
    const cheap = await coppice.start({ prompt: 'begin', model: 'cheap' });
    assert.equal((await cheap.result()).root.config.model, 'cheap');
    const wrong = agent.spawn({ prompt: 'check', model: openai('gpt-5') as never });
    await assert.rejects(wrong, { code: 'E_INVALID_ARGUMENT', hint: /models/ });
    assert.deepEqual(
      new Set(server.exchanges.map(({ raw }) => JSON.parse(raw).model)),
      new Set(['gpt-5', 'gpt-5-mini', 'gpt-5-nano']),
    );
    await coppice.close();
  });

  it('goes on in a program that was started again', async () => {
    const coppice = await openCoppice({ database, model: openai('gpt-5') });
    const before = server.exchanges.length;
    await coppice.send('the work', 'go on');
    const agent = await coppice.start({ prompt: 'begin', id: 'the work' });
    assert.equal((await agent.result()).reply, 'done');
    assert.equal(server.exchanges.length, before + 1);
    await coppice.close();
  });

  it('of another version, and what is none, are refused at once', async () => {
    const old = { ...openai('gpt-5'), specificationVersion: 'v2' };
    for (const model of [old, {}, 7]) {
      const wrong = { code: 'E_CONFIG', message: /model .*AI SDK \(version 6 or 7\)/ };
      await assert.rejects(openCoppice({ database, model: model as never }), wrong);
      const coppice = await openCoppice({ database, model: openai('gpt-5') });
      await assert.rejects(coppice.start({ prompt: 'begin', model: model as never }), wrong);
      await coppice.close();
    }
  });
});
