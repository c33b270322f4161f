// Proves that a program may give a model object of the AI SDK wherever the library takes a model, and that the ledger knows it by a name.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ReadableStream } from 'node:stream/web';
import { after, before, describe, it } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { type CoppiceAgent, defineTool, openCoppice } from '../../src/coppice.ts';
import { openTest } from '../../src/testing.ts';
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
    assert.deepEqual(
      new Set(server.exchanges.map(({ raw }) => JSON.parse(raw).model)),
      new Set(['gpt-5', 'gpt-5-mini', 'gpt-5-nano']),
    );
    await coppice.close();
  });

  it('is the model of children from code, of profiles, and of a tree that goes on', async () => {
    const database = `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
    const profiles = [{ name: 'reviewer', model: openai('gpt-5-pro') }];
    const options = { database, model: openai('gpt-5'), models: { cheap: openai('gpt-5-nano') }, profiles };
    const coppice = await openCoppice(options);
    const modelOf = async (one: Pick<CoppiceAgent, 'result'>) => (await one.result()).root.config.model;
    const agent = await coppice.start({ prompt: 'begin', profile: 'reviewer' });
    assert.equal(await modelOf(agent), 'openai.responses/gpt-5-pro');
    for (const method of ['fork', 'spawn'] as const) {
      const mini = await agent[method]({ prompt: 'x', model: openai('gpt-5-mini') });
      assert.equal(await modelOf(mini), 'openai.responses/gpt-5-mini', method);
      const named = await agent[method]({ prompt: 'x', model: options.models.cheap });
      assert.equal(await modelOf(named), 'cheap', method);
      const reviewer = await agent[method]({ prompt: 'x', profile: 'reviewer' });
      assert.equal(await modelOf(reviewer), 'openai.responses/gpt-5-pro', method);
      const wrong = agent[method]({ prompt: 'x', model: 7 as never });
      await assert.rejects(wrong, { code: 'E_CONFIG', message: /model .*AI SDK \(version 6 or 7\)/ });
    }
    await coppice.close();

    const again = await openCoppice(options);
    const resumed = await again.resume(agent.id, { model: openai('gpt-5.1') });
    await resumed.send('go on');
    assert.equal(await modelOf(resumed), 'openai.responses/gpt-5.1');
    assert.equal(JSON.parse(server.exchanges.at(-1)?.raw ?? '{}').model, 'gpt-5.1');
    const wrong = { code: 'E_CONFIG', message: /model .*AI SDK \(version 6 or 7\)/ };
    await assert.rejects(again.resume(agent.id, { model: {} as never }), wrong);
    await again.close();
    const unfit = openCoppice({ ...options, profiles: [{ name: 'reviewer', model: 7 as never }] });
    await assert.rejects(unfit, wrong);
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

describe('a model object that a program wrote by itself', () => {
  const look = defineTool<{ readonly at?: string }>({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: { at: { type: 'string' } } },
    run: ({ at }) => `saw ${at}`,
  });
  const call = (input: unknown) => [
    { type: 'tool-call', toolCallId: 'a', toolName: 'look', input },
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage: {} },
  ];
  const text = (end: object) => [{ type: 'text-delta', id: '1', delta: 'done' }, end];
  const whole = { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage: {} };

  for (const [what, parts] of [
    ['arguments that are no text', call({ at: 'home' })],
    ['an end without usage', text({ type: 'finish', finishReason: { unified: 'stop' } })],
    ['an end with usage that is null', text({ ...whole, usage: { inputTokens: null, outputTokens: null } })],
    ['an end as version 2 has it', text({ ...whole, finishReason: 'stop', usage: { inputTokens: 5 } })],
  ] as const)
    it(`is read with ${what}`, async () => {
      const answers: (readonly object[])[] = [parts, text(whole)];
      const model = {
        ...{ specificationVersion: 'v3', provider: 'own', modelId: 'one', supportedUrls: {} },
        doStream: async () => {
          const parts = answers.shift() ?? [];
          const start = (stream: ReadableStreamDefaultController) => {
            for (const part of parts) stream.enqueue(part);
            stream.close();
          };
          return { stream: new ReadableStream({ start }) };
        },
      };
      const database = `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
      const coppice = await openCoppice({ database, model: model as never, tools: [look as never] });
      const agent = await coppice.start({ prompt: 'begin' });
      const { reply, failure } = await agent.result();
      assert.deepEqual([reply, failure], ['done', null]);
      const { messages } = await coppice.messages(agent.id);
      const results = messages.flatMap((one) => (one.kind === 'result' ? [one.content.output] : []));
      assert.deepEqual(results, what.startsWith('arguments') ? ['saw home'] : []);
      await coppice.close();
    });
});

describe('a model object that a program wrote by itself', () => {
  const end = { type: 'finish', finishReason: 'stop' };
  const text = { type: 'text-delta', id: '0', delta: 'said' };
  const opened = (doStream: () => unknown) =>
    openTest({ model: { specificationVersion: 'v4', provider: 'own', modelId: 'one', doStream } as never });
  const failureOf = async (doStream: () => unknown) => {
    const coppice = await opened(doStream);
    const agent = await coppice.start({ prompt: 'begin' });
    const { failure } = await agent.result();
    await coppice.close();
    return failure === null ? null : `${failure.kind}: ${failure.error}`;
  };

  it('has its own faults told as its own, at once', async () => {
    const missing = undefined as unknown as { x: number };
    assert.match(String(await failureOf(() => missing.x)), /^internal: the model object own\/one failed: /);
    assert.match(
      String(await failureOf(async () => Promise.reject(new RangeError('too far')))),
      /^internal: the model object own\/one failed: too far$/,
    );
    for (const answer of [undefined, {}, { stream: [text, end] }])
      assert.match(String(await failureOf(async () => answer)), /own\/one gave no stream: .*ReadableStream/);
    for (const part of [null, 7, {}])
      assert.match(
        String(await failureOf(async () => ({ stream: ReadableStream.from([part, text, end]) }))),
        /own\/one gave .* in its stream, which is no part/,
      );
  });

  it('cannot reach its server: that is no fault of the program', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const coppice = await opened(() => fetch(`http://127.0.0.1:${port}`));
    const { promise: told, resolve: tell } = Promise.withResolvers<string>();
    coppice.subscribe((event) => {
      if (event.type === 'delta' && event.delta.type === 'waiting') tell(event.delta.reason);
    });
    await coppice.start({ prompt: 'begin' });
    assert.match(await told, /cannot reach 127\.0\.0\.1 \(ECONNREFUSED\)/);
    await coppice.close();
  });

  it('may give parts of a kind that is not known', async () => {
    const parts = [{ type: 'of-tomorrow' }, { type: 'source', id: 's' }, text, end];
    assert.equal(await failureOf(async () => ({ stream: ReadableStream.from(parts) })), null);
  });
});
