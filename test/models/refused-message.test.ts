// Proves that a provider's refusal is told with the message that it is about, where the provider says which, in each protocol's way of saying it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PromptMessage } from '../../src/core/prompt.ts';
import { ask, open, PROTOCOLS } from './protocols.ts';

const [anthropic, responses, chat, google] = PROTOCOLS;

const messages: readonly PromptMessage[] = [
  { role: 'user', text: 'look at this' },
  { role: 'assistant', model: 'x/y', parts: [{ type: 'call', id: 'c1', name: 'read', input: '{}' }] },
  { role: 'results', results: [{ call_id: 'c1', name: 'read', status: 'ok', output: 'a page' }] },
  { role: 'user', text: 'what does it say?' },
];

async function told(
  protocol: (typeof PROTOCOLS)[number],
  message: string,
  param: string | null = null,
  shared_prefix = 0,
): Promise<string> {
  const body =
    protocol === anthropic
      ? { type: 'error', error: { type: 'invalid_request_error', message } }
      : {
          error: {
            message,
            type: 'invalid_request_error',
            code: protocol === google ? 400 : null,
            status: 'X',
            param,
          },
        };
  const { server, model } = await open(protocol, () => ({ fault: { status: 400, body } }), { attempts: 1 });
  const outcome = await model.stream(ask({ messages, shared_prefix }), () => undefined);
  await server.close();
  assert.ok(outcome.type === 'failure' && outcome.failure.kind === 'bad_request', JSON.stringify(outcome));
  return /\(it is about (.*)\)$/.exec(outcome.failure.error)?.[1] ?? 'nothing';
}

it('Anthropic names messages and their blocks; neighbours are one message there', async () => {
  assert.equal(await told(anthropic, 'messages.1.content.0.tool_use.id: bad'), 'the call of read');
  assert.equal(await told(anthropic, 'messages.2.content.0.tool_result: bad'), 'the result of read');
  assert.equal(await told(anthropic, 'messages.2.content.1: bad'), 'the message "what does it say?"');
  assert.equal(await told(anthropic, 'messages.0: bad'), 'the message "look at this"');
});

it('OpenAI names items, in the message or beside it; Responses and Chat Completions', async () => {
  assert.equal(await told(responses, "Invalid 'input[2].call_id': too long"), 'the call of read');
  assert.equal(await told(responses, 'bad', 'input[3].output'), 'the result of read');
  assert.equal(await told(chat, "Invalid 'messages[2].tool_calls[0].id'"), 'the call of read');
  assert.equal(await told(chat, 'bad', 'messages[3]'), 'the result of read');
});

it('also where the shared beginning was spliced in', async () => {
  assert.equal(await told(responses, 'bad', 'input[4]', 3), 'the message "what does it say?"');
  assert.equal(await told(chat, 'bad', 'messages[1]', 3), 'the message "look at this"');
});

it('Google names contents and parts', async () => {
  const place = 'GenerateContentRequest.contents[1].parts[0].function_call.name: bad';
  assert.equal(await told(google, place), 'the call of read');
  assert.equal(
    await told(google, '* GenerateContentRequest.contents[2].parts[0]: bad'),
    'the result of read',
  );
});

it('a place that is not there, or none, is no message', async () => {
  for (const message of ['messages.99: bad', 'bad', 'messages.one: bad', 'input[0]: of another protocol'])
    assert.equal(await told(anthropic, message), 'nothing');
});
