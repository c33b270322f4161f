// Proves with the whole program and its usual settings what a model is sent: few tokens, no noise, a parameter or tool only where it can be used, and the same
// bytes in each request of an agent and of its forks. What is not sent is accepted all the same.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import { makeHome } from '../run-cli.ts';
import { AIMS, type SentRequest, sentToModel } from './sent-to-model.ts';

const OWN = { name: 'Coppice', email: 'coppice@localhost' };

function repository() {
  const home = makeHome();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', `user.name=${OWN.name}`, '-c', `user.email=${OWN.email}`, ...args], {
      cwd: home.work,
    });
  git('init', '-q');
  return { home, git };
}

function tool(sent: readonly SentRequest[], name: string) {
  return sent[0]?.tools.find((one) => one.function.name === name)?.function;
}

function parameters(sent: readonly SentRequest[], name: string): readonly string[] {
  return Object.keys(tool(sent, name)?.parameters.properties ?? {});
}

const names = (sent: readonly SentRequest[]) => sent[0]?.tools.map((one) => one.function.name) ?? [];

describe('what a model is sent', () => {
  for (const [toolset, aim] of Object.entries(AIMS))
    it(`is at most ${aim} tokens with ${toolset}, without noise`, async () => {
      const { home, git } = repository();
      git('commit', '-q', '--allow-empty', '-m', 'first');
      const sent = await sentToModel(home, toolset);
      assert.ok((sent[0]?.tokens ?? aim + 1) <= aim, `${sent[0]?.tokens} tokens`);
      assert.doesNotMatch(
        JSON.stringify(sent[0]?.tools),
        /"(?:maximum|minimum|exclusiveMinimum|minLength|maxItems|additionalProperties|propertyNames|\$schema)"|9007199254740991|"null"/,
      );
    });

  it('has a parameter only where it can be used', async () => {
    const { home, git } = repository();
    assert.deepEqual(parameters(await sentToModel(home, 'process'), 'fork'), ['name', 'prompt', 'profile']);
    git('commit', '-q', '--allow-empty', '-m', 'first');
    const more = await sentToModel(home, 'process', {
      flags: ['--limit', 'tokens=1000000'],
      configuration: {
        agents: {
          defaults: { subagents: { models: ['local/m', 'local/small'], parameters: ['read_first'] } },
        },
      },
    });
    const fork = tool(more, 'fork')?.parameters.properties ?? {};
    assert.deepEqual(Object.keys(fork), [
      ...['name', 'prompt', 'profile', 'model', 'read_first', 'worktree', 'budget'],
    ]);
    assert.deepEqual((fork.profile as { enum?: unknown }).enum, ['explore', 'work']);
    assert.deepEqual((fork.model as { enum?: unknown }).enum, ['local/m', 'local/small']);
  });

  it('has what the profile of the agent asks for', async () => {
    const home = makeHome();
    const asking = { agents: { asking: { parameters: ['output_schema'] } } };
    const flags = ['--profile', 'asking'];
    const sent = await sentToModel(home, 'sessions', { configuration: asking, flags });
    assert.deepEqual(parameters(sent, 'sessions_spawn'), [
      ...['task', 'label', 'timeoutSeconds', 'cleanup', 'profile', 'output_schema'],
    ]);
  });

  it('has a tool only where it is of use', async () => {
    const home = makeHome();
    const plain = await sentToModel(home, 'delegate');
    assert.deepEqual(names(plain), [
      ...['bash', 'patch', 'read', 'search', 'subagent_spawn', 'think', 'web_fetch', 'write'],
    ]);
    const more = await sentToModel(home, 'delegate', {
      configuration: { acp: { coder: { command: 'true' } }, agents: { defaults: { thinking: 'low' } } },
    });
    assert.ok(names(more).includes('subagent_delegate'));
    assert.ok(!names(more).includes('think'));
    assert.ok(!names(await sentToModel(home, 'sessions')).includes('cron'));
  });

  it('has schedules only while a server lives, not after one that died a moment ago', async () => {
    const { home } = repository();
    const store = await openStore(home.database);
    const { pid } = spawnSync('true');
    for (const [there, has] of [
      [pid, false],
      [process.pid, true],
    ] as const) {
      await store.heartbeat({ id: `serve-${there}`, host: hostname(), pid: there, role: 'serve' });
      assert.equal(names(await sentToModel(home, 'sessions')).includes('cron'), has);
    }
    await store.close();
  });

  it('is the same in each request of an agent and of its fork', async () => {
    const { home, git } = repository();
    const sent = await sentToModel(home, 'process', {
      answers: [
        [{ name: 'fork', input: { name: 'kid', prompt: 'look' } }],
        [{ name: 'read', input: { path: '.' } }],
      ],
      onRequest: () => git('commit', '-q', '--allow-empty', '-m', 'one more'),
    });
    assert.ok(sent.length >= 3);
    const [first] = sent.map(({ system, tools }) => JSON.stringify([system, tools]));
    for (const { system, tools } of sent) assert.equal(JSON.stringify([system, tools]), first);
  });

  it('is less than what is accepted', async () => {
    const home = makeHome();
    writeFileSync(join(home.work, 'notes.txt'), 'the notes');
    const sent = await sentToModel(home, 'process', {
      answers: [[{ name: 'fork', input: { name: 'kid', prompt: 'look', read_first: ['notes.txt'] } }]],
    });
    assert.ok(sent.length >= 3, 'the fork worked');
  });
});
