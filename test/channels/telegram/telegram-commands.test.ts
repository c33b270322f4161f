// Proves what the commands of a Telegram chat do and reply, and that plain text is never treated as a command.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentLine } from '../../../src/channels/channel.ts';
import { until } from '../../until.ts';
import { ADA, askOf, GROUP, onStage, type TelegramStage } from './telegram-stage.ts';

const line = (
  name: string,
  depth: number,
  status: AgentLine['status'],
  doing: string | null = null,
): AgentLine => ({
  id: `${name}-id`,
  name,
  depth,
  status,
  doing,
});
const ONE = 'a1b2c3d4-0000-4000-8000-000000000001';
const TWO = 'a1b2ffff-0000-4000-8000-000000000002';

/** Writes a message and returns the bot's answer. */
async function ask(stage: TelegramStage, text: string, chat = ADA.id): Promise<string> {
  const before = stage.texts(chat).length;
  stage.server.updates.write(ADA, text, chat);
  await until(() => stage.texts(chat).length > before, `an answer to ${text}`);
  return stage.texts(chat).at(-1) ?? '';
}

function inChat(play: (stage: TelegramStage) => Promise<void>): () => Promise<void> {
  return onStage(async (stage) => {
    stage.sessions.lines.set('71', [
      line('main', 0, 'running', 'bash: npm test'),
      line('reader', 1, 'idle'),
      line('grep', 2, 'waiting', 'wait 1 agent'),
      line('tester', 1, 'error'),
    ]);
    await stage.listen();
    await play(stage);
    assert.deepEqual(stage.sessions.said, []);
  });
}

describe('commands of a Telegram chat', () => {
  it(
    '/start and /help say what can be said',
    inChat(async (stage) => {
      for (const text of ['/start', '/help', '/HELP', '/help@copse_bot', '/help@COPSE_BOT now'])
        assert.match(await ask(stage, text), /Write a message[\s\S]*\/agents[\s\S]*\/deny ID \[reason\]/);
    }),
  );

  it(
    '/agents lists them, names first, with sign and word',
    inChat(async (stage) => {
      assert.equal(
        await ask(stage, '/agents'),
        'main ◐ running · bash: npm test\n└ reader ○ idle\n  └ grep ◔ waiting · wait 1 agent\n└ tester ! error',
      );
      assert.equal(stage.server.book.messages(ADA.id).at(-1)?.entities[0]?.type, 'bold');
      assert.match(await ask(stage, '/agents', GROUP), /no agents in this chat/);
    }),
  );

  it(
    '/kill asks whom, kills, and says how many descendants went with it',
    inChat(async (stage) => {
      assert.match(await ask(stage, '/kill'), /^Which agent\? .*\nmain ◐/);
      assert.equal(await ask(stage, '/kill reader'), 'killed reader and 1 descendant');
      assert.equal(await ask(stage, '/kill tester'), 'killed tester');
      assert.equal(await ask(stage, '/kill nobody'), 'no agent called "nobody"\nSee: /agents');
      assert.equal(await ask(stage, '/kill main'), 'killed main');
      assert.deepEqual(stage.sessions.killed, ['reader', 'tester', 'main']);
    }),
  );

  it(
    '/stop interrupts, /new begins anew',
    inChat(async (stage) => {
      assert.equal(await ask(stage, '/stop'), 'stopped');
      assert.match(await ask(stage, '/stop', GROUP), /nothing to stop/);
      assert.match(await ask(stage, '/new'), /has ended/);
      assert.match(await ask(stage, '/new'), /there was no session/);
      assert.deepEqual(stage.sessions.renewed, ['71', '71']);
    }),
  );

  it(
    '/approve and /deny without an id answer nothing, not even the only one that waits: its person may not have seen it',
    inChat(async (stage) => {
      assert.equal(await ask(stage, '/approve'), 'nothing waits for you');
      const asks = [
        askOf({ command: 'ls' }, { id: ONE, subject_kind: null }),
        askOf({ command: 'rm' }, { id: TWO }),
      ];
      const how = '\n/show ID\n/approve ID [always | answer | name=value …]\n/deny ID [reason]';
      const lines = [
        'a1b2c3d4 file-reader wants bash: rm -rf dist\n',
        'a1b2ffff file-reader wants bash: rm -rf dist\n  always: bash:rm -rf dist\n',
      ];
      for (const open of [asks, asks.slice(1)]) {
        stage.sessions.open.set('71', open);
        const list = lines.slice(asks.length - open.length).join('') + how;
        for (const text of [
          '/approve',
          '/approve always',
          '/deny',
          '/deny because',
          '/deny dead wrong',
          '/approvals',
          '/show',
        ])
          assert.equal(await ask(stage, text), list, text);
      }
      assert.deepEqual(stage.sessions.answers, []);
      stage.sessions.open.set('71', asks);
      assert.equal(await ask(stage, '/approve A1B2C3'), '✓ allowed: file-reader, bash');
      assert.equal(await ask(stage, '/deny a1b2ff no, not\nthat'), '✗ denied: file-reader, bash');
      assert.deepEqual(
        stage.sessions.answers.map(({ ask: id, verdict, scope, note, by }) => [id, verdict, scope, note, by]),
        [
          [ONE, 'allow', 'once', '', 'telegram:71'],
          [TWO, 'deny', 'once', 'no, not\nthat', 'telegram:71'],
        ],
      );
    }),
  );

  it(
    '/show sends the whole of a call whose middle was left out',
    inChat(async (stage) => {
      const command = `echo ${'x'.repeat(30_000)}; touch in-the-middle; echo ${'y'.repeat(30_000)}`;
      stage.sessions.open.set('71', [askOf({ command }, { id: ONE })]);
      stage.server.updates.write(ADA, '/show a1b2c3d4');
      await until(() => stage.texts().some((text) => text.endsWith('bash:rm -rf dist')), 'the last message');
      assert.ok(stage.texts().join('').replaceAll('\n', '').includes(command));
      assert.deepEqual(stage.sessions.answers, []);
    }),
  );

  it(
    '/approve ID always and /deny ID reason reach that one',
    inChat(async (stage) => {
      stage.sessions.open.set('71', [askOf({}, { id: ONE }), askOf({}, { id: TWO })]);
      assert.match(await ask(stage, '/approve A1B2C3D4 Always'), /for this agent from now on/);
      assert.match(await ask(stage, '/deny a1b2ffff too risky'), /denied/);
      assert.deepEqual(
        stage.sessions.answers.map(({ ask: id, scope, note }) => [id, scope, note]),
        [
          [ONE, 'agent', ''],
          [TWO, 'once', 'too risky'],
        ],
      );
    }),
  );

  it(
    'never answer another question than the one that was named',
    inChat(async (stage) => {
      stage.sessions.open.set('71', [askOf({}, { id: ONE })]);
      assert.equal(await ask(stage, '/approve ffff1234'), 'no approval "ffff1234"');
      assert.equal(await ask(stage, '/deny ffff1234 why'), 'no approval "ffff1234"');
      assert.match(await ask(stage, '/approve a1b2c3d4 please'), /^write \/approve/);
      assert.match(await ask(stage, '/approve yes'), /^write \/approve|wants/);
      assert.deepEqual(stage.sessions.answers, []);
      const question = { asker: 'the workflow', message: 'Which?', fields: [], call: '' };
      stage.sessions.open.set('71', [askOf(question, { id: ONE, subject_kind: 'question' })]);
      await ask(stage, '/approve a1b2c3d4 deep red');
      assert.deepEqual(
        stage.sessions.answers.map(({ values }) => values),
        [{ '': 'deep red' }],
      );
    }),
  );

  it(
    'that are unknown are answered with those that are known',
    inChat(async (stage) => {
      assert.match(await ask(stage, '/reboot now'), /^no such command: \/reboot\n\n\/help – /);
    }),
  );

  it(
    'that are meant for another bot are ignored',
    inChat(async (stage) => {
      stage.server.updates.write(ADA, '/stop@other_bot', GROUP);
      stage.server.updates.write(ADA, '/unknown@other_bot', GROUP);
      stage.server.updates.write(ADA, '/help@copse_bot', GROUP);
      await until(() => stage.texts(GROUP).some((text) => text.startsWith('Write a')), 'the answer to ours');
      assert.equal(stage.texts(GROUP).length, 1);
      assert.deepEqual(stage.sessions.interrupted, []);
    }),
  );

  it(
    'are answered in order, after a pause that Telegram asks for',
    inChat(async (stage) => {
      stage.server.fail('sendMessage', { type: 'flood', retry_after: 0.3 });
      stage.server.updates.write(ADA, '/help');
      stage.server.updates.write(ADA, '/stop');
      stage.server.fail('sendMessage', { type: 'error', status: 500, description: 'trouble' });
      await until(() => stage.texts().length === 2, 'both answers');
      assert.deepEqual(
        stage.texts().map((text) => text.slice(0, 7)),
        ['Write a', 'stopped'],
      );
      assert.deepEqual(stage.server.hasty, []);
    }),
  );
});

describe('plain text of a Telegram chat', () => {
  it(
    'is no command and no consent',
    onStage(async (stage) => {
      stage.sessions.open.set('71', [askOf({}, { id: ONE })]);
      await stage.listen();
      const texts = [
        'yes',
        'approve',
        'y',
        `y:${ONE}`,
        'please /approve',
        '/etc/hosts is wrong',
        '/ stop',
        '//stop',
        'allow once',
      ];
      for (const text of texts) stage.server.updates.write(ADA, text);
      await until(() => stage.sessions.said.length === texts.length, 'all messages');
      assert.deepEqual(
        stage.sessions.said.map(({ text }) => text),
        texts,
      );
      assert.deepEqual(stage.sessions.answers, []);
    }),
  );
});
