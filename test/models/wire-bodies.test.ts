// Proves that the requests that we write ourselves are byte for byte those that the provider packages would send.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { ModelRequest } from '../../src/models/model.ts';
import { callOptions } from '../../src/models/provider/call-options.ts';
import { breakpoints, ProviderPrompt } from '../../src/models/provider/provider-prompt.ts';
import type { AssistantPart, ProviderMetadata } from '../../src/records/conversation/message.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';
import { PACKAGES } from './packages.ts';
import { ask, open, PROTOCOLS } from './protocols.ts';

const MODELS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['claude-sonnet-4-5', 'claude-3-5-haiku-latest', 'claude-opus-4-7', 'unheard-of'],
  openai: ['gpt-5', 'gpt-4o', 'unheard-of'],
  'openai-compatible': ['any'],
};

/** The prompt for the provider package, with breakpoints as options of the messages. */
function prompted(id: string, request: ModelRequest): LanguageModelV4Message[] {
  const prompts = new ProviderPrompt(id);
  const plain = prompts.build('', request.messages);
  const fork_point = prompts.build('', request.messages.slice(0, request.shared_prefix)).length - 1;
  const marks = breakpoints(plain, fork_point);
  const marked = plain.map((message, index) =>
    marks.has(index)
      ? { ...message, providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }
      : message,
  );
  return [{ role: 'system', content: request.system }, ...marked] as LanguageModelV4Message[];
}

function packaged(type: string, model: string, request: ModelRequest) {
  return new Promise<{ body: string; headers: Headers }>((resolve, reject) => {
    const fetch = ((_: string, init: { body: string; headers: HeadersInit }) => {
      resolve({ body: init.body, headers: new Headers(init.headers) });
      return new Promise(() => undefined);
    }) as unknown as typeof globalThis.fetch;
    const opened = PACKAGES[type]?.({ baseURL: 'http://local/v1', fetch }, model);
    const options = { ...callOptions(request), prompt: prompted(`local/${model}`, request) };
    opened?.doStream(options).then(undefined, reject);
  });
}

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { media_type: 'image/png', base64: PNG } as const;
const user = (text: string): PromptMessage => ({ role: 'user', text });
const call = (id: string, input = '{"n": 1}', metadata?: ProviderMetadata): AssistantPart => ({
  type: 'call',
  id,
  name: 'fork',
  input,
  ...(metadata === undefined ? {} : { metadata }),
});
const thought = (text: string, metadata: ProviderMetadata): AssistantPart => ({
  type: 'reasoning',
  text,
  metadata,
});
const results = (...ids: string[]): PromptMessage => ({
  role: 'results',
  results: ids.map((call_id, index) => ({
    call_id,
    name: 'fork',
    status: index === 0 ? 'ok' : 'error',
    output: `of ${call_id} 世界 "quoted"\n`,
  })),
});

/** Histories as left by each provider's own models, and by other models. */
function histories(model: string): readonly (readonly PromptMessage[])[] {
  const says = (...parts: AssistantPart[]): PromptMessage => ({ role: 'assistant', model, parts });
  const sealed = (itemId: string, reasoningEncryptedContent: string | null) => ({
    openai: { itemId, reasoningEncryptedContent },
  });
  return [
    [user('hello')],
    [user('hello'), says({ type: 'text', text: 'hi \n' }), user('two'), user('three')],
    [
      user('hello'),
      says({ type: 'text', text: 'so' }, call('call_1'), call('call_2', '{')),
      results('call_1', 'call_2'),
    ],
    [
      { role: 'user', text: 'look', images: [image] },
      says(call('call_1')),
      {
        role: 'results',
        results: [{ call_id: 'call_1', name: 'fork', status: 'ok', output: ' ', images: [image, image] }],
      },
      user('and a letter'),
    ],
    [
      user('think'),
      says(
        thought('hm', { anthropic: { signature: 'signed' } }),
        thought('', { anthropic: { redactedData: 'hidden' } }),
        call('toolu_1'),
      ),
      results('toolu_1'),
    ],
    [
      user('think'),
      says(
        thought('one', sealed('rs_1', null)),
        thought('two', sealed('rs_1', 'sealed')),
        thought('', sealed('rs_2', 'sealed too')),
        thought('open', sealed('rs_3', null)),
        { type: 'text', text: 'first', metadata: { openai: { itemId: 'msg_1', phase: 'commentary' } } },
        call('call_1', '{}', { openai: { itemId: 'fc_1' } }),
      ),
      results('call_1'),
    ],
    [
      user('think'),
      says(
        thought('hm', {}),
        call('call_1', '{"deep":{"n":[1,2.5,null,"x"]}}', { local: { thoughtSignature: 'mine' } }),
        call('call_2', '', { google: { thoughtSignature: 'theirs' } }),
      ),
      results('call_1', 'call_2'),
      {
        ...says(thought('not mine', { anthropic: { signature: 's' } }), call('call_3')),
        model: 'other/m',
      } as PromptMessage,
      results('call_3'),
    ],
  ];
}

for (const protocol of PROTOCOLS.filter(({ type }) => type in PACKAGES)) {
  for (const model of MODELS[protocol.type] ?? []) {
    it(`${protocol.type}, ${model}: body and headers`, async (test) => {
      const { server, model: opened } = await open(
        { ...protocol, model } as typeof protocol,
        () => ({ text: 'fine' }),
        {
          attempts: 1,
        },
      );
      test.after(() => server.close());
      for (const messages of histories(`local/${model}`)) {
        for (const thinking of ['off', 'low', 'high'] as const) {
          for (const shared_prefix of [0, Math.min(2, messages.length - 1)]) {
            const request = ask({
              messages,
              thinking,
              shared_prefix,
              cache_key: 'tree',
              system: 'You say "x".',
            });
            await opened.stream(request, () => undefined);
            const sent = server.exchanges.at(-1);
            // Anthropic requests leave thinking off if the history has messages of another model.
            const foreign = messages.some((one) => one.role === 'assistant' && one.model === 'other/m');
            const asked =
              protocol.type === 'anthropic' && foreign ? { ...request, thinking: 'off' as const } : request;
            const expected = await packaged(protocol.type, model, asked);
            assert.equal(relabelled(sent?.raw ?? ''), relabelled(expected.body));
            for (const [name, value] of expected.headers) assert.equal(sent?.headers[name], value, name);
          }
        }
      }
    });
  }
}

it('a fork that made room in what it inherited sends what is left, and its relatives send all', async (test) => {
  for (const protocol of PROTOCOLS.filter(({ type }) => type in PACKAGES)) {
    const { server, model } = await open(protocol, () => ({ text: 'fine' }), { attempts: 1 });
    test.after(() => server.close());
    const [long, short, last, own] = ['a long result', 'left out', 'go on', 'mine'].map(user);
    const sent = async (...messages: (PromptMessage | undefined)[]) => {
      const request = ask({ messages: messages.filter((one) => one !== undefined), shared_prefix: 2 });
      await model.stream(request, () => undefined);
      return server.exchanges.at(-1)?.raw ?? '';
    };
    for (const first of [long, short, long]) {
      const body = await sent(first, last, own);
      assert.deepEqual(
        [body.includes('a long result'), body.includes('left out')],
        [first === long, first === short],
        protocol.type,
      );
    }
  }
});

/** Replaces call ids by their order: ids from other models are rewritten before either side sends them. */
function relabelled(body: string): string {
  const ids = new Map<string, string>();
  return body.replaceAll(/(?<="(?:id|call_id|tool_use_id|tool_call_id)":")[a-zA-Z0-9_-]+/g, (id) => {
    const known = ids.get(id) ?? `id ${ids.size}`;
    ids.set(id, known);
    return known;
  });
}
