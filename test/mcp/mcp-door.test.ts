/** Proves that an external program works with agents through `coppice mcp`: creates, writes to, collects, ends and lists them, in both protocol eras. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { type McpClient, startClient, type Told, writeRules } from './mcp-client.ts';

after(closeOpened);

const RULES = [
  { when: { user: 'again' }, say: 'second: {{user.again (\\w+)}}' },
  {
    when: { user: 'write to me', step: 0 },
    calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'a letter of {{agent.name}}' } }],
  },
  { when: { user: 'hang' }, delay_ms: 60_000, say: 'late' },
  { when: { user: 'slow' }, delay_ms: 2_500, say: 'at last' },
  { say: 'did {{user.TASK (\\w+)}}' },
];

for (const era of ['modern', 'legacy'] as const)
  describe(`coppice mcp with a client of the ${era} protocol`, () => {
    const home = makeHome();
    let client: McpClient;
    before(async () => {
      client = await startClient(home, writeRules(home, RULES), { era });
    });

    const forked = async (name: string, prompt: string): Promise<string> =>
      (await client.tool('fork', { name, prompt })).value.agents[0]?.agent_id ?? '';
    const said = ({ results }: Told) =>
      results.map(({ name, status, last_reply, message }) => [name, status, last_reply ?? message]);

    it('lists its tools, alphabetically, and says that agents have fresh context', async () => {
      const { result } = await client.ask('tools/list');
      const tools = result?.tools as { name: string; description: string }[];
      assert.deepEqual(
        tools.map(({ name }) => name),
        [
          ...['fork', 'kill', 'list_agents', 'send', 'spawn_agents', 'start_tree'],
          ...['steer_workflow', 'subagent_delegate', 'wait'],
        ],
      );
      for (const name of ['fork', 'spawn_agents', 'start_tree'])
        assert.match(tools.find((one) => one.name === name)?.description ?? '', /FRESH CONTEXT/);
    });

    it('describes what each tool answers: an object, with the names that every answer has', async () => {
      const { result } = await client.ask('tools/list');
      const tools = result?.tools as { name: string; outputSchema: { type: string; required?: string[] } }[];
      assert.deepEqual(
        tools.map(({ name, outputSchema: { type, required } }) =>
          [name, type, ...(required ?? [])].join(' '),
        ),
        [
          ...['fork object agents', 'kill object killed', 'list_agents object you agents', 'send object'],
          ...['spawn_agents object results', 'start_tree object results', 'steer_workflow object agent_id'],
          ...['subagent_delegate object results', 'wait object results'],
        ],
      );
    });

    it('lists no agents, nor one that stands for it, before it has started any', async () => {
      const { you, agents } = (await client.tool('list_agents')).value as unknown as Record<string, object>;
      assert.deepEqual([Object.keys(you ?? {}), agents], [['name'], []]);
    });

    it('offers prompts for common tasks, and refuses one without its argument', async () => {
      const { result } = await client.ask('prompts/list');
      const prompts = result?.prompts as { name: string; arguments: { name: string; required: boolean }[] }[];
      assert.deepEqual(
        prompts.map((one) => [one.name, ...one.arguments.map(({ name }) => name)].join(' ')),
        ['collect', 'parallel task', 'review change'],
      );
      const get = async (name: string, given: object = {}) =>
        client.ask('prompts/get', { name, arguments: given } as object);
      const { messages } = (await get('parallel', { task: 'count the files' })).result ?? {};
      const [message] = messages as { role: string; content: { text: string } }[];
      assert.equal(message?.role, 'user');
      assert.match(message?.content.text ?? '', /spawn_agents[\s\S]*The task: count the files$/);
      for (const { name, arguments: fields } of prompts) {
        const given = Object.fromEntries(fields.map((field) => [field.name, 'x']));
        assert.equal((await get(name, given)).error, undefined);
        if (fields.length > 0)
          assert.equal((await get(name, { [fields[0]?.name ?? '']: ' ' })).error?.code, -32602);
      }
      for (const unknown of ['nothing', 'constructor'])
        assert.equal((await get(unknown)).error?.code, -32602);
    });

    it('tells the next agent that comes to rest, once', async () => {
      assert.equal((await client.tool('wait', { timeout: 5 })).value.status, 'no_agents');
      await forked('quick', 'TASK q');
      await forked('stuck', 'hang');
      const { value: news } = await client.tool('wait', { timeout: 20 });
      assert.deepEqual(said(news), [['quick', 'idle', 'did q']]);
      assert.deepEqual(
        news.running?.map(({ name }) => name),
        ['stuck'],
      );
      const { value: none } = await client.tool('wait', { timeout: 0 });
      assert.deepEqual([none.results, none.status], [[], 'timeout']);
      const { value } = await client.tool('kill', { agent_ids: ['quick', 'stuck'] });
      assert.equal(value.killed?.length, 2);
    });

    it('forks three agents, sends more work to one, collects what they say and what they write, and ends one', async () => {
      const ids = await Promise.all([
        forked('one', 'TASK one'),
        forked('two', 'TASK two'),
        forked('three', 'write to me'),
      ]);
      const { value } = await client.tool('wait', { timeout: 20, from_agents: ids });
      assert.deepEqual(said(value), [
        ['one', 'idle', 'did one'],
        ['two', 'idle', 'did two'],
        ['three', 'received', 'a letter of three'],
      ]);
      await client.tool('send', { to: ids[1], message: 'again please' });
      assert.deepEqual(said((await client.tool('wait', { timeout: 20, from_agents: ['two'] })).value), [
        ['two', 'idle', 'second: please'],
      ]);
      const both = [ids[0], ids[1]];
      const { raw } = await client.tool('send', { to: both, message: 'again both' });
      const { sent } = raw.structuredContent as { sent: { sent_to: string }[] };
      assert.deepEqual(
        sent.map(({ sent_to }) => sent_to),
        both,
      );
      await client.tool('wait', { timeout: 20, from_agents: both });
      assert.deepEqual((await client.tool('kill', { agent_id: 'one' })).value, { killed: [ids[0]] });
      const { agents } = (await client.tool('list_agents')).value;
      assert.deepEqual(agents.map(({ name, status }) => `${name} ${status}`).sort(), [
        'three idle',
        'two idle',
      ]);
    });

    it('leaves to the next wait what a cancelled one would have collected', async () => {
      const ids = await Promise.all([forked('writes', 'write to me'), forked('hangs', 'hang')]);
      const agents = async () => (await client.tool('list_agents')).value.agents;
      await until(
        async () => (await agents()).some(({ name, status }) => name === 'writes' && status === 'idle'),
        'one has written and is at rest',
      );
      const cancelled = client.tool('wait', { timeout: 30, from_agents: ids });
      await sleep(500);
      client.cancel();
      await assert.rejects(cancelled, /cancelled/);
      await sleep(500);
      const { value } = await client.tool('wait', { timeout: 20, from_agents: ['writes'] });
      assert.deepEqual(said(value), [['writes', 'received', 'a letter of writes']]);
      await client.tool('kill', { agent_ids: ids });
    });

    it('stops the agents that a cancelled spawn_agents has started, and no others', async () => {
      const kept = await forked('kept', 'hang');
      const cancelled = client.tool('spawn_agents', { tasks: [{ task: 'hang a' }, { task: 'hang b' }] });
      const status = async (label: RegExp) =>
        (await client.tool('list_agents', { all: true })).value.agents
          .filter(({ name }) => label.test(name))
          .map((agent) => agent.status);
      // Cancelled by its id: other requests follow it.
      const spawned = client.newest();
      await until(async () => (await status(/^hang-/)).length === 2, 'both are at work');
      client.cancel(spawned);
      await assert.rejects(cancelled, /cancelled/);
      await until(async () => (await status(/^hang-/)).every((word) => word === 'dead'), 'both are stopped');
      assert.deepEqual(await status(/^kept$/), ['running']);
      await client.tool('kill', { agent_id: kept });
    });

    it('runs tasks in parallel and returns all results, and none where one is bad', async () => {
      const before_it = (await client.tool('list_agents', { all: true })).value.agents.length;
      const tasks = [{ task: 'TASK a' }, { task: 'TASK b', model: 'nowhere/none' }];
      const bad = await client.tool('spawn_agents', { tasks });
      assert.equal(bad.is_error, true);
      assert.match(JSON.stringify(bad.value), /tasks\.1\.model/);
      assert.equal((await client.tool('list_agents', { all: true })).value.agents.length, before_it);
      const { value } = await client.tool('spawn_agents', {
        tasks: [{ task: 'TASK a', label: 'a' }, { task: 'TASK b' }],
      });
      assert.deepEqual(said(value), [
        ['a', 'received', 'did a'],
        ['task-b', 'received', 'did b'],
      ]);
    });

    it('starts a tree of its own, writes to it, and reads its conversation as a resource', async () => {
      const { value } = await client.tool('start_tree', { prompt: 'TASK big', name: 'big one' });
      assert.deepEqual(said(value), [['big one', 'idle', 'did big']]);
      const id = value.results[0]?.agent_id;
      await client.tool('send', { to: 'big one', message: 'again more' });
      const later = await client.tool('wait', { timeout: 20, from_agents: [id] });
      assert.deepEqual(said(later.value), [['big one', 'idle', 'second: more']]);
      const uri = `coppice://agents/${id}/transcript`;
      assert.ok(JSON.stringify((await client.ask('resources/list')).result).includes(uri));
      const read = await client.ask('resources/read', { uri } as object);
      assert.match(JSON.stringify(read.result), /TASK big.*did big.*again more.*second: more/);
      const missing = await client.ask('resources/read', { uri: 'coppice://agents/x/transcript' } as object);
      assert.equal(missing.error?.code, -32602);
    });

    it('answers bad arguments with what is wrong', async () => {
      for (const [tool, input, wrong] of [
        ['fork', { name: 'x' }, /prompt/],
        ['fork', { name: 'user', prompt: 'x' }, /name/],
        ['wait', { timeout: -1 }, /timeout/],
        ['wait', { from_agents: ['nobody'] }, /AGENT_NOT_FOUND/],
        ['send', { to: 'nobody', message: 'x' }, /AGENT_NOT_FOUND/],
        ['kill', {}, /agent_id.*missing.*For example/],
        ['spawn_agents', { tasks: [] }, /tasks/],
        ['start_tree', { prompt: 'x', cwd: '/' }, /outside|folder/i],
        ['start_tree', { prompt: 'x', model: 'scripted:/etc/passwd' }, /only a person/],
        ['fork', { name: 'x', prompt: 'x', model: 'scripted:/etc/passwd' }, /only a person/],
        ['subagent_delegate', { task: 'x', description: 'y' }, /ACP server/],
      ] as const) {
        const { value, is_error } = await client.tool(tool, input);
        assert.equal(is_error, true, tool);
        assert.match(JSON.stringify(value), wrong);
      }
    });

    it('ends when the client closes its end', async () => {
      assert.equal(await client.end(), 0);
    });
  });

describe('another agent program', () => {
  it('is handed a task, and its answer comes back', async () => {
    const home = makeHome();
    const program = join(import.meta.dirname, '..', 'servers', 'acp-agent.ts');
    home.configure({ acp: { helper: { command: process.execPath, args: [program] } } });
    const client = await startClient(home, writeRules(home, RULES));
    const { value } = await client.tool('subagent_delegate', { task: 'echo hello', description: 'greeting' });
    assert.deepEqual(
      value.results.map(({ name, status, message, error }) => [name, status, message ?? error]),
      [['greeting', 'received', 'hello']],
    );
    const unknown = await client.tool('subagent_delegate', {
      task: 'x',
      description: 'y',
      serverName: 'nobody',
    });
    assert.match(JSON.stringify(unknown.value), /no ACP server.*helper/);
  });
});

describe('a call that would take too long', () => {
  it('returns in time and tells how far it is; what is still at work is collected later', async () => {
    const home = makeHome();
    const client = await startClient(home, writeRules(home, RULES), { args: ['--max-wait', '1'] });
    const { value } = await client.tool(
      'spawn_agents',
      { tasks: [{ task: 'slow' }] },
      { _meta: { progressToken: 7 } },
    );
    assert.deepEqual([value.timed_out, value.results[0]?.status], [true, 'running']);
    assert.match(client.progress[0]?.message ?? '', /slow/);
    for (let open = true, tries = 0; open; tries += 1) {
      const again = (await client.tool('wait', { from_agents: [value.results[0]?.agent_id] })).value;
      open = again.timed_out === true;
      if (!open) assert.equal(again.results[0]?.message, 'at last');
      assert.ok(tries < 20);
    }
  });
});

describe('an agent that came to rest before its client was gone', () => {
  it('is collected by the next connection, once', async () => {
    const home = makeHome();
    const model = writeRules(home, RULES);
    const first = await startClient(home, model);
    const id = (await first.tool('fork', { name: 'quick', prompt: 'TASK q' })).value.agents[0]?.agent_id;
    for (let status = ''; status !== 'idle'; )
      status = (await first.tool('list_agents')).value.agents[0]?.status ?? '';
    assert.equal(await first.end(), 0);
    const second = await startClient(home, model);
    const { value } = await second.tool('wait', { timeout: 20 });
    assert.deepEqual(
      value.results.map(({ agent_id, last_reply }) => [agent_id, last_reply]),
      [[id, 'did q']],
    );
    assert.equal(await second.end(), 0);
    const third = await startClient(home, model);
    assert.equal((await third.tool('wait', { timeout: 0 })).value.status, 'no_agents');
  });
});
