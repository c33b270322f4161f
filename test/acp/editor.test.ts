/**
 * Proves that an editor, using the protocol's own client library, drives conversations: prompts, file changes, approvals, settings, and errors for its
 * mistakes.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { RequestError } from '@agentclientprotocol/sdk';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { type Editor, openEditor, writeRules } from './editor-client.ts';

const home = makeHome();
const call = (name: string, input: object) => ({ calls: [{ name, input }] });
const model = writeRules(home, [
  { when: { user: '^think', step: 0 }, reasoning: 'Let me see.', say: 'A thought.', chunk_ms: 1 },
  {
    when: { user: '^read', tool: 'read' },
    ...call('patch', { path: 'a.txt', edits: [{ old_text: 'one', new_text: 'two' }] }),
  },
  { when: { user: '^read', tool: 'patch' }, say: 'Changed.' },
  { when: { user: '^read' }, ...call('read', { path: 'a.txt' }) },
  { when: { user: '^write', tool: 'write' }, say: 'It says: {{result}}' },
  { when: { user: '^write' }, ...call('write', { path: 'made.txt', content: 'hello\n' }) },
  { when: { user: '^status', tool: 'bash' }, say: 'Ran: {{result}}' },
  { when: { user: '^status' }, say: 'I run it.', ...call('bash', { command: 'git status --short || true' }) },
  { when: { user: '^twice', tool: 'bash', result: 'second' }, say: 'Twice.' },
  { when: { user: '^twice', tool: 'bash' }, ...call('bash', { command: 'printf second' }) },
  { when: { user: '^twice' }, ...call('bash', { command: 'printf first' }) },
  { when: { user: 'attached' }, say: '{{user}}' },
  { when: { user: '^Hello' }, say: 'Hello.' },
  { when: { user: '^split', step: 0 }, ...call('fork', { name: 'kid', prompt: 'break' }) },
  { when: { root: true, user: '^split|kid' }, say: 'My child failed.' },
]);
let editor: Editor;

before(async () => {
  writeFileSync(join(home.work, 'a.txt'), 'one\n');
  editor = await openEditor(home, ['--model', model], { session: { notices: {} } });
});
after(closeOpened);

async function refused(work: Promise<unknown>, code: number, says: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof RequestError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, says);
    return true;
  });
}

test('it says honestly what it can do', () => {
  const { agentCapabilities, agentInfo, protocolVersion, authMethods } = editor.introduction;
  assert.equal(protocolVersion, 1);
  assert.equal(agentInfo?.name, 'coppice');
  assert.equal(agentCapabilities?.loadSession, true);
  assert.deepEqual(agentCapabilities?.mcpCapabilities, { http: true, sse: false });
  assert.deepEqual(agentCapabilities?.sessionCapabilities, { list: {}, resume: {}, close: {} });
  assert.deepEqual(authMethods, []);
});

test('text and thoughts stream, what was typed here is not sent back, and the tree has a title', async () => {
  const id = await editor.begin();
  assert.equal(await editor.say(id, 'think about it'), 'end_turn');
  assert.equal(editor.text(id, 'agent_thought_chunk'), 'Let me see.');
  assert.equal(editor.text(id, 'agent_message_chunk'), 'A thought.');
  assert.equal(editor.text(id, 'user_message_chunk'), '');
  assert.equal(editor.of(id, 'session_info_update')[0]?.title, 'think about it');
});

test('calls have a kind, a place and a difference; an approved change is made', async () => {
  const id = await editor.begin();
  const turn = editor.say(id, 'read and change it');
  const asked = await editor.nextAsked();
  assert.equal(asked.params.sessionId, id);
  assert.deepEqual(
    asked.params.options.map(({ kind }) => kind),
    ['allow_once', 'allow_always', 'allow_always', 'reject_once'],
  );
  const file = join(home.work, 'a.txt');
  assert.deepEqual(asked.params.toolCall.content, [
    { type: 'diff', path: file, oldText: 'one', newText: 'two' },
  ]);
  const [read, patch] = editor.of(id, 'tool_call');
  assert.deepEqual([read?.kind, read?.title, read?.locations], ['read', 'read a.txt', [{ path: file }]]);
  assert.deepEqual([patch?.kind, patch?.toolCallId], ['edit', asked.params.toolCall.toolCallId]);
  asked.choose('once');
  assert.equal(await turn, 'end_turn');
  assert.equal(readFileSync(file, 'utf8'), 'two\n');
  const ended = editor.of(id, 'tool_call_update').filter(({ status }) => status === 'completed');
  assert.deepEqual(
    ended.map(({ toolCallId }) => toolCallId),
    [read?.toolCallId, patch?.toolCallId],
  );
  assert.deepEqual(ended[1]?.locations, [{ path: file, line: 1 }]);
  assert.equal(editor.text(id, 'agent_message_chunk'), 'Changed.');
});

test('a rejected call is not made, and the model is told', async () => {
  const id = await editor.begin();
  const turn = editor.say(id, 'write it');
  (await editor.nextAsked()).choose('deny');
  assert.equal(await turn, 'end_turn');
  assert.equal(existsSync(join(home.work, 'made.txt')), false);
  assert.match(editor.text(id, 'agent_message_chunk'), /denied by the user/);
  assert.equal(editor.of(id, 'tool_call_update').at(-1)?.status, 'failed');
});

test('a question that is put away is no consent', async () => {
  const id = await editor.begin();
  const turn = editor.say(id, 'write it');
  (await editor.nextAsked()).dismiss();
  assert.equal(await turn, 'end_turn');
  assert.equal(existsSync(join(home.work, 'made.txt')), false);
});

test('what is allowed in this conversation asks no more there', async () => {
  const id = await editor.begin();
  const turn = editor.say(id, 'twice');
  const asked = await editor.nextAsked();
  assert.deepEqual(asked.params.options.map(({ name }) => name).slice(1, 3), [
    'Allow bash:printf * in this conversation',
    'Always allow bash:printf * in this folder',
  ]);
  asked.choose('session');
  assert.equal(await turn, 'end_turn');
  assert.equal(editor.asked.length, editor.asked.indexOf(asked) + 1);
  assert.equal(editor.text(id, 'agent_message_chunk'), 'Twice.');
});

test('a question that is answered in another terminal is withdrawn', async () => {
  const id = await editor.begin();
  const turn = editor.say(id, 'status please');
  const asked = await editor.nextAsked();
  const list = await home.run(['approvals', 'list', '--json']);
  const { approvals } = JSON.parse(list.stdout) as { approvals: { id: string; root_id: string }[] };
  const ask = approvals.find(({ root_id }) => root_id === id);
  assert.equal((await home.run(['approvals', 'allow', String(ask?.id)])).code, 0);
  assert.equal(await turn, 'end_turn');
  await until(() => asked.signal.aborted);
  assert.match(editor.text(id, 'agent_message_chunk'), /^I run it\.Ran: /);
});

test('links keep their path, and what is embedded is attached', async () => {
  const id = await editor.begin();
  const { stopReason } = await editor.agent.request('session/prompt', {
    sessionId: id,
    prompt: [
      { type: 'text', text: 'See ' },
      { type: 'resource_link', name: 'a.txt', uri: 'file:///srv/my%20notes/a.txt' },
      { type: 'resource', resource: { uri: 'file:///srv/b.txt', text: 'inside of b' } },
    ],
  });
  assert.equal(stopReason, 'end_turn');
  const said = editor.text(id, 'agent_message_chunk');
  assert.match(said, /^See \/srv\/my notes\/a\.txt\n/);
  assert.match(said, /--- [0-9a-f]{8} attached \/srv\/b\.txt\ninside of b\n--- [0-9a-f]{8} end$/);
});

test('modes, models and effort can be chosen, and are refused by name', async () => {
  const id = await editor.begin();
  const set = (configId: string, value: string) =>
    editor.agent.request('session/set_config_option', { sessionId: id, configId, value });
  const ids = (await set('thinking', 'low')).configOptions.map(({ id: one, currentValue }) => [
    one,
    currentValue,
  ]);
  assert.deepEqual(ids, [
    ['mode', 'ask'],
    ['model', model],
    ['thinking', 'low'],
  ]);
  await refused(
    set('thinking', 'much'),
    -32602,
    /unknown value "much"; expected one of off, low, medium, high/,
  );
  await refused(set('model', 'nobody/knows'), -32602, /nobody/);
  await refused(set('colour', 'red'), -32602, /unknown option "colour"/);
  await refused(
    editor.agent.request('session/set_mode', { sessionId: id, modeId: 'yolo' }),
    -32602,
    /ask, accept, plan/,
  );

  await editor.agent.request('session/set_mode', { sessionId: id, modeId: 'accept' });
  const asked = editor.asked.length;
  assert.equal(await editor.say(id, 'write it'), 'end_turn');
  assert.equal(editor.asked.length, asked);
  assert.equal(readFileSync(join(home.work, 'made.txt'), 'utf8'), 'hello\n');
  // The mode applies to the whole tree, not only to agents created later.
  await editor.agent.request('session/set_mode', { sessionId: id, modeId: 'plan' });
  assert.equal(await editor.say(id, 'write it'), 'end_turn');
  assert.match(editor.text(id, 'agent_message_chunk'), /switched to planning/);
  await refused(set('thinking', 'low'), -32602, /once the conversation has begun/);
  // The new model answers from the next prompt on.
  const other = join(home.folder, 'other.json');
  writeFileSync(other, JSON.stringify({ rules: [{ say: 'The other one.' }] }));
  assert.equal((await set('model', `scripted:${other}`)).configOptions[1]?.currentValue, `scripted:${other}`);
  assert.equal(await editor.say(id, 'Hello'), 'end_turn');
  assert.match(editor.text(id, 'agent_message_chunk'), /The other one\.$/);
});

test('errors say what is wrong', async () => {
  const { agent } = editor;
  await refused(agent.request('session/new', { cwd: 'work', mcpServers: [] }), -32602, /absolute/);
  await refused(
    agent.request('session/new', { cwd: '/nowhere/at/all', mcpServers: [] }),
    -32602,
    /there is no folder/,
  );
  await refused(editor.say('nobody', 'Hello'), -32002, /not found/);
  const nobody = { sessionId: 'c0ffee00-0000-4000-8000-000000000000', cwd: home.work, mcpServers: [] };
  await refused(agent.request('session/load', nobody), -32002, /not found/);
  await refused(agent.request('session/list', { cursor: 'x' }), -32602, /cursor/);
  await refused(agent.request('session/nothing', {}), -32601, /not found/i);
  const id = await editor.begin();
  await refused(agent.request('session/prompt', { sessionId: id, prompt: [] }), -32602, /empty/);
  const audio = [{ type: 'audio' as const, data: '', mimeType: 'audio/wav' }];
  await refused(
    agent.request('session/prompt', { sessionId: id, prompt: audio }),
    -32602,
    /audio is not supported/,
  );
  const image = [{ type: 'image' as const, data: 'AAAA', mimeType: 'image/png' }];
  await refused(agent.request('session/prompt', { sessionId: id, prompt: image }), -32602, /prompt\[0\]/);
  // The scripted model has no rule for this prompt, so the turn fails with an error that says so.
  await refused(editor.say(id, 'nothing matches this'), -32603, /rule/);
  assert.equal(await editor.say(id, 'Hello'), 'end_turn');
});

test('without a model it says how to connect one, and needs no new start after that', async () => {
  const bare = makeHome();
  const other = await openEditor(bare, [], { auth: { terminal: true } });
  assert.deepEqual(
    other.introduction.authMethods?.map(({ id, ...one }) => [id, 'args' in one ? one.args : null]),
    [['setup', ['--setup']]],
  );
  await refused(other.begin(), -32000, /No model key found[\s\S]*coppice setup/);
  bare.configure({ model });
  assert.equal(await other.say(await other.begin(), 'Hello'), 'end_turn');
  // Editors run the setup command in a terminal.
  const { code, stdout, stderr } = await bare.run(['acp', '--setup']);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /needs a terminal/);
});

test('an answer tells how the tree ended, and so does an error', async () => {
  const other = await openEditor(makeHome(), ['--model', model]);
  const ask = async (text: string) =>
    other.agent.request('session/prompt', {
      sessionId: await other.begin(),
      prompt: [{ type: 'text', text }],
    });
  const { stopReason, _meta } = await ask('split it');
  const { outcome, outcome_text } = (_meta?.coppice ?? {}) as Record<string, string>;
  assert.deepEqual([stopReason, outcome], ['end_turn', 'done']);
  assert.match(outcome_text ?? '', /^done, 1 of 1 failed: /);
  assert.deepEqual(await ask('Hello'), { stopReason: 'end_turn' });
  await assert.rejects(ask('break'), ({ data }: RequestError) => {
    const { outcome, outcome_text } = data as Record<string, string>;
    assert.equal(outcome, 'failed');
    assert.match(outcome_text ?? '', /^failed: \w+: no rule/);
    return true;
  });
});

test('when the editor closes its end, the program ends and nothing is left at work', async () => {
  editor.child.stdin?.end();
  assert.deepEqual(await editor.ended, { code: 0, signal: null });
  assert.equal(editor.told(), '');
  const { stdout } = await home.run(['ps', '--json']);
  const { agents } = JSON.parse(stdout) as { agents: { status: string }[] };
  assert.deepEqual([...new Set(agents.map(({ status }) => status))], ['idle']);
});
