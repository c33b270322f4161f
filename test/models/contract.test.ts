// Proves that every provider protocol, and every model object of the AI SDK, keeps the Model contract, against servers that speak and check it, with complete and with broken answers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ModelDelta, ModelOutcome } from '../../src/models/model.ts';
import type { CallPart } from '../../src/records/conversation/message.ts';
import { FORK_PLACEHOLDER } from '../../src/records/conversation/prompt.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';
import type { Answer } from '../servers/brain.ts';
import { atOnce } from './at-once.ts';
import { ask, KEY, open, openSdk, PROTOCOLS } from './protocols.ts';

type Answered = Extract<ModelOutcome, { type: 'answer' }>;
const ANSWER: Answer = {
  text: 'Hello, 世界 🎋!',
  calls: [
    { name: 'fork', input: { n: 1 } },
    { name: 'fork', input: { n: 2 } },
  ],
  usage: { input: 100, output: 20, cached: 60 },
};

function answered(outcome: ModelOutcome): Answered {
  assert.equal(outcome.type, 'answer', JSON.stringify(outcome));
  return outcome as Answered;
}

function calls(outcome: Answered): CallPart[] {
  return outcome.content.parts.filter((part): part is CallPart => part.type === 'call');
}

/** Results message that answers all calls the same way. */
function results(outcome: Answered, status: 'ok' | 'error', output: string): PromptMessage {
  const all = calls(outcome).map(({ id, name }) => ({ call_id: id, name, status, output }));
  return { role: 'results', results: all };
}

/** Returns the text that a watcher ends up with: the deltas since the last restart. */
function shown(deltas: readonly ModelDelta[]): string {
  return deltas
    .slice(deltas.findLastIndex((delta) => delta.type === 'restart') + 1)
    .flatMap((delta) => (delta.type === 'text' ? [delta.text] : []))
    .join('');
}

const [ANTHROPIC, OPENAI] = PROTOCOLS;
const sdk6: typeof open = (protocol, answer, options) => openSdk(protocol, answer, options, 'v3');
const ADAPTERS = [
  ...PROTOCOLS.map((protocol) => ({ name: protocol.type as string, protocol, open, is_sdk: false })),
  { name: 'an object of the AI SDK', protocol: OPENAI, open: openSdk, is_sdk: true },
  { name: 'an object of the AI SDK 6', protocol: ANTHROPIC, open: sdk6, is_sdk: true },
];

for (const { name, protocol, open, is_sdk } of ADAPTERS) {
  describe(`model contract: ${name}`, () => {
    it('streams text, several calls, and usage with cached tokens', async () => {
      const { server, model } = await open(protocol, () => ANSWER);
      const deltas: ModelDelta[] = [];
      const outcome = answered(await model.stream(ask(), (delta) => deltas.push(delta)));
      assert.deepEqual(
        outcome.content.parts.filter((part) => part.type === 'text').map((part) => part.text),
        ['Hello, 世界 🎋!'],
      );
      assert.equal(shown(deltas), 'Hello, 世界 🎋!');
      assert.deepEqual(
        calls(outcome).map((call) => [call.name, JSON.parse(call.input)]),
        [
          ['fork', { n: 1 }],
          ['fork', { n: 2 }],
        ],
      );
      assert.equal(new Set(calls(outcome).map((call) => call.id)).size, 2);
      const { cost_usd, ...tokens } = outcome.usage;
      assert.deepEqual(tokens, { input: 100, output: 20, cached: 60, reasoning: 0 });
      assert.equal(cost_usd === null, protocol.type === 'openai-compatible', 'list prices');
      assert.equal(outcome.finish, 'calls');
      assert.equal(server.exchanges[0]?.system, 'You are a test.');
      await server.close();
    });

    it('says of an answer that it was cut, declined or blocked, in the words of the provider where it has any', async () => {
      for (const finish of ['length', 'refused', 'blocked'] as const) {
        const { server, model } = await open(protocol, () => ({ text: 'Well', finish }));
        const outcome = answered(await model.stream(ask(), () => undefined));
        assert.equal(outcome.finish, finish === 'length' ? 'length' : 'refused');
        if (finish === 'blocked') assert.match(outcome.reason ?? '', /filter|refusal|PROHIBITED_CONTENT/);
        await server.close();
      }
    });

    it('asks for reasoning only when it is wanted, and carries it back so that the server accepts it', async () => {
      const { server, model } = await open(protocol, () => ({ ...ANSWER, reasoning: 'let me think' }));
      const first = answered(await model.stream(ask({ thinking: 'high' }), () => undefined));
      assert.ok(
        first.content.parts.some((part) => part.type === 'reasoning' && part.text === 'let me think'),
      );
      const messages: PromptMessage[] = [
        { role: 'user', text: 'hello' },
        { role: 'assistant', model: first.content.model, parts: first.content.parts },
        results(first, 'ok', ''),
      ];
      answered(await model.stream(ask({ thinking: 'high', messages }), () => undefined));
      const foreign = messages.map((message) =>
        message.role === 'assistant' ? { ...message, model: 'other/model' } : message,
      );
      answered(await model.stream(ask({ messages: foreign }), () => undefined));
      const [asked, , other] = server.exchanges;
      assert.match(
        asked?.raw ?? '',
        /"(reasoning_effort|effort|thinking|thinkingConfig|budget_tokens|reasoning)":/,
      );
      assert.equal(
        /let me think|signed|sealed/.test(other?.raw ?? ''),
        false,
        'reasoning of another model is left out',
      );
      assert.equal(/"(reasoning_effort|effort|thinking|thinkingConfig)":/.test(other?.raw ?? ''), false);
      await server.close();
    });

    it('accepts the transcripts that forks produce, and all siblings send one byte-identical prefix', async () => {
      const { server, model } = await open(protocol, () => ANSWER);
      const parent = answered(await model.stream(ask(), () => undefined));
      const shared: PromptMessage[] = [
        { role: 'user', text: 'hello' },
        { role: 'assistant', model: parent.content.model, parts: parent.content.parts },
        results(parent, 'ok', FORK_PLACEHOLDER),
      ];
      for (const name of ['one', 'two', 'three']) {
        const messages: PromptMessage[] = [...shared, { role: 'user', text: `MARK you are ${name}` }];
        const child = answered(await model.stream(ask({ messages, shared_prefix: 3 }), () => undefined));
        const more: PromptMessage[] = [
          ...messages,
          { role: 'assistant', model: child.content.model, parts: child.content.parts },
          results(child, 'error', 'no'),
          { role: 'user', text: 'a letter' },
        ];
        answered(await model.stream(ask({ messages: more, shared_prefix: 3 }), () => undefined));
      }
      assert.deepEqual(
        server.exchanges.map((exchange) => exchange.refused),
        Array(7).fill(null),
      );
      const prefixes = server.exchanges.slice(1).map(({ raw }) => raw.slice(0, raw.indexOf('MARK')));
      assert.ok((prefixes[0]?.length ?? 0) > 200);
      assert.equal(new Set(prefixes).size, 1);
      await server.close();
    });

    it('arguments that are nested as deep as a program can write poison no conversation', async () => {
      const deep = `{"n":${'['.repeat(3_000)}${']'.repeat(3_000)}}`;
      const { server, model } = await open(protocol, ({ messages }) =>
        messages.length === 1 ? { calls: [{ name: 'fork', input: deep }] } : { text: 'fine' },
      );
      const first = answered(await model.stream(ask(), () => undefined));
      const messages: PromptMessage[] = [
        { role: 'user', text: 'hello' },
        { role: 'assistant', model: model.id, parts: first.content.parts },
        results(first, 'error', 'no'),
      ];
      const second = answered(await model.stream(ask({ messages }), () => undefined));
      assert.equal(second.finish, 'stop');
      assert.match(server.exchanges[1]?.raw ?? '', /invalid_arguments/);
      const read = { name: 'fork', input: '{"as":"it was read"}', changes: [] };
      const parts = first.content.parts.map((part) => (part.type === 'call' ? { ...part, read } : part));
      const read_messages = messages.with(1, { role: 'assistant', model: model.id, parts });
      await model.stream(ask({ messages: read_messages }), () => undefined);
      assert.match(server.exchanges[2]?.raw ?? '', /it was read/);
      await server.close();
    });

    it('a fault in the program that asks is told as one, at once', async () => {
      const { server, model } = await open(protocol, () => ANSWER);
      const input = {};
      Object.assign(input, { properties: { self: input }, type: 'object' });
      const outcome = await model.stream(
        ask({ tools: [{ name: 'circle', description: 'x', input }] }),
        () => undefined,
      );
      assert.ok(outcome.type === 'failure' && outcome.failure.kind === 'internal', JSON.stringify(outcome));
      assert.equal(server.exchanges.length, 0);
      await server.close();
    });

    it('a conversation with invalid arguments, empty texts and pictures is still sendable', async () => {
      const { server, model } = await open(protocol, () => ({ text: 'fine' }));
      const call = (id: string, input: string): CallPart => ({ type: 'call', id, name: 'fork', input });
      const base64 =
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
      const picture = { media_type: 'image/png', base64 };
      const messages: PromptMessage[] = [
        { role: 'user', text: ' ' },
        {
          role: 'assistant',
          model: model.id,
          parts: [
            { type: 'text', text: '' },
            call('call_1', '{"n": '),
            call('call_2', '[1]'),
            call('call_3', ''),
          ],
        },
        {
          role: 'results',
          results: ['call_1', 'call_2', 'call_3'].map((call_id) => ({
            call_id,
            name: 'fork',
            status: 'error',
            output: '',
            images: [picture],
          })),
        },
      ];
      answered(await model.stream(ask({ messages }), () => undefined));
      assert.equal(server.exchanges[0]?.refused, null);
      await server.close();
    });

    it('a stream cut at any event is asked again: one whole answer, no doubled text, no call of a broken stream', async () => {
      const faultless = await open(protocol, () => ANSWER);
      answered(await faultless.model.stream(ask(), () => undefined));
      await faultless.server.close();
      let events = 0;
      for (let cut_after = 0; cut_after < 12; cut_after += 1) {
        let requests = 0;
        const { server, model } = await open(protocol, () => {
          requests += 1;
          return requests === 1 ? { ...ANSWER, fault: { cut_after } } : ANSWER;
        });
        const deltas: ModelDelta[] = [];
        const outcome = answered(await model.stream(ask(), (delta) => deltas.push(delta)));
        assert.equal(calls(outcome).length, 2);
        assert.equal(shown(deltas), ANSWER.text);
        events += requests - 1;
        await server.close();
      }
      assert.ok(events >= 6, `the cut must break streams: ${events}`);
    });

    it('a malformed event breaks the stream, wherever it comes', async () => {
      for (const malformed_at of [0, 2, 4]) {
        let requests = 0;
        const { server, model } = await open(protocol, () => {
          requests += 1;
          return requests === 1 ? { ...ANSWER, fault: { malformed_at } } : ANSWER;
        });
        const outcome = answered(await model.stream(ask(), () => undefined));
        assert.equal(calls(outcome).length, 2);
        assert.equal(requests, 2);
        await server.close();
      }
    });

    it('silence in the middle of a stream is broken off and asked again', async () => {
      let requests = 0;
      const { server, model } = await open(
        protocol,
        () => {
          requests += 1;
          return requests === 1 ? { ...ANSWER, fault: { stall_after: 2 } } : ANSWER;
        },
        // Long enough for a complete answer on a loaded machine.
        { idle_ms: 1_000 },
      );
      assert.equal(calls(answered(await model.stream(ask(), () => undefined))).length, 2);
      assert.equal(requests, 2);
      await server.close();
    });

    it('429 with Retry-After, 500 and overload are tried again; what stays broken is a typed failure without the key', async () => {
      const faults = [
        { status: 429, headers: { 'retry-after': '0' } },
        { status: protocol.type === 'anthropic' ? 529 : 503 },
        null,
      ] as const;
      let requests = 0;
      const mended = await open(protocol, () => {
        const fault = faults[requests];
        requests += 1;
        return fault ? { fault } : ANSWER;
      });
      answered(await mended.model.stream(ask(), () => undefined));
      assert.equal(requests, 3);
      await mended.server.close();
      for (const [status, kind, tries] of [
        [429, 'rate_limit', 3],
        [500, 'overloaded', 3],
        [401, 'auth', 1],
        [400, 'bad_request', 1],
      ] as const) {
        const { server, model } = await open(protocol, () => ({
          fault: { status, message: `no, ${KEY} is wrong` },
        }));
        const outcome = await model.stream(ask(), () => undefined);
        assert.ok(outcome.type === 'failure');
        assert.equal(outcome.failure.kind, kind);
        assert.equal(server.exchanges.length, tries);
        assert.equal(JSON.stringify(outcome).includes(KEY), false);
        await server.close();
      }
    });

    it('an overlong conversation is told apart', async () => {
      const { server, model } = await open(protocol, () => ({
        fault: { status: 400, message: 'prompt is too long: 250000 tokens > 200000 maximum' },
      }));
      const outcome = await model.stream(ask(), () => undefined);
      assert.ok(outcome.type === 'failure' && outcome.failure.kind === 'context_overflow');
      await server.close();
    });

    it('an abort ends the request at once, in the middle of a stream and before it', async () => {
      const { server, model } = await open(protocol, () => ({ ...ANSWER, fault: { stall_after: 3 } }), {
        idle_ms: 60_000,
      });
      for (const delay of [0, 80]) {
        const controller = new AbortController();
        const pending = model.stream(ask({ signal: controller.signal }), () => undefined);
        await new Promise((resolve) => setTimeout(resolve, delay));
        controller.abort();
        assert.equal((await atOnce(pending)).type, 'aborted');
      }
      await server.close();
    });

    it('a connection that fails, breaks or falls silent is told with the address that it led to', async () => {
      for (const [fault, said] of [
        [{ cut_after: 2 }, /^the connection broke off in the middle of the answer/],
        [{ stall_after: 2 }, /^no answer from 127\.0\.0\.1:\d+ within 0 s/],
        [null, /^cannot reach 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/],
      ] as const) {
        const { server, model } = await open(
          protocol,
          () => ({ ...ANSWER, ...(fault === null ? {} : { fault }) }),
          {
            attempts: 1,
            idle_ms: fault !== null && 'stall_after' in fault ? 150 : 60_000,
          },
        );
        if (fault === null) await server.close();
        const outcome = await model.stream(ask(), () => undefined);
        assert.ok(outcome.type === 'failure' && outcome.failure.retryable, JSON.stringify(outcome));
        assert.equal(outcome.failure.kind, 'network');
        // The address of an object is not known before it has failed.
        const place = is_sdk ? `${model.id} within` : /(?!)/;
        assert.match(outcome.failure.error.replace(place, '127.0.0.1:1 within'), said);
        await server.close();
      }
    });
  });
}
