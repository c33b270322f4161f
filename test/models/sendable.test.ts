// Proves that histories which providers would refuse are sent in a form that they accept: reasoning without an answer, ids and names of other providers,
// repeated ids; and that all agents that share a history send the same bytes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ModelOutcome } from '../../src/models/model.ts';
import type { AssistantPart, CallPart } from '../../src/records/conversation/message.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';
import type { Answer } from '../servers/brain.ts';
import { ask, open, PROTOCOLS } from './protocols.ts';

const OTHER = 'other/model';

function call(id: string, name = 'fork'): CallPart {
  return { type: 'call', id, name, input: '{}' };
}

function says(model: string, ...parts: AssistantPart[]): PromptMessage {
  return { role: 'assistant', model, parts };
}

function answers(...calls: readonly CallPart[]): PromptMessage {
  return {
    role: 'results',
    results: calls.map(({ id, name }) => ({ call_id: id, name, status: 'ok', output: `of ${id}` })),
  };
}

const user = (text: string): PromptMessage => ({ role: 'user', text });

function round(model: string, ...calls: readonly CallPart[]): PromptMessage[] {
  return [says(model, ...calls), answers(...calls)];
}

function contentOf(outcome: ModelOutcome) {
  assert.equal(outcome.type, 'answer', JSON.stringify(outcome));
  return (outcome as Extract<ModelOutcome, { type: 'answer' }>).content;
}

for (const protocol of PROTOCOLS) {
  describe(`what ${protocol.type} takes`, () => {
    async function taken(messages: (model: string) => readonly PromptMessage[], shared_prefix = 0) {
      const { server, model } = await open(protocol, () => ({ text: 'fine' }), { attempts: 1 });
      const outcome = await model.stream(
        ask({ messages: messages(model.id), shared_prefix }),
        () => undefined,
      );
      await server.close();
      const [exchange] = server.exchanges;
      assert.equal(exchange?.refused, null);
      assert.equal(outcome.type, 'answer');
      return exchange;
    }

    it('its own reasoning comes back with what it led to, and not without', async () => {
      const lines: Answer[] = [
        { reasoning: 'thinking', calls: [{ name: 'fork', input: { n: 1 } }] },
        { reasoning: 'thinking again' },
        { reasoning: 'and cut', finish: 'length' },
        { text: 'fine' },
      ];
      const { server, model } = await open(protocol, (exchange) => lines[exchange.index] as Answer, {
        attempts: 1,
      });
      const messages: PromptMessage[] = [user('hello')];
      for (let turn = 0; turn < lines.length; turn += 1) {
        const { parts } = contentOf(
          await model.stream(ask({ messages: [...messages], thinking: 'high' }), () => undefined),
        );
        messages.push({ role: 'assistant', model: model.id, parts });
        const calls = parts.filter((part): part is CallPart => part.type === 'call');
        messages.push(calls.length > 0 ? answers(...calls) : user('go on'));
      }
      assert.deepEqual(
        server.exchanges.map(({ refused }) => refused),
        lines.map(() => null),
      );
      assert.match(server.exchanges.at(-1)?.raw ?? '', /thinking"|sealed|thought/, 'the first is there');
      assert.doesNotMatch(server.exchanges.at(-1)?.raw ?? '', /thinking again|and cut/);
      await server.close();
    });

    it('reasoning before a text of nothing but spaces, and a conversation that begins with it', async () => {
      await taken((model) => [
        user('hello'),
        says(model, { type: 'reasoning', text: 'hm' }, { type: 'text', text: ' \n' }),
        user('go on'),
        says(model, { type: 'text', text: 'so' }, { type: 'reasoning', text: 'left over' }),
        user('go on'),
      ]);
    });

    it('ids of other servers, in any form and length, each with its result', async () => {
      const ids = ['functions.fork:2', 'call 漢/字', '', 'x'.repeat(300), 'functions.fork:2 '];
      const exchange = await taken((_) => [
        user('hello'),
        ...round(OTHER, ...ids.map((id) => call(id))),
        user('go on'),
      ]);
      const seen = exchange?.messages.flatMap((message) => message.results.map(({ output }) => output));
      assert.deepEqual(
        seen,
        ids.map((id) => `of ${id}`),
      );
    });

    it('ids that come again, of its own and of others, in the prefix and after it', async () => {
      await taken(
        (model) => [
          user('hello'),
          ...round(model, call('call_0'), call('call_1')),
          ...round(model, call('call_0')),
          ...round(OTHER, call('call_0')),
          user('you are a fork'),
          ...round(model, call('call_0'), call('functions.fork:0')),
          ...round(OTHER, call('functions.fork:0')),
          user('go on'),
        ],
        6,
      );
    });

    it('names of calls that are no names', async () => {
      for (const name of ['functions.fork', 'a b', '', '漢', 'n'.repeat(200), '9lives'])
        await taken((model) => [user('hello'), ...round(model, call('c', name)), user('go on')]);
    });

    it('shared beginnings are the same bytes, whatever the relatives do after them, now and later', async () => {
      const { server, model } = await open(protocol, () => ({ text: 'fine' }));
      const shared = [
        user('hello'),
        ...round(OTHER, call('functions.fork:0'), call('again')),
        ...round(model.id, call('again')),
      ];
      const tails = [
        [user('you are one')],
        [user('you are two'), ...round(model.id, call('again'))],
        [user('you are two'), ...round(model.id, call('again')), ...round(model.id, call('again'))],
      ];
      for (const tail of tails)
        await model.stream(
          ask({ messages: [...shared, ...tail], shared_prefix: shared.length }),
          () => undefined,
        );
      const starts = server.exchanges.map(({ raw }) => raw.slice(0, raw.indexOf('you are')));
      assert.equal(new Set(starts).size, 1);
      const [, two, three] = server.exchanges.map(({ messages }) =>
        messages.flatMap((message) => message.calls.map(({ id }) => id)),
      );
      assert.deepEqual(three?.slice(0, two?.length), two, 'what was sent once is sent the same again');
      await server.close();
    });
  });
}

it('a parent on a compatible server, a child on Claude that thinks: the first request of the child is taken, and its own loop', async () => {
  const [anthropic] = PROTOCOLS;
  const { server, model } = await open(
    anthropic,
    ({ index }) =>
      index === 0 ? { reasoning: 'hm', calls: [{ name: 'fork', input: { n: 1 } }] } : { text: 'fine' },
    { attempts: 1 },
  );
  const messages: PromptMessage[] = [
    user('hello'),
    ...round(OTHER, call('functions.fork:2')),
    user('you are b'),
  ];
  const { parts } = contentOf(await model.stream(ask({ messages, thinking: 'high' }), () => undefined));
  const [own] = parts.filter((part): part is CallPart => part.type === 'call');
  assert.ok(own);
  const more = [...messages, says(model.id, ...parts), answers(own)];
  contentOf(await model.stream(ask({ messages: more, thinking: 'high' }), () => undefined));
  await server.close();
});

it('a tree that changes its model in the middle of calls: Claude is not asked to think about calls of another', async () => {
  const [anthropic] = PROTOCOLS;
  const { server, model } = await open(anthropic, () => ({ text: 'fine' }), { attempts: 1 });
  const messages = [user('hello'), ...round(OTHER, call('functions.fork:2'))];
  contentOf(await model.stream(ask({ messages, thinking: 'high' }), () => undefined));
  assert.equal(server.exchanges[0]?.refused, null);
  await server.close();
});
