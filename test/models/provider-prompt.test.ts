// Proves what providers receive of a conversation: no empty texts, few and stable cache breakpoints, private data only for the provider that it comes from.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { breakpoints, ProviderPrompt } from '../../src/models/provider/provider-prompt.ts';
import type { AssistantPart, CallPart } from '../../src/records/conversation/message.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';
import { ask, open, PROTOCOLS } from './protocols.ts';

const MODEL = 'p/m';
const call = (id: string): CallPart => ({ type: 'call', id, name: 'fork', input: '{}' });
const says = (...parts: AssistantPart[]): PromptMessage => ({ role: 'assistant', model: MODEL, parts });
const answers = (...ids: string[]): PromptMessage => ({
  role: 'results',
  results: ids.map((call_id) => ({ call_id, name: 'fork', status: 'ok', output: 'x' })),
});

/** Indexes of the messages that have breakpoints. */
function marked(messages: readonly PromptMessage[], shared_prefix: number): number[] {
  const prompt = new ProviderPrompt(MODEL).build('', messages);
  return [...breakpoints(prompt, shared_prefix - 1)].filter((index) => index >= 0).sort((a, b) => a - b);
}

const many = Array.from({ length: 100 }, (_, index) => `c${index}`);
const shared: PromptMessage[] = [
  { role: 'user', text: 'task' },
  says(call('a')),
  answers('a'),
  says(...many.map(call)),
  answers(...many),
];

it('breakpoints stand at the fork point and at the end, and where the requests before them ended', () => {
  const child: PromptMessage[] = [...shared, { role: 'user', text: 'you are one' }];
  // The results of a hundred forks put 200 blocks between the end of the parent's last request (2) and the fork point (4).
  assert.deepEqual(marked(child, 5), [2, 4, 5]);
  assert.deepEqual(marked([...child, says(call('z')), answers('z')], 5), [2, 4, 5, 7]);
  const later = [...child, says(call('y')), answers('y'), says(call('z')), answers('z')];
  assert.deepEqual(marked(later, 5), [2, 4, 7, 9], 'up to the fork point always the same, four at most');
  assert.deepEqual(marked([{ role: 'user', text: 'task' }], 0), [0]);
});

for (const protocol of PROTOCOLS) {
  it(`${protocol.type}: texts of nothing but spaces are not sent`, async () => {
    const { server, model } = await open(protocol, () => ({ text: 'fine' }));
    const blank: AssistantPart = { type: 'text', text: ' \n' };
    const messages: PromptMessage[] = [
      { role: 'user', text: 'hello' },
      { role: 'assistant', model: model.id, parts: [blank, call('c1')] },
      { role: 'results', results: [{ call_id: 'c1', name: 'fork', status: 'ok', output: '\n' }] },
      { role: 'assistant', model: model.id, parts: [blank] },
      { role: 'user', text: 'go on' },
    ];
    const outcome = await model.stream(ask({ messages }), () => undefined);
    assert.equal(server.exchanges[0]?.refused, null);
    assert.equal(outcome.type, 'answer');
    assert.equal(server.exchanges[0]?.raw.includes(String.raw` \n"`), false);
    await server.close();
  });
}

it('conversations are not kept by OpenAI, and sealed reasoning is asked for only from models that reason', async () => {
  const [, responses] = PROTOCOLS;
  for (const [model, include] of [
    ['gpt-5', ['reasoning.encrypted_content']],
    ['gpt-4o', undefined],
  ] as const) {
    const { server, model: opened } = await open({ ...responses, model } as typeof responses, () => ({
      text: 'ok',
    }));
    await opened.stream(ask(), () => undefined);
    assert.equal(server.exchanges[0]?.body.store, false);
    assert.deepEqual(server.exchanges[0]?.body.include, include);
    await server.close();
  }
});
