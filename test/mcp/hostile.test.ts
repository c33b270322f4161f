/** Proves that calls which no client should make are refused briefly, with what to do instead, and that the server continues on the same connection. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { clientModel } from '../../src/models/client-model.ts';
import { writeClientCall } from '../../src/records/client-call.ts';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { type McpClient, startClient, writeRules } from './mcp-client.ts';

after(closeOpened);

const RULES = [{ when: { user: 'hang' }, delay_ms: 60_000, say: 'late' }, { say: 'did it' }];
/** Contains terminal control sequences, a bidirectional override and a line break. */
const EVIL = 'a\u202eb\u001b]0;owned\u0007\u001b[2J\nERROR';
const SHORT = 600;

describe('a hostile client', () => {
  const home = makeHome();
  let client: McpClient;
  before(async () => {
    client = await startClient(home, writeRules(home, RULES));
  });

  const codeOf = async (method: string, params: object): Promise<number | undefined> => {
    const { error } = await client.ask(method, params);
    assert.ok((error?.message ?? '').length < SHORT, 'errors are short');
    return error?.code;
  };
  const call = (name: string, input: object): [string, object] => ['tools/call', { name, arguments: input }];

  it('sends what is too large', async () => {
    const long = 'x'.repeat(10_000_000);
    const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, at]));
    assert.equal(await codeOf(...call('fork', { name: 'x', prompt: long })), -32600);
    assert.equal(await codeOf(...call('fork', keys)), -32600);
    assert.equal(await codeOf('tools/list', { _meta: keys }), -32600);
    const answers = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`k${at}`, { action: 'accept' }]),
    );
    const call_with_answers = { name: 'list_agents', arguments: {}, inputResponses: answers };
    assert.equal(await codeOf('tools/call', call_with_answers), -32602);
  });

  it('asks for what is not there', async () => {
    const name = `${EVIL}${'x'.repeat(1_000_000)}`;
    assert.equal(await codeOf(...call(name, {})), -32602);
    for (const uri of ['../', 'file:///etc/passwd', 'coppice://agents/../../x/transcript', name, 5])
      assert.equal(await codeOf('resources/read', { uri }), -32602);
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list'])
      for (const cursor of ['../', 'x'.repeat(1_000_000), 5])
        assert.equal(await codeOf(method, { cursor }), -32602);
    for (const timeout of [-1, 'NaN', {}]) {
      const { value } = await client.tool('wait', { timeout });
      assert.match(JSON.stringify(value), /INVALID_ARG.*timeout/);
    }
    const { value } = await client.tool('wait', { timeout: 1e300 });
    assert.equal(value.status, 'no_agents');
  });

  it('names folders outside, and names that would act on a terminal', async () => {
    mkdirSync(join(home.work, 'inside'));
    symlinkSync('/etc', join(home.work, 'link'));
    for (const cwd of ['link', '..', '/etc', 'inside/../..', 'a\0b', 'x'.repeat(5_000)]) {
      const { value, is_error } = await client.tool('start_tree', { prompt: 'x', cwd });
      assert.match(JSON.stringify(value), /INVALID_ARG.*cwd/);
      assert.ok(is_error);
    }
    for (const [tool, input] of [
      ['fork', { name: EVIL, prompt: 'x' }],
      ['start_tree', { name: EVIL, prompt: 'x' }],
      ['spawn_agents', { tasks: [{ task: 'x', label: EVIL }] }],
      ['subagent_delegate', { task: 'x', description: EVIL }],
    ] as const)
      assert.match(JSON.stringify((await client.tool(tool, input)).value), /INVALID_ARG.*visible characters/);
    await client.tool('start_tree', { prompt: EVIL });
    await client.tool('spawn_agents', { tasks: [{ task: EVIL }] });
    for (const args of [['ps', '--all'], ['tree'], ['approvals', 'list']])
      assert.doesNotMatch((await home.run(args)).stdout.replaceAll('\n', ''), /[\p{Cc}\u202a-\u202e]/u);
  });

  it('is killed by a person while it waits', async () => {
    await client.tool('fork', { name: 'stuck', prompt: 'hang' });
    const { value: tree } = await client.tool('start_tree', { name: 'ended', prompt: 'x' });
    assert.deepEqual((await client.tool('kill', { agent_id: 'ended' })).value.killed, [
      tree.results[0]?.agent_id,
    ]);
    const { value: ended } = await client.tool('wait', { from_agents: ['ended'] });
    assert.deepEqual([ended.results[0]?.status, ended.results[0]?.error], ['dead', 'killed by tester']);
    const waiting = client.tool('wait', { timeout: 20, from_agents: ['stuck'] });
    await client.tool('list_agents');
    assert.equal((await home.run(['kill', 'tester', '--yes'])).code, 0);
    const { results } = (await waiting).value;
    assert.deepEqual([results[0]?.status, results[0]?.error], ['dead', 'killed by you']);
    assert.equal((await client.tool('fork', { name: 'next', prompt: 'x' })).is_error, false);
  });
});

it('calls that are too large for one message are made in several', async () => {
  const letters = ['a', 'b', 'c'].map((letter) =>
    writeClientCall({
      id: crypto.randomUUID(),
      tool: 'send',
      input: `{"message":"${letter.repeat(600_000)}"}`,
    }),
  );
  const messages = letters.map((text) => ({ role: 'user', text }));
  const made = [];
  for (let rounds = 0; rounds < 3; rounds += 1) {
    const outcome = await clientModel.stream(
      { messages, signal: new AbortController().signal } as never,
      () => undefined,
    );
    assert.ok(outcome.type === 'answer');
    const { parts } = outcome.content;
    made.push(parts.length);
    messages.push({ role: 'assistant', parts } as never);
  }
  assert.deepEqual(made, [1, 1, 1]);
});

it('agents are collected although the budget of their tree is spent', async () => {
  const home = makeHome();
  home.configure({ agents: { defaults: { limits: { tokens: 300 } } } });
  const client = await startClient(home, writeRules(home, RULES));
  for (const name of ['one', 'two', 'three']) await client.tool('fork', { name, prompt: 'x' });
  const { value, is_error } = await client.tool('wait', { timeout: 20, from_agents: ['one', 'two'] });
  assert.ok(!is_error, JSON.stringify(value));
  assert.equal(value.results[0]?.last_reply, 'did it');
});
