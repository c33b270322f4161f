// Proves that a provider's refusal is reported with the message that it concerns, if the provider names it, in each protocol's format.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';
import { ask, open, PROTOCOLS } from './protocols.ts';

const [anthropic, responses, chat, google] = PROTOCOLS;

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

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
  return (await refusal(protocol, message, param, shared_prefix)).about;
}

async function refusal(
  protocol: (typeof PROTOCOLS)[number],
  message: string,
  param: string | null = null,
  shared_prefix = 0,
  asked = messages,
): Promise<{ readonly about: string; readonly behind: number | undefined }> {
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
  const outcome = await model.stream(ask({ messages: asked, shared_prefix }), () => undefined);
  await server.close();
  assert.ok(outcome.type === 'failure' && outcome.failure.kind === 'bad_request', JSON.stringify(outcome));
  const about = /\(it is about (.*)\)$/.exec(outcome.failure.error)?.[1] ?? 'nothing';
  return { about, behind: outcome.failure.behind_refused };
}

it('Anthropic names messages and their blocks; neighbours are one message there', async () => {
  assert.equal(await told(anthropic, 'messages.1.content.0.tool_use.id: bad'), 'the calls of read');
  assert.equal(await told(anthropic, 'messages.2.content.0.tool_result: bad'), 'what read returned');
  assert.equal(await told(anthropic, 'messages.2.content.1: bad'), 'the message "what does it say?"');
  assert.equal(await told(anthropic, 'messages.0: bad'), 'the message "look at this"');
});

it('OpenAI names items, in the message or beside it; Responses and Chat Completions', async () => {
  assert.equal(await told(responses, "Invalid 'input[2].call_id': too long"), 'the calls of read');
  assert.equal(await told(responses, 'bad', 'input[3].output'), 'what read returned');
  assert.equal(await told(chat, "Invalid 'messages[2].tool_calls[0].id'"), 'the calls of read');
  assert.equal(await told(chat, 'bad', 'messages[3]'), 'what read returned');
});

it('also where the shared beginning was spliced in', async () => {
  assert.equal(await told(responses, 'bad', 'input[4]', 3), 'the message "what does it say?"');
  assert.equal(await told(chat, 'bad', 'messages[1]', 3), 'the message "look at this"');
});

it('Google names contents and parts', async () => {
  const place = 'GenerateContentRequest.contents[1].parts[0].function_call.name: bad';
  assert.equal(await told(google, place), 'the calls of read');
  assert.equal(
    await told(google, '* GenerateContentRequest.contents[2].parts[0]: bad'),
    'what read returned',
  );
});

it('a place that is not there, or none, is no message', async () => {
  for (const message of ['messages.99: bad', 'bad', 'messages.one: bad', 'input[0]: of another protocol'])
    assert.equal(await told(anthropic, message), 'nothing');
});

it('the place among the messages of the request is made out, in each protocol', async () => {
  const at = async (protocol: (typeof PROTOCOLS)[number], place: string, shared = 0) =>
    (await refusal(protocol, `Invalid '${place}': bad`, null, shared)).behind;
  const places = [
    [
      anthropic,
      ['messages.0.content.0', 'messages.1.content.0', 'messages.2.content.0', 'messages.2.content.1'],
    ],
    [responses, ['input[1]', 'input[2]', 'input[3]', 'input[4]']],
    [chat, ['messages[1]', 'messages[2].tool_calls[0]', 'messages[3]', 'messages[4]']],
    [google, ['contents[0].parts[0]', 'contents[1]', 'contents[2].parts[0]', 'contents[3].parts[0]']],
  ] as const;
  for (const [protocol, four] of places)
    for (const [index, place] of four.entries())
      assert.equal(await at(protocol, place), 3 - index, `${protocol.type} ${place}`);
  assert.equal(await at(chat, 'messages[3]', 3), 1, 'behind a beginning that was spliced in');
  assert.equal(await at(chat, 'messages[99]'), undefined);
  assert.equal(
    await at(chat, 'messages[0]'),
    undefined,
    'the system prompt is no message of the conversation',
  );
});

it('one of several calls and texts that look alike, and a picture, which belongs to the result that brought it', async () => {
  const again = messages.concat(
    { role: 'assistant', model: 'x/y', parts: [{ type: 'call', id: 'c2', name: 'read', input: '{}' }] },
    {
      role: 'results',
      results: [
        {
          call_id: 'c2',
          name: 'read',
          status: 'ok',
          output: 'a page',
          images: [{ media_type: 'image/png', base64: PIXEL }],
        },
      ],
    },
    { role: 'user', text: 'look at this' },
  );
  const at = async (place: string) => (await refusal(anthropic, `${place}: bad`, null, 0, again)).behind;
  assert.equal(await at('messages.0.content.0'), 6);
  assert.equal(await at('messages.4.content.0'), 1);
  assert.equal(await at('messages.4.content.2.image.source.base64'), 1);
  assert.equal(await at('messages.4.content.3'), 0);
});
