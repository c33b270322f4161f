// Proves which provider streams count as complete, and that a call cut off by the output limit cannot run.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { AnswerCollector } from '../../src/models/provider/answer-collector.ts';
import type { Price } from '../../src/models/provider/provider-config.ts';

type Reason = Extract<LanguageModelV4StreamPart, { type: 'finish' }>['finishReason']['unified'];

const finish = (unified: Reason): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw: undefined },
  usage: {
    inputTokens: { total: 1000, noCache: 400, cacheRead: 600, cacheWrite: undefined },
    outputTokens: { total: 50, text: 30, reasoning: 20 },
  },
});
const toolCall = (input: string): LanguageModelV4StreamPart => ({
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'bash',
  input,
});

function collect(parts: readonly LanguageModelV4StreamPart[], price: Price | null = null) {
  const collector = new AnswerCollector('p/m', price, () => undefined);
  for (const part of parts) collector.add(part);
  return collector.answer();
}

it('only a known finish reason and no error part make an answer', () => {
  const text: LanguageModelV4StreamPart[] = [
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'hi' },
    { type: 'text-end', id: '1' },
  ];
  assert.equal(collect([...text, finish('stop')])?.finish, 'stop');
  assert.equal(collect([...text, finish('content-filter')])?.finish, 'refused');
  assert.equal(collect(text), null);
  assert.equal(collect([...text, finish('other')]), null);
  assert.equal(collect([...text, finish('error')]), null);
  assert.equal(collect([...text, { type: 'error', error: 'bad event' }, finish('stop')]), null);
});

it('a block whose id comes again is another one, and blocks of both kinds may have one id at the same time', () => {
  const parts: LanguageModelV4StreamPart[] = [
    { type: 'reasoning-start', id: '0' },
    { type: 'text-start', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'think' },
    { type: 'text-delta', id: '0', delta: 'one' },
    { type: 'reasoning-end', id: '0' },
    { type: 'text-delta', id: '0', delta: ' more' },
    { type: 'text-end', id: '0' },
    // Without a start, as some servers send it.
    { type: 'text-delta', id: '0', delta: 'two' },
    { type: 'text-end', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'again' },
    finish('stop'),
  ];
  assert.deepEqual(
    collect(parts)?.content.parts.map((part) => [part.type, 'text' in part ? part.text : '']),
    [
      ['reasoning', 'think'],
      ['text', 'one more'],
      ['text', 'two'],
      ['reasoning', 'again'],
    ],
  );
});

it('arguments that the output limit cut never parse, not even where nothing of them had arrived', () => {
  const cut = (input: string) => {
    const part = collect([toolCall(input), finish('length')])?.content.parts[0];
    assert.ok(part?.type === 'call');
    return part.input;
  };
  for (const input of ['', '{}', ' { } ', '{"command": "rm -r'])
    assert.throws(() => JSON.parse(cut(input)), SyntaxError);
  assert.equal(cut('{"command":"ls"}'), '{"command":"ls"}');
  const empty = collect([toolCall('{}'), finish('tool-calls')])?.content.parts[0];
  assert.ok(empty?.type === 'call' && empty.input === '{}', 'a call without arguments is whole otherwise');
});

it('cost follows the price: cached tokens at theirs, reasoning within output', () => {
  const usage = collect([finish('stop')], { input: 3, output: 15, cached: 0.3 })?.usage;
  assert.deepEqual(
    { ...usage, cost_usd: undefined },
    { input: 1000, output: 50, cached: 600, reasoning: 20, cost_usd: undefined },
  );
  assert.ok(Math.abs((usage?.cost_usd ?? 0) - (400 * 3 + 600 * 0.3 + 50 * 15) / 1e6) < 1e-12);
  assert.equal(collect([finish('stop')])?.usage.cost_usd, null);
});
