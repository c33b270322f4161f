/**
 * Proves that an editor can work with trees of agents: children as steps of a plan and as sessions, their questions, cancelling the whole tree, and resuming
 * after a kill.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import type { PromptResponse } from '@agentclientprotocol/sdk';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { openEditor, startAgent, writeRules } from './editor-client.ts';
import { RawEditor } from './frame-fuzz.ts';

afterEach(closeOpened);

const FORKING = [
  {
    when: { root: true, step: 0 },
    say: 'I fork two.',
    calls: ['looker', 'maker'].map((name) => ({ name: 'fork', input: { name, prompt: `You are ${name}` } })),
  },
  {
    when: { root: true, step: 1 },
    calls: [{ name: 'wait', input: { timeout: 600, from_agents: '{{results.fork.*.agent_id}}' } }],
  },
  { when: { agent: 'looker', step: 0 }, say: 'Nothing to see.' },
  { when: { agent: 'maker', step: 0 }, calls: [{ name: 'bash', input: { command: 'touch made.txt' } }] },
  { when: { agent: 'maker', user: 'again' }, say: 'I am {{agent.name}} still.' },
  { when: { agent: 'maker' }, say: 'Made it.' },
  { when: { root: true, user: 'Say hello' }, say: 'Hello again.' },
  { when: { root: true, tool: 'wait' }, say: 'Both are done.' },
];

test('children are steps of the plan, ask through the session that is open, and are sessions of their own', async () => {
  const home = makeHome();
  const editor = await openEditor(home, ['--model', writeRules(home, FORKING)]);
  const id = await editor.begin();
  const turn = editor.say(id, 'Split the work');
  const asked = await editor.nextAsked();
  assert.equal(asked.params.sessionId, id);
  assert.equal(asked.params.toolCall.title, 'maker: touch made.txt');
  asked.choose('once');
  assert.equal(await turn, 'end_turn');
  assert.ok(existsSync(join(home.work, 'made.txt')));
  assert.match(editor.text(id, 'agent_message_chunk'), /^I fork two\.Both are done\.$/);
  const lent = editor
    .of(id, 'tool_call_update')
    .filter(({ toolCallId }) => toolCallId === asked.params.toolCall.toolCallId);
  assert.equal(lent.at(-1)?.status, 'completed');
  assert.deepEqual(
    editor
      .of(id, 'plan')
      .at(-1)
      ?.entries.map(({ content, status }) => [content, status]),
    [
      ['looker: Nothing to see.', 'completed'],
      ['maker: Made it.', 'completed'],
    ],
  );

  const { sessions } = await editor.agent.request('session/list', { cwd: home.work });
  assert.deepEqual(
    sessions.map(({ title }) => title),
    ['Split the work', '› looker', '› maker'],
  );
  const maker = String(sessions[2]?.sessionId);
  assert.deepEqual(sessions[2]?._meta?.coppice, { parentSessionId: id, rootSessionId: id, status: 'idle' });
  await editor.agent.request('session/load', { sessionId: maker, cwd: home.work, mcpServers: [] });
  assert.equal(editor.text(maker, 'agent_message_chunk'), 'I fork two.Made it.');
  // Both its own call and the inherited one: calls open at the fork point have ended for the fork.
  const calls = editor.of(maker, 'tool_call').map(({ toolCallId }) => toolCallId);
  const over = editor.of(maker, 'tool_call_update').filter(({ status }) => status === 'completed');
  assert.deepEqual(calls.toSorted(), over.map(({ toolCallId }) => toolCallId).toSorted());
  assert.equal(await editor.say(maker, 'Who are you, again?'), 'end_turn');
  assert.match(editor.text(maker, 'agent_message_chunk'), /I am maker still\.$/);
});

test('a cancel stops the agent and all below it, and withdraws what they ask', async () => {
  const home = makeHome();
  const slow = {
    when: { agent: 'looker', step: 0 },
    calls: [{ name: 'bash', input: { command: 'sleep 600' } }],
  };
  const rules = [slow, ...FORKING];
  const editor = await openEditor(home, ['--model', writeRules(home, rules), '--allow', 'bash:sleep *']);
  const id = await editor.begin();
  const turn = editor.say(id, 'Split the work');
  const asked = await editor.nextAsked();
  const plan = () => editor.of(id, 'plan').at(-1)?.entries ?? [];
  await until(() => plan().some(({ content }) => content.includes('sleep 600')));
  assert.deepEqual(
    plan().map(({ status }) => status),
    ['in_progress', 'in_progress'],
  );
  // The protocol requires a client that cancels to dismiss its questions, in either order; the dismissal does not count as the person's answer.
  asked.dismiss();
  await editor.agent.notify('session/cancel', { sessionId: id });
  assert.equal(await turn, 'cancelled');
  const maker = await home.run(['logs', 'maker', '--json']);
  assert.doesNotMatch(maker.stdout, /denied/);
  const { stdout } = await home.run(['ps', '--json']);
  const { agents } = JSON.parse(stdout) as { agents: { status: string; pending_approval: string | null }[] };
  assert.deepEqual(
    agents.map(({ status, pending_approval }) => [status, pending_approval]),
    [
      ['idle', null],
      ['idle', null],
      ['idle', null],
    ],
  );
  // No agent was killed: the conversation continues.
  assert.equal(await editor.say(id, 'Say hello'), 'end_turn');
  assert.match(editor.text(id, 'agent_message_chunk'), /Hello again\.$/);
});

test('a cancel right behind its prompt stops it, and one of the request itself does, too', async () => {
  const home = makeHome();
  const model = writeRules(home, [
    { when: { user: 'slow' }, say: 'too late', delay_ms: 600_000 },
    { say: 'Quick.' },
  ]);
  const editor = await openEditor(home, ['--model', model]);
  const id = await editor.begin();
  const turn = editor.say(id, 'slow');
  await editor.agent.notify('session/cancel', { sessionId: id });
  assert.equal(await turn, 'cancelled');
  const given_up = new AbortController();
  const prompt = [{ type: 'text' as const, text: 'slow' }];
  const again = editor.agent.request<PromptResponse>(
    'session/prompt',
    { sessionId: id, prompt },
    { cancellationSignal: given_up.signal },
  );
  given_up.abort();
  assert.equal((await again).stopReason, 'cancelled');
  assert.equal(await editor.say(id, 'quick'), 'end_turn');
});

test('a prompt right behind a cancel runs: the cancel is about those before it', async () => {
  const home = makeHome();
  const model = writeRules(home, [
    { when: { user: 'new', tool: 'bash' }, say: 'Done.' },
    { when: { user: 'new' }, calls: [{ name: 'bash', input: { command: 'sleep 0.3; touch ran' } }] },
    { when: { user: 'slow' }, calls: [{ name: 'bash', input: { command: 'touch began; sleep 600' } }] },
  ]);
  const editor = await openEditor(home, ['--model', model, '--allow', 'bash']);
  const id = await editor.begin();
  for (const text of ['new', 'new again', 'new once more']) {
    rmSync(join(home.work, 'began'), { force: true });
    const slow = editor.say(id, 'slow');
    if (text !== 'new once more') await until(() => existsSync(join(home.work, 'began')));
    void editor.agent.notify('session/cancel', { sessionId: id });
    const turn = editor.say(id, text);
    assert.deepEqual([await slow, await turn], ['cancelled', 'end_turn'], text);
    assert.ok(existsSync(join(home.work, 'ran')));
    rmSync(join(home.work, 'ran'));
  }
});

test('an editor that closes its end while a command runs leaves nothing running, and the call is told to be unknown', async () => {
  const home = makeHome();
  const model = writeRules(home, [
    { when: { tool: 'bash' }, say: 'It was: {{result}}' },
    { calls: [{ name: 'bash', input: { command: 'echo $$ > pid; sleep 600' } }] },
  ]);
  const first = await openEditor(home, ['--model', model, '--allow', 'bash']);
  const id = await first.begin();
  void first.say(id, 'Wait').catch(() => undefined);
  const file = join(home.work, 'pid');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  first.child.stdin?.end();
  assert.deepEqual(await first.ended, { code: 0, signal: null });
  assert.throws(() => process.kill(Number(readFileSync(file, 'utf8')), 0));

  const editor = await openEditor(home, ['--model', model]);
  await editor.agent.request('session/load', { sessionId: id, cwd: home.work, mcpServers: [] });
  await until(() => editor.text(id, 'agent_message_chunk').includes('It was: '));
  assert.equal(editor.of(id, 'tool_call_update').at(-1)?.status, 'failed');
});

test('a program whose editor does not read ends all the same', async () => {
  const home = makeHome();
  const child = startAgent(home, ['--model', writeRules(home, [{ say: 'x'.repeat(4_000_000) }])]);
  const raw = new RawEditor(child);
  await raw.ask('initialize', { protocolVersion: 1 });
  const { sessionId } = await raw.ask('session/new', { cwd: home.work, mcpServers: [] });
  child.stdout?.pause();
  const prompt = [{ type: 'text', text: 'Talk' }];
  const params = { sessionId, prompt };
  child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 'p', method: 'session/prompt', params })}\n`);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  await until(async () => (await home.run(['ps', '--json'])).stdout.includes('"last_reply":"xxx'));
  child.kill('SIGTERM');
  assert.equal(await exited, 143);
  child.stdout?.destroy();
});

test('a tree that another process leads is followed, written to, answered and cancelled', async () => {
  const home = makeHome();
  const model = writeRules(home, [
    { when: { user: 'slow' }, say: 'too late', delay_ms: 600_000 },
    { when: { user: 'touch', tool: 'bash' }, say: 'Touched.' },
    { when: { user: 'touch' }, calls: [{ name: 'bash', input: { command: 'touch made.txt' } }] },
    { say: 'Hello.' },
  ]);
  const first = await openEditor(home, ['--model', model]);
  const id = await first.begin();
  assert.equal(await first.say(id, 'Hello'), 'end_turn');
  const second = await openEditor(home, ['--model', model]);
  await second.agent.request('session/load', { sessionId: id, cwd: home.work, mcpServers: [] });
  assert.equal(second.text(id, 'agent_message_chunk'), 'Hello.');

  const turn = second.say(id, 'touch it');
  // Both editors are asked; the first answer counts, and the other question is withdrawn.
  const [here, there] = await Promise.all([second.nextAsked(), first.nextAsked()]);
  here.choose('once');
  assert.equal(await turn, 'end_turn');
  await until(() => there.signal.aborted);
  assert.ok(existsSync(join(home.work, 'made.txt')));
  await until(() => second.text(id, 'agent_message_chunk') === 'Hello.Touched.');
  await until(() => first.text(id, 'agent_message_chunk') === 'Hello.Touched.');
  // A message written in the other editor is shown.
  assert.equal(first.text(id, 'user_message_chunk'), 'touch it');

  await second.agent.request('session/set_mode', { sessionId: id, modeId: 'plan' });
  await until(() => first.of(id, 'current_mode_update').at(-1)?.currentModeId === 'plan');
  const slow = second.say(id, 'slow');
  await until(() => first.text(id, 'user_message_chunk').endsWith('slow'));
  await second.agent.notify('session/cancel', { sessionId: id });
  assert.equal(await slow, 'cancelled');
});

test('a session outlives the kill of the program: what was said is told again, and what waits is asked again', async () => {
  const home = makeHome();
  const model = writeRules(home, FORKING);
  const first = await openEditor(home, ['--model', model]);
  const id = await first.begin();
  void first.say(id, 'Split the work').catch(() => undefined);
  await first.nextAsked();
  first.child.kill('SIGKILL');
  await first.ended;

  const editor = await openEditor(home, ['--model', model]);
  const { sessions } = await editor.agent.request('session/list', {});
  assert.deepEqual(
    sessions.map(({ sessionId, title }) => [sessionId, title]),
    [[id, 'Split the work']],
  );
  const { modes } = await editor.agent.request('session/load', {
    sessionId: id,
    cwd: home.work,
    mcpServers: [],
  });
  assert.equal(modes?.currentModeId, 'ask');
  assert.equal(editor.text(id, 'user_message_chunk'), 'Split the work');
  assert.equal(editor.text(id, 'agent_message_chunk'), 'I fork two.');
  // The session continues where it stopped.
  (await editor.nextAsked()).choose('once');
  await until(() => editor.text(id, 'agent_message_chunk').endsWith('Both are done.'));
  assert.ok(existsSync(join(home.work, 'made.txt')));
  assert.equal(await editor.say(id, 'Say hello'), 'end_turn');

  // Once closed here, another program may lead the session; resuming repeats nothing that was sent before.
  await editor.agent.request('session/close', { sessionId: id });
  const third = await openEditor(home, ['--model', model]);
  await third.agent.request('session/resume', { sessionId: id, cwd: home.work });
  assert.equal(third.text(id, 'agent_message_chunk'), '');
  assert.equal(await third.say(id, 'Say hello'), 'end_turn');
  assert.equal(third.text(id, 'agent_message_chunk'), 'Hello again.');
});
