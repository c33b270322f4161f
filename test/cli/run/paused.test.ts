// Proves how a run without a terminal ends when its provider takes no requests, what ps says, and how a person goes on.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { standstillOf } from '../../../src/cli/run/ending/stopped-run.ts';
import type { AgentDocument } from '../../../src/documents/shapes/agent-parts.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { REFUSALS } from '../../runtime/quota/limited-server.ts';
import type { Fault } from '../../servers/brain.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

afterEach(closeOpened);

async function limitedHome() {
  const home = makeHome();
  const now: { fault: Fault | null; hold?: Promise<unknown> } = { fault: null };
  let asked = 0;
  const server = await startOpenAiChatServer({
    answer: async ({ body }) => {
      asked += 1;
      await now.hold;
      return now.fault === null ? { text: `answered by ${body.model}` } : { fault: now.fault };
    },
  });
  closeLater(() => server.close());
  const provider = { type: 'openai-compatible', baseURL: `${server.url}/v1` };
  home.configure({
    model: 'one/any',
    providers: { one: { ...provider, apiKeyEnv: 'ONE' }, two: { ...provider, apiKeyEnv: 'TWO' } },
  });
  const env = { ...home.env, ONE: 'key-one', TWO: 'key-two' };
  return {
    ...home,
    run: (...args: string[]) => home.run(args, { env }),
    start: (...args: string[]) => home.start(args, { env }),
    now,
    asked: () => asked,
  };
}

it('ends with 75 and says until when, respects the time when it is resumed, and goes on at once with --retry', async () => {
  const { run, now, asked } = await limitedHome();
  now.fault = REFUSALS.hour;
  const paused = await run('run', 'go');
  assert.equal(paused.code, 75, paused.stderr);
  assert.match(
    paused.stderr,
    /waiting for one's quota until \d\d:\d\d; nothing is lost, continue with: coppice resume/,
  );
  const listed = await run('ps');
  assert.match(listed.stdout, /waiting for one's quota until \d\d:\d\d/);
  const { agents } = JSON.parse((await run('ps', '--json')).stdout) as {
    agents: { paused: { spent: string } }[];
  };
  assert.equal(agents[0]?.paused.spent, 'quota');
  now.fault = null;
  assert.equal((await run('resume')).code, 75, 'it waits for the same time');
  assert.equal(asked(), 1);
  const resumed = await run('resume', '--retry');
  assert.deepEqual([resumed.code, resumed.stdout.trim()], [0, 'answered by any'], resumed.stderr);
});

it('an agent that asks again is at work, and the process waits for an answer that takes its time', async () => {
  const { run, start, now } = await limitedHome();
  now.fault = REFUSALS.hour;
  assert.equal((await run('run', 'go')).code, 75);
  const answer = Promise.withResolvers<void>();
  [now.fault, now.hold] = [null, answer.promise];
  const { ended } = start('resume', '--retry');
  let is_over = false;
  void ended.then(() => {
    is_over = true;
  });
  const outcome = async () => JSON.parse((await run('ps', '--json')).stdout).agents[0].outcome;
  await until(async () => is_over || (await outcome()) === 'working', 'the agent is at work');
  answer.resolve();
  const { code, stdout } = await ended;
  assert.deepEqual([code, stdout.trim()], [0, 'answered by any']);
});

it('does not end as an agent stood before it asked again, however long that takes, nor while one asks whose time has come', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.parse('2026-01-01T12:00:00Z') });
  const pause = { spent: 'credit', tries: 1, until: '2026-01-01T12:10:00.000Z' };
  const agent = (updated_at: string, paused: object = pause) =>
    ({ id: 'a', parent_id: null, outcome: 'waiting', updated_at, paused }) as unknown as AgentDocument;
  const newest = new Map([['a', agent('before')]]);
  let ended: AgentDocument | undefined;
  const standstill = standstillOf(newest, new Map([['a', 'before']]));
  void standstill.promise.then((found) => {
    ended = found;
  });
  const pass = async () => {
    context.mock.timers.tick(60_000);
    await Promise.resolve();
    return ended?.updated_at;
  };
  assert.equal(await pass(), undefined);
  newest.set('a', agent('asks', { ...pause, until: '2026-01-01T12:00:30.000Z' }));
  assert.equal(await pass(), undefined);
  newest.set('a', agent('refused'));
  assert.equal(await pass(), 'refused');
  standstill.dispose();
});

it('a scheduled run that waits for its provider says so in the history and in lists, as the tree does', async () => {
  const { run, now } = await limitedHome();
  now.fault = REFUSALS.hour;
  await run('cron', 'add', 'job', '--every', '1d', '--task', 'go');
  assert.equal((await run('cron', 'run', 'job')).code, 75);
  const text = /waiting for one's quota until \d\d:\d\d/;
  assert.match((await run('cron', 'runs', 'job')).stdout, text);
  const { runs } = JSON.parse((await run('subagent', 'list', '--json')).stdout);
  assert.equal(runs[0].outcome, 'waiting');
  assert.match(runs[0].outcome_text, text);
  const { stdout } = await run('subagent', 'show', runs[0].id, '--json');
  assert.equal(JSON.parse(stdout).outcome, 'waiting');
});

it('tells in JSON that it is paused; another model answers', async () => {
  const { run, now } = await limitedHome();
  now.fault = REFUSALS.credit;
  const paused = await run('run', 'go', '--json');
  const document = JSON.parse(paused.stdout) as Record<string, unknown> & {
    error: { code: string; hint: string };
  };
  assert.deepEqual([paused.code, document.outcome, document.error.code], [75, 'waiting', 'paused']);
  const { hint } = document.error;
  assert.match(hint, /coppice resume \S+ \(once there is credit, or with --model PROVIDER\/MODEL\)$/);
  now.fault = null;
  const resumed = await run('resume', '--model', 'two/other');
  assert.deepEqual([resumed.code, resumed.stdout.trim()], [0, 'answered by other']);
});

it('fails at once with 4 where the key of a new run is wrong', async () => {
  const { run, now } = await limitedHome();
  now.fault = REFUSALS.key;
  const { code, stderr } = await run('run', 'go');
  assert.equal(code, 4);
  assert.match(stderr, /failed: auth: 401/);
});

it('ends when a person pauses a workflow whose agent asks; what is printed goes on, and asks again', async () => {
  const { run, start, work } = await limitedHome();
  writeFileSync(
    join(work, 'asking.js'),
    `export const meta = { name: 'asking', description: 'asks' }
return await ask('good?', { choices: ['yes', 'no'] })`,
  );
  const { ended } = start('workflow', 'run', 'asking.js', '--allow', 'workflow:asking', '--ask');
  const open = async (): Promise<string | undefined> =>
    JSON.parse((await run('approvals', '--json')).stdout).approvals[0]?.id;
  let first: string | undefined;
  await until(async () => {
    first = await open();
    return first !== undefined;
  }, 'the question');
  const paused = await run('workflow', 'pause', 'asking');
  const left = await ended;
  assert.equal(left.code, 75, left.stderr);
  for (const told of [paused.stdout, left.stderr])
    assert.match(told, /coppice workflow resume \w{8} --ask\b/);
  const [, command = ''] = /coppice (workflow resume \w{8} --ask)/.exec(left.stderr) ?? [];
  const again = start(...command.split(' '));
  // Until the run is led again, the first one stands there still.
  let id = first;
  await until(async () => {
    id = await open();
    return id !== undefined && id !== first;
  }, 'the same question');
  await run('approvals', 'allow', id as string, 'yes');
  assert.deepEqual([(await again.ended).code, (await again.ended).stdout], [0, 'yes\n']);
});

it('says in the list what a workflow waits for, although its agents are not in it, once for all of them', async () => {
  const { run, now, work } = await limitedHome();
  now.fault = REFUSALS.credit;
  writeFileSync(
    join(work, 'story.js'),
    `export const meta = { name: 'story', description: 'asks' }
return await parallel([() => agent('one'), () => agent('two')])`,
  );
  assert.equal((await run('workflow', 'run', 'story.js', '--yes')).code, 75);
  const { stdout } = await run('ps');
  assert.equal(stdout.match(/waiting for credit at one \(next try at/g)?.length, 1, stdout);
});
