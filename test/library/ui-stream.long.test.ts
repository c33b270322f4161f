/**
 * Proves what the library gives `useChat` of the AI SDK (docs/library.md#chats-of-the-ai-sdk), read by the reader of the SDK itself: text and reasoning as they
 * come, calls with their results, the agents of the tree, answers that break off, ends of every kind; and that the messages of a chat come once, survive the
 * process, and reach no other tree.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import * as sdk from 'ai';
import {
  type Chat,
  type CoppiceOptions,
  createScriptedModel,
  defineTool,
  type Model,
  openCoppice,
  type UIAgent,
  type UIMessageChunk,
} from '../../src/coppice.ts';
import { closeLater, closeOpened } from '../close-opened.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

after(closeOpened);

const RED_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const RULES = [
  { when: { agent: 'oak' }, say: 'Oaks have lobed leaves.' },
  {
    when: { root: true, step: 0, user: 'trees' },
    calls: [{ name: 'fork', input: { name: 'oak', prompt: 'What of oaks?' } }],
  },
  {
    ...{ when: { root: true, user: 'ask it' }, once: true },
    calls: [{ name: 'send', input: { to: 'oak', message: 'And acorns?' } }],
  },
  { when: { root: true, user: 'trees' }, say: 'A child looks at oaks.' },
  { when: { root: true, user: 'lobed' }, say: 'They are lobed.' },
  {
    when: { user: 'ring', step: 0 },
    say: 'I ring.',
    calls: [
      { name: 'ring', input: { bell: 'big' } },
      { name: 'ring', input: { bell: 'none' } },
    ],
  },
  { when: { user: 'ring' }, say: 'It rang.' },
  { when: { user: 'hang' }, delay_ms: 600_000, say: 'late' },
  { say: 'You said: {{user}}' },
];

const ring = defineTool<{ bell: string }>({
  ...{ name: 'ring', description: 'x', input: { type: 'object', properties: { bell: { type: 'string' } } } },
  run: ({ bell }) => {
    if (bell === 'none') throw new Error('no such bell');
    return `${bell} rang`;
  },
});

const USAGE = { input: 0, output: 0, cached: 0, reasoning: 0, cost_usd: 0.25 };
const gate = { open: () => {} };

/** Thinks, speaks, breaks off once the test has read that, and begins again. Fails where it is told to. */
const breaking: Model = {
  ...{ id: 'breaking', context_window: null, tells_cost: true },
  async stream({ messages }, onDelta) {
    if (JSON.stringify(messages.at(-1)).includes('fail'))
      return { type: 'failure', failure: { kind: 'bad_request', error: 'no such thing', retryable: false } };
    onDelta({ type: 'reasoning', text: 'Hm.' });
    onDelta({ type: 'text', text: 'Half an ' });
    await new Promise<void>((resolve) => {
      gate.open = resolve;
    });
    onDelta({ type: 'restart', reason: 'the stream broke' });
    onDelta({ type: 'reasoning', text: 'Hm again.' });
    onDelta({ type: 'text', text: 'A whole ' });
    onDelta({ type: 'text', text: 'answer.' });
    const parts = [
      { type: 'reasoning' as const, text: 'Hm again.' },
      { type: 'text' as const, text: 'A whole answer.' },
    ];
    return { type: 'answer', content: { model: 'breaking', parts }, usage: USAGE, finish: 'stop' };
  },
};

async function opened(
  database = `sqlite:${join(temporaryFolder(), 'ledger.db')}`,
  more: Partial<CoppiceOptions> = {},
) {
  const scripted = createScriptedModel({ rules: RULES as never }, 'chats');
  const coppice = await openCoppice({
    ...{ database, model: 'scripted', models: { scripted, breaking }, tools: [ring], builtInTools: [] },
    ...more,
  });
  closeLater(() => coppice.close());
  return { coppice, database };
}

let count = 0;
const says = (text: string, id = `m${++count}`, ...files: object[]) => ({
  ...{ id, role: 'user' },
  parts: [...(text === '' ? [] : [{ type: 'text', text }]), ...files],
});

/** All chunks, each of which the SDK's own schema takes, and the message that its reader makes of them. */
async function read(chat: Pick<Chat, 'toUIMessageStream'>, onChunk = (_chunk: UIMessageChunk) => {}) {
  const stream: ReadableStream<sdk.UIMessageChunk> | null = chat.toUIMessageStream();
  assert.ok(stream !== null);
  const [mine, theirs] = stream.tee();
  const messages = Array.fromAsync(sdk.readUIMessageStream({ stream: theirs, onError: () => {} }));
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of mine) {
    const { success } = await (
      sdk.uiMessageChunkSchema() as { validate: (value: unknown) => { success: boolean } }
    ).validate(chunk);
    assert.ok(success, JSON.stringify(chunk));
    chunks.push(chunk as UIMessageChunk);
    onChunk(chunk as UIMessageChunk);
  }
  return { chunks, message: (await messages).at(-1) };
}

const textIn = (message: sdk.UIMessage | undefined) =>
  message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const kindsOf = (chunks: readonly UIMessageChunk[]) =>
  chunks.map(({ type }) => type).filter((type) => type !== 'data-agent');

describe('a turn', () => {
  it('has its steps, calls with results and errors, and ends with the outcome', async () => {
    const { coppice } = await opened();
    const chat = await coppice.chat({ id: 'bells', messages: [says('ring')] });
    const { chunks, message } = await read(chat);
    assert.deepEqual(kindsOf(chunks), [
      ...['start', 'start-step', 'text-start', 'text-delta', 'text-end'],
      ...[
        'tool-input-available',
        'tool-input-available',
        'tool-output-available',
        'tool-output-error',
        'finish-step',
      ],
      ...['start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'],
    ]);
    assert.deepEqual(chunks.at(-1), {
      ...{ type: 'finish', finishReason: 'stop' },
      messageMetadata: { outcome: 'done', outcome_text: 'done', agents: 1, cost_usd: 0 },
    });
    const calls = message?.parts.filter((part) => part.type === 'dynamic-tool') ?? [];
    assert.deepEqual(
      calls.map(({ toolName, state, input, output, errorText }) => [
        toolName,
        state,
        input,
        output,
        errorText,
      ]),
      [
        ['ring', 'output-available', { bell: 'big' }, 'big rang', undefined],
        ['ring', 'output-error', { bell: 'none' }, undefined, 'no such bell'],
      ],
    );
    // The page neither runs the calls nor waits for them.
    assert.equal(sdk.lastAssistantMessageIsCompleteWithToolCalls({ messages: [message!] }), false);
  });

  it('shows the agents of the tree as they change, and the history says the same', async () => {
    const { coppice, database } = await opened();
    const chat = await coppice.chat({ id: 'oaks', messages: [says('trees')] });
    const { message } = await read(chat);
    const agents = message?.parts.flatMap((part) =>
      part.type === 'data-agent' ? [part.data as UIAgent] : [],
    );
    const [main, oak] = agents ?? [];
    assert.deepEqual(
      [main, oak].map((one) => [one?.name, one?.parent_id, one?.state, one?.outcome, one?.last_words]),
      [
        ['main', null, 'idle', 'done', 'They are lobed.'],
        ['oak', main?.id, 'idle', 'done', 'Oaks have lobed leaves.'],
      ],
    );
    const history = await sdk.validateUIMessages({ messages: await chat.messages() });
    assert.deepEqual(
      history.map(({ role }) => role),
      ['user', 'assistant'],
    );
    assert.equal(history[1]?.id, message?.id);
    const sorted = (given: sdk.UIMessage | undefined) =>
      JSON.parse(JSON.stringify(given?.parts)).sort(
        (a: { type: string }, b: { type: string }) =>
          Number(a.type === 'data-agent') - Number(b.type === 'data-agent'),
      );
    assert.deepEqual(sorted(history[1]), sorted(message));
    const told = (one: sdk.UIMessage | undefined) =>
      one?.parts.flatMap((part) => (part.type === 'data-agent' ? (part.data as UIAgent).name : [])).sort();
    const asked = told((await read(await coppice.chat({ id: 'oaks', messages: [says('ask it')] }))).message);
    await coppice.close();
    const { coppice: next } = await opened(database);
    const hello = await next.chat({ id: 'oaks', messages: [says('hello')] });
    const turns = [asked, told((await read(hello)).message)];
    assert.deepEqual(turns, [['main', 'oak'], ['main']], 'an agent is told with each turn that it works in');
    const reloaded = (await hello.messages()) as sdk.UIMessage[];
    const answers = reloaded.filter(({ role }) => role === 'assistant');
    assert.deepEqual(answers.map(told), [['main', 'oak'], ...turns]);
  });

  it('streams thoughts and words as they come, and takes back an answer that breaks off', async () => {
    const { coppice } = await opened();
    const chat = await coppice.chat({ id: 'breaks', messages: [says('speak')] }, { model: 'breaking' });
    const { chunks, message } = await read(chat, (chunk) => {
      if (chunk.type === 'text-delta' && chunk.delta === 'Half an ') gate.open();
    });
    assert.deepEqual(kindsOf(chunks).slice(0, 8), [
      ...['start', 'start-step', 'reasoning-start', 'reasoning-delta', 'reasoning-end'],
      ...['text-start', 'text-delta', 'reset-step'],
    ]);
    assert.equal(textIn(message), 'A whole answer.');
    assert.deepEqual(
      message?.parts.filter(({ type }) => type === 'reasoning').map((part) => 'text' in part && part.text),
      ['Hm again.'],
    );
    assert.equal(message?.parts.filter(({ type }) => type === 'data-agent').length, 1, 'it is told again');
    assert.match(JSON.stringify(chunks.at(-1)), /"cost_usd":0\.25/);
  });

  it('that fails ends with the error, and is tried again by regenerate', async () => {
    const { coppice } = await opened();
    const chat = await coppice.chat({ id: 'fails', messages: [says('fail')] }, { model: 'breaking' });
    const { chunks } = await read(chat);
    assert.deepEqual(
      chunks.slice(-2).map((chunk) => ({ ...chunk, messageMetadata: undefined })),
      [
        { type: 'error', errorText: 'no such thing', messageMetadata: undefined },
        { type: 'finish', finishReason: 'error', messageMetadata: undefined },
      ],
    );
    const again = await coppice.chat({ id: 'fails', trigger: 'regenerate-message', messages: [] });
    const { chunks: second } = await read(again);
    assert.deepEqual(kindsOf(second), kindsOf(chunks), 'the same turn');
  });

  it('of any agent can be read, also as a response of the protocol', async () => {
    const { coppice } = await opened();
    const agent = await coppice.start({ prompt: 'hello' });
    const response = agent.toUIMessageStreamResponse();
    assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
    const text = await response.text();
    assert.match(text, /^data: \{"type":"start","messageId":".*-answer"\}\n\n/);
    assert.match(text, /\n\ndata: \{"type":"finish",.*\}\n\ndata: \[DONE\]\n\n$/);
    assert.equal(textIn((await read(agent)).message), 'You said: hello');
    assert.throws(() => agent.toUIMessageStream({ onclose: 'x' } as never), { code: 'E_CONFIG' });
  });
});

describe('a reader that leaves', () => {
  it('stops nothing; the answer under way is read from its beginning by the next', async () => {
    const { coppice } = await opened();
    const chat = await coppice.chat({ id: 'leaves', messages: [says('speak')] }, { model: 'breaking' });
    const reader = chat.toUIMessageStream()?.getReader();
    let first: UIMessageChunk | undefined;
    for (let chunk = first; chunk?.type !== 'text-delta'; first ??= chunk)
      chunk = (await reader?.read())?.value;
    await reader?.cancel();
    const { messages, toUIMessageStreamResponse } = await coppice.chat({ id: 'leaves' });
    assert.deepEqual(
      (await messages()).map(({ role }) => role),
      ['user'],
      'the answer comes with its stream',
    );
    assert.equal(toUIMessageStreamResponse().status, 200);
    const { chunks, message } = await read(await coppice.chat({ id: 'leaves' }), (chunk) => {
      if (chunk.type === 'text-delta') gate.open();
    });
    assert.deepEqual(chunks[0], first, 'the message has the same id');
    assert.equal(textIn(message), 'A whole answer.');
    const rests = await coppice.chat({ id: 'leaves' });
    assert.equal(rests.toUIMessageStream(), null);
    assert.equal(rests.toUIMessageStreamResponse().status, 204);
  });

  it('interrupts the agents where the program says so', async () => {
    const { coppice } = await opened();
    const chat = await coppice.chat({ id: 'stops', messages: [says('hang')] });
    const reader = chat.toUIMessageStream({ onClose: 'interrupt' })?.getReader();
    await reader?.read();
    await reader?.cancel();
    const done = await chat.agent?.result();
    assert.equal(done?.failure?.kind, 'interrupted');
    const hung = await coppice.chat({ id: 'stops', messages: [says('hang')] });
    const reading = read(hung);
    await until(
      async () => (await coppice.agents({ tree: hung.agent?.id ?? '' })).agents[0]?.state === 'requesting',
      'work',
    );
    await hung.interrupt();
    assert.deepEqual((await reading).chunks.at(-1), { type: 'abort', reason: 'interrupted by you' });
  });
});

describe('the messages of a chat', () => {
  it('come once each, go on in the same tree after a restart, and are never changed', async () => {
    const { coppice, database } = await opened();
    const [one, two] = [says('one'), says('two')];
    await read(await coppice.chat({ id: 'goes on', messages: [one] }));
    await read(await coppice.chat({ id: 'goes on', messages: [one] }));
    await coppice.close();
    const { coppice: next } = await opened(database);
    const chat = await next.chat({ id: 'goes on', messages: [one, two] });
    assert.equal(textIn((await read(chat)).message), 'You said: two');
    // Sent again, as after a broken connection: its answer, not that of a later one.
    await read(await next.chat({ id: 'goes on', messages: [says('three')] }));
    const again = await read(await next.chat({ id: 'goes on', messages: [two] }));
    assert.equal(textIn(again.message), 'You said: two');
    const said = (await chat.messages()).map(({ parts }) => parts.map(({ text = '' }) => text).join(''));
    assert.deepEqual(said, ['one', 'You said: one', 'two', 'You said: two', 'three', 'You said: three']);
    assert.equal((await next.trees()).trees.length, 1);
    for (const changed of [
      { ...one, parts: [{ type: 'text', text: 'x' }] },
      { ...two, parts: [{ type: 'text', text: 'x' }] },
    ])
      await assert.rejects(next.chat({ id: 'goes on', messages: [changed] }), {
        message: /cannot be changed/,
      });
    await assert.rejects(next.chat({ id: 'goes on', trigger: 'regenerate-message', messages: [one] }), {
      ...{ code: 'E_INVALID_ARGUMENT', message: /not written again/ },
    });
  });

  it('reach no other tree, whatever a browser calls the chat', async () => {
    const { coppice } = await opened();
    const agent = await coppice.start({ prompt: 'secret', name: 'vault', id: 'my vault' });
    await agent.result();
    for (const id of [agent.id, agent.id.slice(0, 8), 'vault', 'my vault']) {
      const chat = await coppice.chat({ id });
      assert.deepEqual([chat.agent, await chat.messages(), chat.toUIMessageStream()], [null, [], null]);
      assert.equal(
        textIn((await read(await coppice.chat({ id, messages: [says('show')] }))).message),
        'You said: show',
      );
    }
    assert.equal((await coppice.messages(agent.id)).messages.length, 2, 'nothing was added');
  });

  it('may have pictures, and what is no message of a chat is refused', async () => {
    const { coppice } = await opened();
    const file = { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${RED_PNG}` };
    const chat = await coppice.chat({ id: 'pictures', messages: [says('look', 'a', file)] });
    await read(chat);
    assert.equal(
      textIn((await read(await coppice.chat({ id: 'pictures', messages: [says('', 'b', file)] }))).message),
      'You said: See the pictures.',
    );
    assert.deepEqual((await chat.messages())[0]?.parts.at(-1), file);
    for (const wrong of [
      ...[
        null,
        {},
        { id: '' },
        { id: 5 },
        { id: 'x'.repeat(201) },
        { id: 'x', trigger: 'delete' },
        { id: 'x', messages: 'x' },
      ],
      { id: 'x', messages: [{ ...says('x'), role: 'assistant' }] },
      { id: 'x', messages: [says('')] },
      { id: 'x', messages: [says('x', 'c', { type: 'file', url: 'file:///etc/passwd' })] },
      { id: 'x', messages: [says('x', 'd', { type: 'file', url: 'https://example.com/x.png' })] },
    ])
      await assert.rejects(coppice.chat(wrong as never), { name: 'CoppiceError' }, JSON.stringify(wrong));
    assert.equal((await coppice.chat({ id: 'x' })).agent, null, 'nothing was begun');
  });
});
