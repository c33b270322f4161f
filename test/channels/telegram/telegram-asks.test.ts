// Proves that a question shows a person everything that an approval would allow, and that only permitted people can answer its buttons, once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Ask } from '../../../src/records/conversation/ask.ts';
import type { KeptMessage } from '../../servers/telegram-book.ts';
import { until } from '../../until.ts';
import { ADA, askOf, onStage, parcelOf, STRANGER, type TelegramStage } from './telegram-stage.ts';

const ASK = askOf({ command: 'rm -rf dist && echo "*done*"' });
const BUTTONS = {
  inline_keyboard: [
    [
      { text: 'Allow once', callback_data: `y:${ASK.id}` },
      { text: 'From now on', callback_data: `s:${ASK.id}` },
      { text: 'Deny', callback_data: `n:${ASK.id}` },
    ],
  ],
};

async function show(stage: TelegramStage, ask: Ask): Promise<readonly KeptMessage[]> {
  stage.sessions.open.set('71', [ask]);
  const before = stage.texts().length;
  assert.equal((await stage.deliver(parcelOf('asks', { kind: 'ask', ask }))).type, 'delivered');
  return stage.server.book.messages(ADA.id).slice(before);
}

const coded = ({ text, entities }: KeptMessage) =>
  entities.flatMap(({ type, offset, length }) =>
    type === 'pre' ? [text.slice(offset, offset + length)] : [],
  );

describe('a question in a Telegram chat', () => {
  it(
    'shows who wants what, the command verbatim, the folder and the rule',
    onStage(async (stage) => {
      const [message] = await show(stage, ASK);
      assert.equal(
        message?.text,
        'file-reader wants: bash\nrm -rf dist && echo "*done*"\ncwd /project\nrule: ask(bash:rm *)\nFrom now on, for this agent: bash:rm -rf dist',
      );
      assert.deepEqual(coded(message as KeptMessage), ['rm -rf dist && echo "*done*"']);
      assert.deepEqual(message?.markup, BUTTONS);
    }),
  );

  it(
    'shows other arguments by their names, and a call that is no JSON as it is',
    onStage(async (stage) => {
      const input = { path: 'a.ts', text: '`x`\n' };
      const [written] = await show(stage, askOf(input, { tool: 'write', subject: 'a.ts' }));
      assert.deepEqual(coded(written as KeptMessage), ['a.ts', '`x`\n']);
      const [timed] = await show(stage, askOf({ command: 'make', timeout: 5 }, { subject: 'make' }));
      assert.deepEqual(coded(timed as KeptMessage), ['make', '5']);
      assert.match(timed?.text ?? '', /\ntimeout:\n5\n/);
      const [raw] = await show(stage, askOf('{"broken', { tool: 'write' }));
      assert.deepEqual(coded(raw as KeptMessage), ['{"broken']);
      const [empty] = await show(stage, askOf('', { tool: 'write' }));
      assert.deepEqual(coded(empty as KeptMessage), ['(no arguments)']);
      const [odd] = await show(stage, askOf({ command: ['ls'] }));
      assert.deepEqual(coded(odd as KeptMessage), [JSON.stringify(['ls'], null, 2)]);
    }),
  );

  it(
    'spells out invisible characters and those that change the order of others',
    onStage(async (stage) => {
      const [message] = await show(stage, askOf({ command: 'cat \u202etxt.exe\u200b\n\tend' }));
      assert.deepEqual(coded(message as KeptMessage), ['cat \\u{202e}txt.exe\\u{200b}\n\tend']);
      assert.match(message?.text ?? '', /hidden characters/);
      const [json] = await show(stage, askOf({ path: '\u2066x' }, { tool: 'write' }));
      assert.match(json?.text ?? '', /\\u\{2066\}x/);
    }),
  );

  it(
    'is shown whole even if it is long, the buttons below its end; of a huge one the middle is left out, and counted',
    onStage(async (stage) => {
      const command = Array.from({ length: 900 }, (_, line) => `echo line ${line}`).join('\n');
      const messages = await show(stage, askOf({ command }));
      assert.ok(messages.length > 2);
      assert.equal(messages.flatMap(coded).join('\n'), command);
      assert.deepEqual(
        messages.map(({ markup }) => markup !== null),
        messages.map((_, index) => index === messages.length - 1),
      );
      const huge = await show(stage, askOf({ command: `echo ${'x'.repeat(1_000_000)}; rm -rf ~` }));
      assert.ok(huge.length < 10, String(huge.length));
      assert.match(
        huge.at(-1)?.text ?? '',
        /rm -rf ~\nwhole: \/show a1b2c3d4, or coppice approvals show a1b2c3d4\ncwd/,
      );
      assert.match(huge.map(({ text }) => text).join(''), /\[… 980015 characters …\]/);
    }),
  );

  it(
    'that was answered before it arrived has no buttons',
    onStage(async (stage) => {
      const [message] = await show(stage, { ...ASK, verdict: 'deny' });
      assert.match(message?.text ?? '', /no longer waits: denied$/);
      assert.equal(message?.markup, null);
    }),
  );
});

describe('the buttons of a question', () => {
  const presses: readonly (readonly [string, string, object, string, string])[] = [
    ['Allow once', 'y', { verdict: 'allow', scope: 'once' }, 'allowed once', '✓ allowed by Ada'],
    [
      'From now on',
      's',
      { verdict: 'allow', scope: 'agent' },
      'allowed for this agent',
      '✓ allowed by Ada; for this agent from now on: bash:rm -rf dist',
    ],
    ['Deny', 'n', { verdict: 'deny', scope: 'once' }, 'denied', '✗ denied by Ada'],
  ];
  for (const [name, letter, verdict, told, line] of presses)
    it(
      `${name}: answers it, says so, and goes away`,
      onStage(async (stage) => {
        const [shown] = await show(stage, ASK);
        const message = shown as KeptMessage;
        const before = { text: message.text, entities: message.entities };
        await stage.listen();
        stage.server.updates.press(ADA, message, `${letter}:${ASK.id}`);
        await until(() => message.edits === 1, 'the edit');
        assert.deepEqual(stage.sessions.answers, [
          { ...verdict, note: '', by: 'telegram:71', ask: ASK.id, chat: '71' },
        ]);
        assert.equal(message.text, `${before.text}\n\n${line}`);
        assert.deepEqual(message.entities, before.entities);
        assert.equal(message.markup, null);
        await until(() => stage.server.called('answerCallbackQuery').length === 1, 'the notice');
        assert.equal(stage.server.called('answerCallbackQuery')[0]?.body.text, told);
      }),
    );

  it(
    'answer once: who comes later is told',
    onStage(async (stage) => {
      const [message] = await show(stage, ASK);
      await stage.listen();
      stage.server.updates.press(ADA, message as KeptMessage, `n:${ASK.id}`);
      await until(() => message?.edits === 1, 'the answer');
      stage.server.updates.press(ADA, message as KeptMessage, `y:${ASK.id}`);
      await until(() => message?.edits === 2, 'the second edit');
      assert.equal(stage.sessions.answers.length, 1);
      assert.match(message?.text ?? '', /\n\nalready answered$/);
      stage.sessions.open.clear();
      stage.server.updates.press(ADA, message as KeptMessage, `y:${ASK.id}`);
      await until(() => message?.edits === 3, 'the third edit');
      assert.match(message?.text ?? '', /\n\nno longer open$/);
    }),
  );

  it(
    'do nothing for strangers, and nothing with data that is not ours',
    onStage(async (stage) => {
      const [message] = await show(stage, ASK);
      await stage.listen();
      stage.server.updates.press(STRANGER, message as KeptMessage, `y:${ASK.id}`);
      for (const data of ['y:', 'x:a1b2c3d4-0000', `y:${ASK.id};`, 'approve', `Y:${ASK.id}`])
        stage.server.updates.press(ADA, message as KeptMessage, data);
      await until(() => stage.server.called('answerCallbackQuery').length === 5, 'the notices');
      assert.deepEqual(stage.sessions.answers, []);
      assert.equal(message?.edits, 0);
      assert.ok(
        stage.server.called('answerCallbackQuery').every(({ body }) => body.text === 'unknown button'),
      );
    }),
  );

  it(
    'wait for a ledger that is away',
    onStage(async (stage) => {
      const [message] = await show(stage, ASK);
      await stage.listen();
      await until(() => stage.sessions.kept.has('bot'), 'the start');
      stage.sessions.away = 3;
      stage.server.updates.press(ADA, message as KeptMessage, `y:${ASK.id}`);
      await until(() => message?.edits === 1, 'the edit');
      assert.equal(stage.sessions.missed, 3);
      assert.equal(stage.sessions.answers.length, 1);
    }),
  );

  it(
    'count even when nobody can be told',
    onStage(async (stage) => {
      const [message] = await show(stage, ASK);
      await stage.listen();
      stage.server.fail('answerCallbackQuery', {
        type: 'error',
        status: 400,
        description: 'Bad Request: query is too old',
      });
      stage.server.book.remove(ADA.id, message?.message_id ?? 0);
      stage.server.updates.press(ADA, message as KeptMessage, `y:${ASK.id}`);
      await until(() => stage.logged('warn').length === 2, 'both warnings');
      assert.equal(stage.sessions.answers.length, 1);
      stage.server.updates.write(ADA, 'still here');
      await until(() => stage.sessions.said.length === 1, 'the message');
    }),
  );
});
