/**
 * Proves that a client's call becomes a durable task, which outlives SIGKILL of the client's server and is collected later, and that approvals reach the
 * client's user.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { type McpClient, startClient, taskIn, writeRules } from './mcp-client.ts';

after(closeOpened);

const ASKING_SERVER = join(import.meta.dirname, '..', 'servers', 'mcp-asking-server.ts');
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const FORMS = { elicitation: { form: {} } };

const SLOW = [
  { when: { user: 'slow' }, delay_ms: 1_500, say: 'slowly did {{user.TASK (\\w+)}}' },
  { when: { user: 'hang' }, delay_ms: 60_000, say: 'late' },
  { say: 'did {{user.TASK (\\w+)}}' },
];
const TOUCH = [
  { when: { step: 0 }, calls: [{ name: 'bash', input: { command: 'touch made' } }] },
  { say: 'bash said {{results.bash.-1}}' },
];

async function begin(client: McpClient, tool: string, input: object): Promise<string> {
  const { result, error } = await client.ask('tools/call', { name: tool, arguments: input } as object);
  assert.equal(result?.resultType, 'task', JSON.stringify(error ?? result));
  return result.taskId as string;
}

function resultsOf(task: Record<string, unknown>): { status: string; message?: string }[] {
  const { content } = task.result as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '').results;
}

function formOf(task: Record<string, unknown>): { id: string; message: string } {
  const [[id, { params }] = ['', { params: { message: '' } }]] = Object.entries(
    task.inputRequests as Record<string, { params: { message: string } }>,
  );
  return { id, message: params.message };
}

describe('a call as a task', () => {
  it('is collected by another connection after both were killed in the middle of it', async () => {
    const home = makeHome();
    const model = writeRules(home, SLOW);
    const first = await startClient(home, model, { capabilities: TASKS });
    const tasks = await Promise.all([
      begin(first, 'spawn_agents', {
        tasks: [{ task: 'TASK a' }, { task: 'slow TASK b' }, { task: 'slow TASK c' }],
      }),
      begin(first, 'start_tree', { prompt: 'slow TASK d', name: 'd' }),
    ]);
    await taskIn(first, tasks[0] as string, ['working']);
    first.child.kill('SIGKILL');
    const second = await startClient(home, model, { capabilities: TASKS });
    const [spawned, tree] = await Promise.all(tasks.map((task) => taskIn(second, task, ['completed'])));
    assert.deepEqual(
      resultsOf(spawned as never).map(({ status, message }) => [status, message]),
      [
        ['received', 'did a'],
        ['received', 'slowly did b'],
        ['received', 'slowly did c'],
      ],
    );
    assert.match(JSON.stringify(tree), /slowly did d/);
    // The official client expects the complete result of the call.
    assert.equal((spawned as { result: { resultType?: string } }).result.resultType, 'complete');
    // Reading a task does not consume it.
    assert.deepEqual(await taskIn(second, tasks[0] as string, ['completed']), spawned);
  });

  it('asks the user of the client for approvals, and goes on with the answer', async () => {
    const home = makeHome();
    const client = await startClient(home, writeRules(home, TOUCH), { capabilities: { ...TASKS, ...FORMS } });
    const task = await begin(client, 'spawn_agents', { tasks: [{ task: 'do it', label: 'worker' }] });
    const { id, message } = formOf(await taskIn(client, task, ['input_required']));
    assert.match(message, /worker wants: bash\ncommand: touch made\nin /);
    const wrong = { [id]: { action: 'accept', content: { decision: 'of course' } }, nonsense: 5 };
    await client.ask('tasks/update', { taskId: task, inputResponses: wrong } as object);
    await client.ask('tasks/update', {
      taskId: task,
      inputResponses: { [id]: { action: 'cancel' } },
    } as object);
    assert.equal((await taskIn(client, task, ['input_required', 'completed'])).status, 'input_required');
    // The user of another client cannot answer it.
    const stranger = await startClient(home, writeRules(home, TOUCH), { name: 'stranger' });
    const foreign = { [id]: { action: 'accept', content: { decision: 'allow once' } } };
    await stranger.tool('list_agents', {}, { inputResponses: foreign });
    assert.equal((await taskIn(client, task, ['input_required', 'completed'])).status, 'input_required');
    const right = { [id]: { action: 'accept', content: { decision: 'allow once' } } };
    const { result } = await client.ask('tasks/update', { taskId: task, inputResponses: right } as object);
    assert.equal(result?.resultType, 'complete');
    const [row] = resultsOf(await taskIn(client, task, ['completed']));
    assert.equal(row?.status, 'received');
    assert.ok(existsSync(join(home.work, 'made')));
  });

  it('asks the user of the client what a tool asks, in the form of the tool', async () => {
    const home = makeHome();
    await home.run(['mcp', 'add', 'inn', '--', process.execPath, ASKING_SERVER, 'new']);
    const model = writeRules(home, [
      { when: { step: 0 }, calls: [{ name: 'inn__book', input: { day: 'monday' } }] },
      { say: 'booked: {{results.inn__book.-1}}' },
    ]);
    const capabilities = { ...TASKS, ...FORMS };
    const client = await startClient(home, model, { capabilities, args: ['--allow', 'inn__*'] });
    const task = await begin(client, 'spawn_agents', { tasks: [{ task: 'do it', label: 'worker' }] });
    const asked = await taskIn(client, task, ['input_required']);
    const { id, message } = formOf(asked);
    assert.match(message, /^worker wants: \S+\nthe MCP server inn asks: Which table\?/);
    const { params } = (asked.inputRequests as Record<string, { params: { requestedSchema: object } }>)[id]!;
    assert.deepEqual(params.requestedSchema, {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name', minLength: 2 },
        guests: { type: 'integer', minimum: 1, maximum: 8 },
        smoking: { type: 'boolean', default: false },
        room: { type: 'string', enum: ['hall', 'garden'] },
        extras: { type: 'array', items: { type: 'string', enum: ['cake', 'music'] } },
      },
      required: ['name', 'guests'],
    });
    const answer = (content: object) =>
      client.ask('tasks/update', {
        taskId: task,
        inputResponses: { [id]: { action: 'accept', content } },
      } as object);
    assert.match(
      (await answer({ name: 'Ada', guests: 9 })).error?.message ?? '',
      /"guests" must be at most 8/,
    );
    assert.equal((await taskIn(client, task, ['input_required', 'completed'])).status, 'input_required');
    assert.equal((await answer({ name: 'Ada', guests: 2, extras: ['cake'] })).error, undefined);
    const [row] = resultsOf(await taskIn(client, task, ['completed']));
    assert.match(row?.message ?? '', /"name":"Ada","guests":2,"smoking":false,"extras":\["cake"\]/);
  });

  it('is cancelled with its agents, and unknown names and clients without the extension get the errors of the specification', async () => {
    const home = makeHome();
    const client = await startClient(home, writeRules(home, SLOW), { capabilities: TASKS });
    const task = await begin(client, 'spawn_agents', { tasks: [{ task: 'hang' }] });
    await taskIn(client, task, ['working']);
    assert.equal((await client.ask('tasks/cancel', { taskId: task } as object)).error, undefined);
    await taskIn(client, task, ['cancelled']);
    const [kind, root, after_seq] = task.split('.');
    for (const taskId of [
      'x',
      `tree.${crypto.randomUUID()}`,
      `${kind}.${root}.${after_seq}.${crypto.randomUUID()}`,
    ])
      for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
        assert.equal(
          (await client.ask(method, { taskId, inputResponses: {} } as object)).error?.code,
          -32602,
        );
    const other = await startClient(home, writeRules(home, SLOW), { name: 'other' });
    assert.equal((await other.ask('tasks/get', { taskId: task } as object)).error?.code, -32021);
    const notifications = { taskIds: [task] };
    assert.equal((await other.ask('subscriptions/listen', { notifications } as object)).error?.code, -32021);
    const stranger = await startClient(home, writeRules(home, SLOW), {
      name: 'stranger',
      capabilities: TASKS,
    });
    assert.equal((await stranger.ask('tasks/get', { taskId: task } as object)).error?.code, -32602);
  });

  it('that was refused is completed with the error', async () => {
    const home = makeHome();
    const client = await startClient(home, writeRules(home, SLOW), { capabilities: TASKS });
    const { result } = await client.ask('tools/call', {
      name: 'spawn_agents',
      arguments: { tasks: [{ task: 'x', profile: 'none such' }] },
    } as object);
    assert.equal(result?.isError, true);
  });
});

describe('an approval during a call', () => {
  it('is asked of the user by the older protocol, in a request of the server', async () => {
    const home = makeHome();
    const asked: string[] = [];
    const client = await startClient(home, writeRules(home, TOUCH), {
      era: 'legacy',
      capabilities: { elicitation: {} },
      onElicit: ({ message }) => {
        asked.push(message);
        return { action: 'accept', content: { decision: 'deny', note: 'not today' } };
      },
    });
    // 16.1 s are 16100.000000000002 ms, and the ledger stores whole numbers.
    const tasks = [{ task: 'do it', label: 'worker', timeout_seconds: 16.1 }];
    const { value } = await client.tool('spawn_agents', { tasks });
    assert.match(asked.join(), /worker wants: bash\ncommand: touch made/);
    assert.match(value.results[0]?.message ?? '', /not today/);
    assert.ok(!existsSync(join(home.work, 'made')));
  });

  it('is asked of the user by the newer protocol, and the call goes on when it is repeated, without a second agent', async () => {
    const home = makeHome();
    const client = await startClient(home, writeRules(home, TOUCH), { capabilities: FORMS });
    const call = { name: 'spawn_agents', arguments: { tasks: [{ task: 'do it', label: 'worker' }] } };
    const { result } = await client.ask('tools/call', call);
    assert.equal(result?.resultType, 'input_required');
    const { id } = formOf(result as never);
    const inputResponses = { [id]: { action: 'accept', content: { decision: 'allow once' } } };
    const { result: done } = await client.ask('tools/call', {
      ...call,
      inputResponses,
      requestState: result?.requestState,
    } as object);
    assert.match(JSON.stringify(done), /received/);
    assert.ok(existsSync(join(home.work, 'made')));
    assert.equal((await client.tool('list_agents', { all: true })).value.agents.length, 1);
    const forged = await client.ask('tools/call', {
      ...call,
      inputResponses,
      requestState: '{"ids":7}',
    } as object);
    assert.equal(forged.error?.code, -32602);
  });

  it('is left to a person elsewhere where the client cannot show forms, and the result says so', async () => {
    const home = makeHome();
    const client = await startClient(home, writeRules(home, TOUCH), { args: ['--max-wait', '1'] });
    const { value } = await client.tool('spawn_agents', { tasks: [{ task: 'do it', label: 'worker' }] });
    assert.deepEqual(
      value.approvals?.map(({ wants }) => wants),
      ['bash: touch made'],
    );
    const { approvals } = JSON.parse((await home.run(['approvals', 'list', '--json'])).stdout);
    assert.equal((await home.run(['approvals', 'allow', approvals[0].id])).code, 0);
    const { value: later } = await client.tool('wait', { from_agents: ['worker'], timeout: 20 });
    assert.equal(later.results[0]?.status, 'received');
  });
});
