// Proves that splicing a shared prefix sends the same bytes as sending it whole, serialises it once, and never lets a mark out.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PromptMessage } from '../../src/core/prompt.ts';
import { CHAT_USER, PrefixSplice } from '../../src/models/prefix-splice.ts';
import { ask, open, PROTOCOLS } from './protocols.ts';

const shared: PromptMessage[] = [
  { role: 'user', text: 'task with "quotes", 漢字 and \\ slashes' },
  {
    role: 'assistant',
    model: 'm',
    parts: [
      { type: 'text', text: 'forking' },
      { type: 'call', id: 'call_1', name: 'fork', input: '{"n":1}' },
    ],
  },
  { role: 'results', results: [{ call_id: 'call_1', name: 'fork', status: 'ok', output: 'placeholder' }] },
];
const own = (text: string): PromptMessage[] => [...shared, { role: 'user', text }];

for (const protocol of PROTOCOLS.filter((one) => one.type === 'openai' || one.type === 'openai-compatible')) {
  it(`${protocol.type}: the second sibling's spliced request is byte for byte the whole one`, async () => {
    const spliced = await open(protocol, () => ({ text: 'ok' }));
    await spliced.model.stream(ask({ messages: own('first'), shared_prefix: 3 }), () => undefined);
    await spliced.model.stream(ask({ messages: own('second'), shared_prefix: 3 }), () => undefined);
    const whole = await open(protocol, () => ({ text: 'ok' }));
    await whole.model.stream(ask({ messages: own('second'), shared_prefix: 0 }), () => undefined);
    const [first, second] = spliced.server.exchanges.map((exchange) => exchange.raw);
    assert.equal(second, whole.server.exchanges[0]?.raw);
    assert.equal(first?.replace('first', 'second'), second);
    assert.equal(second?.includes('coppice-prefix'), false);
    await spliced.server.close();
    await whole.server.close();
  });
}

it('keeps the bytes of the prefix and needs the messages only once', () => {
  const splice = new PrefixSplice(CHAT_USER);
  const write = (messages: readonly PromptMessage[] | null) =>
    `{"messages":[${(messages ?? []).map((message) => CHAT_USER(message.role === 'user' ? message.text : message.role)).join(',')}]}`;
  const first = splice.marked(own('a'), 3);
  const joined = splice.splice(write(first))?.join('');
  assert.equal(joined, write(own('a')));
  const second = splice.marked(own('b'), 3);
  assert.equal(second?.length, 2);
  assert.equal(splice.splice(write(second))?.join(''), write(own('b')));
});

it('a mark in a shape that was not expected is refused, not sent', () => {
  const splice = new PrefixSplice((text) => `<${text}>`);
  const marked = splice.marked(own('a'), 3) as PromptMessage[];
  assert.equal(splice.splice(JSON.stringify(marked)), null);
  assert.deepEqual(splice.splice('{"no":"mark"}'), ['{"no":"mark"}']);
  assert.equal(splice.marked(own('a'), 0), null);
});
