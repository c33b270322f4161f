// Proves that parcels arrive whole and in order in the chats of a bot, that a crash repeats at most one message, and that nothing is sent while Telegram asks
// the bot to wait.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliverResult } from '../../../src/channels/channel.ts';
import type { Run } from '../../../src/records/run/run.ts';
import type { TelegramFault } from '../../servers/telegram-server.ts';
import { until } from '../../until.ts';
import { ADA, GROUP, onStage, parcelOf, type TelegramStage } from './telegram-stage.ts';

const DELIVERED: DeliverResult = { type: 'delivered' };
const bare = (text: string) => text.replaceAll(/\s/g, '');

/** Prose and code of about 20,000 characters. */
function longAnswer(): { readonly markdown: string; readonly text: string; readonly code: string } {
  const code = Array.from({ length: 300 }, (_, line) => `  const value_${line} = ${line};`).join('\n');
  const prose = Array.from(
    { length: 60 },
    (_, n) => `Paragraph ${n} says **something** of ${'value '.repeat(30)}here.`,
  );
  const before = prose.slice(0, 30).join('\n\n');
  const after = prose.slice(30).join('\n\n');
  return {
    markdown: `${before}\n\n\`\`\`ts\n${code}\n\`\`\`\n\n${after}`,
    text: `${before}${code}${after}`.replaceAll('**', ''),
    code,
  };
}

describe('a parcel for a Telegram chat', () => {
  it(
    'arrives as text with formatting entities, without link previews',
    onStage(async (stage) => {
      const saved: string[] = [];
      assert.deepEqual(
        await stage.deliver(parcelOf('**Done**: see https://x.org/a_b'), { saved }),
        DELIVERED,
      );
      const [message] = stage.server.book.messages(ADA.id);
      assert.equal(message?.text, 'Done: see https://x.org/a_b');
      assert.deepEqual(message?.entities, [{ type: 'bold', offset: 0, length: 4 }]);
      const [call] = stage.server.called('sendMessage');
      assert.deepEqual(call?.body.link_preview_options, { is_disabled: true });
      assert.equal('parse_mode' in (call?.body ?? {}), false);
      assert.deepEqual(
        saved.map((one) => JSON.parse(one)),
        [{ sent: 1, message_ids: [message?.message_id] }],
      );
    }),
  );

  it(
    'of 20,000 characters arrives complete, in order, and its code stays code',
    onStage(async (stage) => {
      const { markdown, text, code } = longAnswer();
      assert.ok(markdown.length > 20_000);
      const saved: string[] = [];
      assert.deepEqual(await stage.deliver(parcelOf(markdown), { saved }), DELIVERED);
      const messages = stage.server.book.messages(ADA.id);
      assert.equal(bare(stage.texts().join('')), bare(text));
      assert.ok(messages.length >= 5 && messages.every((message) => message.text.length <= 4096));
      assert.deepEqual(
        saved.map((one) => JSON.parse(one).sent),
        messages.map((_, index) => index + 1),
      );
      const blocks = messages.flatMap((message) =>
        message.entities
          .filter(({ type, language }) => type === 'pre' && language === 'ts')
          .map(({ offset, length }) => message.text.slice(offset, offset + length)),
      );
      assert.ok(blocks.length > 1);
      assert.equal(blocks.join('\n'), code);
    }),
  );

  it(
    'about a run ends with the id of the run',
    onStage(async (stage) => {
      const run = { id: 'a1b2c3d4-0000-4000-8000-000000000001' } as Run;
      await stage.deliver(parcelOf('**Nightly** completed\n\n```\nall fine\n```', { kind: 'run', run }));
      assert.deepEqual(stage.texts(), ['Nightly completed\n\nall fine\n· a1b2c3d4']);
      await stage.deliver(parcelOf('a reply', { run }));
      assert.equal(stage.texts()[1], 'a reply');
    }),
  );

  it(
    'of hostile Markdown is never refused',
    onStage(async (stage) => {
      const hostile = [
        '**a *b `c',
        '`'.repeat(9000),
        '*'.repeat(9000),
        `${'_*'.repeat(3000)}x`,
        '> '.repeat(3000),
        '[x](http://[::',
        '[y](tg:)',
        '<b>not bold</b><!--',
        '\u202eright to left\u202c مرحبا',
        '👩‍👩‍👧‍👦'.repeat(1000),
        `e${'\u0301'.repeat(5000)}`,
        '\u200b',
        '---',
        '```\n```',
        '|a|b|\n|-|-|\n|*c|`d|',
        '\ud83d half',
        '![](http://x.org)',
        '**\u200b**',
        `${'*i* '.repeat(400)}`,
        '\\_escaped\\_ __init__ snake_case',
        '&lt;&#0;',
        `[${'l'.repeat(5000)}](http://x.org)`,
        '\u0000\u0007bell',
        // Each line is nested one level deeper: parsing it as a list would take seconds.
        Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(2 * depth)}- a`)
          .join('\n')
          .slice(0, 60_000),
      ];
      for (const text of hostile)
        assert.deepEqual(await stage.deliver(parcelOf(text)), DELIVERED, text.slice(0, 40));
      assert.deepEqual(
        stage.server.calls.filter(({ status }) => status !== 200),
        [],
      );
      assert.ok(stage.texts().includes('**a *b `c'));
      assert.ok(stage.texts().includes('<b>not bold</b><!--'));
      assert.ok(stage.texts().includes('(no text)'));
    }),
  );

  it(
    'arrives without its formatting where Telegram rejects it',
    onStage(async (stage) => {
      stage.server.fail('sendMessage', {
        type: 'error',
        status: 400,
        description: "Bad Request: can't parse entities: odd",
      });
      assert.deepEqual(await stage.deliver(parcelOf('**bold**')), DELIVERED);
      assert.deepEqual(
        stage.server.book.messages(ADA.id).map(({ text, entities }) => [text, entities.length]),
        [['bold', 0]],
      );
    }),
  );

  it(
    'is not interleaved with the messages of another one',
    onStage(async (stage) => {
      const [one, other] = ['a', 'b'].map((letter) => `${letter} `.repeat(10_000)) as [string, string];
      assert.deepEqual(await Promise.all([stage.deliver(parcelOf(one)), stage.deliver(parcelOf(other))]), [
        DELIVERED,
        DELIVERED,
      ]);
      const order = stage
        .texts()
        .map((text) => text[0])
        .join('');
      assert.match(order, /^(?:a+b+|b+a+)$/);
    }),
  );
});

describe('an interrupted delivery', () => {
  const markdown = longAnswer().markdown;

  /** Makes the next attempt, with the recorded progress, and asserts that it delivers. */
  async function carryOn(stage: TelegramStage, progress: string | null): Promise<void> {
    assert.deepEqual(await stage.deliver(parcelOf(markdown, { progress, attempt: 2 })), DELIVERED);
  }

  async function wholeTexts(): Promise<readonly string[]> {
    let texts: readonly string[] = [];
    await onStage(async (stage) => {
      await carryOn(stage, null);
      texts = stage.texts();
    })();
    return texts;
  }

  it(
    'repeats one message at most when the process died before it was noted',
    onStage(async (stage) => {
      const whole = await wholeTexts();
      let noted: string | null = null;
      const result = await stage.channel.deliver(parcelOf(markdown), {
        signal: new AbortController().signal,
        saveProgress: async (progress) => {
          if (JSON.parse(progress).sent === 3) throw new Error('the claim was lost');
          noted = progress;
        },
      });
      assert.equal(result.type, 'retry');
      assert.equal(stage.texts().length, 3);
      await stage.restart();
      await carryOn(stage, noted);
      assert.deepEqual(stage.texts(), whole.toSpliced(2, 0, whole[2] as string));
    }),
  );

  it(
    'repeats one message at most when its answer was lost',
    onStage(async (stage) => {
      const whole = await wholeTexts();
      const saved: string[] = [];
      await stage.deliver(parcelOf('first'));
      stage.server.fail('sendMessage', { type: 'drop', when: 'after' });
      const result = await stage.deliver(parcelOf(markdown), { saved });
      assert.equal(result.type, 'retry');
      assert.deepEqual(saved, []);
      await carryOn(stage, null);
      assert.deepEqual(stage.texts(), ['first', whole[0], ...whole]);
    }),
  );

  it(
    'repeats nothing where all was noted, and everything where the note is invalid',
    onStage(async (stage) => {
      const saved: string[] = [];
      await stage.deliver(parcelOf('once'), { saved });
      assert.deepEqual(await stage.deliver(parcelOf('once', { progress: saved[0] ?? null })), DELIVERED);
      assert.deepEqual(stage.texts(), ['once']);
      for (const progress of ['no json', '{}', '{"sent":-1,"message_ids":[]}', 'null'])
        assert.deepEqual(await stage.deliver(parcelOf('again', { progress })), DELIVERED);
      assert.equal(stage.texts().length, 5);
    }),
  );
});

describe('Telegram in trouble', () => {
  it(
    'asks to wait: nothing is sent to anybody before, then all of it',
    onStage(async (stage) => {
      stage.server.fail('sendMessage', { type: 'flood', retry_after: 1 });
      const first = await stage.deliver(parcelOf('held'));
      assert.ok(first.type === 'retry' && first.after_ms === 1000);
      const other = await stage.deliver(parcelOf('held too', { address: String(GROUP) }));
      assert.ok(
        other.type === 'retry' && other.after_ms !== null && other.after_ms > 0 && other.after_ms <= 1000,
      );
      assert.equal(stage.server.calls.length, 1);
      await sleep(first.after_ms);
      await sleep(5);
      assert.deepEqual(await stage.deliver(parcelOf('held', { attempt: 2 })), DELIVERED);
      assert.deepEqual(
        await stage.deliver(parcelOf('held too', { address: String(GROUP), attempt: 2 })),
        DELIVERED,
      );
      assert.deepEqual(stage.server.hasty, []);
    }),
  );

  it(
    'asks to wait in the middle: what was sent stays sent',
    onStage(async (stage) => {
      const { markdown, text } = longAnswer();
      const saved: string[] = [];
      await stage.deliver(parcelOf('x'));
      const parcel = parcelOf(markdown);
      await stage.channel.deliver(parcel, {
        signal: new AbortController().signal,
        saveProgress: async (progress) => {
          saved.push(progress);
          if (saved.length === 2) stage.server.fail('sendMessage', { type: 'flood', retry_after: 0.2 });
        },
      });
      assert.equal(saved.length, 2);
      await sleep(250);
      assert.deepEqual(await stage.deliver({ ...parcel, progress: saved.at(-1) ?? null }), DELIVERED);
      assert.equal(bare(stage.texts().slice(1).join('')), bare(text));
      assert.deepEqual(stage.server.hasty, []);
    }),
  );

  const passing: readonly (readonly [string, TelegramFault])[] = [
    ['a server error', { type: 'error', status: 500, description: 'Internal Server Error' }],
    ['a page of a proxy', { type: 'page', status: 502 }],
    ['a connection that breaks off', { type: 'drop', when: 'before' }],
    ['no answer at all', { type: 'hang' }],
  ];
  for (const [name, fault] of passing)
    it(
      `${name}: worth a retry`,
      onStage(
        async (stage) => {
          stage.server.fail('sendMessage', fault);
          const parcel = parcelOf('at last');
          const result = await stage.deliver(parcel);
          assert.ok(result.type === 'retry' && result.after_ms === null, JSON.stringify(result));
          assert.match(result.error, /^Telegram (?:cannot be reached|server error): \S/);
          assert.deepEqual(await stage.deliver({ ...parcel, attempt: 2 }), DELIVERED);
          assert.deepEqual(stage.texts(), ['at last']);
        },
        { call_ms: 500 },
      ),
    );

  it(
    'refuses for good: unknown chats, people who blocked the bot, moved groups',
    onStage(async (stage) => {
      const unknown = await stage.deliver(parcelOf('x', { address: '-5' }));
      assert.deepEqual(unknown, {
        type: 'failed',
        error: 'Telegram refused the message: Bad Request: chat not found',
      });
      stage.server.book.block(ADA.id);
      const blocked = await stage.deliver(parcelOf('x'));
      assert.ok(blocked.type === 'failed' && /blocked by the user/.test(blocked.error));
      stage.server.fail('sendMessage', {
        type: 'error',
        status: 400,
        description: 'Bad Request: group chat was upgraded to a supergroup chat',
        parameters: { migrate_to_chat_id: -100777 },
      });
      const moved = await stage.deliver(parcelOf('x', { address: String(GROUP) }));
      assert.ok(moved.type === 'failed' && moved.error.includes('telegram:-100777'));
    }),
  );

  it(
    'refuses the token: says what to set, and never says the token',
    onStage(async (stage) => {
      for (const token of ['4242:wrong-secret', 'no token']) {
        const channel = stage.open(token);
        const result = await channel.deliver(parcelOf('x'), {
          signal: new AbortController().signal,
          saveProgress: async () => {},
        });
        await channel.close();
        assert.ok(
          result.type === 'failed' && /token was refused.*environment variable/.test(result.error),
          JSON.stringify(result),
        );
        assert.equal(result.error.includes(token), false);
      }
    }),
  );

  it(
    'never has the token in an error, wherever it may come from',
    onStage(
      async (stage) => {
        const { token } = stage.server;
        const secret = token.split(':')[1] as string;
        const closed = stage.open(token, 'http://127.0.0.1:9');
        const results: DeliverResult[] = [
          await closed.deliver(parcelOf('x'), {
            signal: new AbortController().signal,
            saveProgress: async () => {},
          }),
        ];
        await closed.close();
        const faults: readonly TelegramFault[] = [
          { type: 'page', status: 502 },
          { type: 'drop', when: 'before' },
          { type: 'hang' },
          { type: 'error', status: 400, description: `Bad Request: /bot${token}/sendMessage, ${secret}` },
          { type: 'error', status: 500, description: `Error at ${encodeURIComponent(token)}` },
        ];
        for (const fault of faults) {
          stage.server.fail('sendMessage', fault);
          results.push(await stage.deliver(parcelOf('x')));
        }
        assert.ok(results.every(({ type }) => type !== 'delivered'));
        const said = JSON.stringify([results, stage.log]);
        assert.equal(said.includes(secret), false, said);
      },
      { call_ms: 300 },
    ),
  );
});

describe('the end of a delivery', () => {
  it(
    'comes soon after the signal, whatever it is doing',
    onStage(async (stage) => {
      stage.server.fail('sendMessage', { type: 'hang' });
      const stop = new AbortController();
      const hanging = stage.deliver(parcelOf('x'), { signal: stop.signal });
      const queued = stage.deliver(parcelOf('y'), { signal: stop.signal });
      await until(() => stage.server.calls.length === 1, 'the call');
      stop.abort();
      assert.equal((await hanging).type, 'retry');
      assert.equal((await queued).type, 'retry');
      assert.equal((await stage.deliver(parcelOf('z'), { signal: stop.signal })).type, 'retry');
      assert.equal(stage.server.calls.length, 1);
      assert.deepEqual(await stage.deliver(parcelOf('after')), DELIVERED);
    }),
  );

  it(
    'comes while it waits for its turn',
    onStage(
      async (stage) => {
        const stop = new AbortController();
        const delivering = stage.deliver(parcelOf('word '.repeat(2000)), { signal: stop.signal });
        await until(() => stage.texts().length === 1, 'the first message');
        stop.abort();
        assert.equal((await delivering).type, 'retry');
        assert.equal(stage.texts().length, 1);
      },
      { chat_gap_ms: 600_000 },
    ),
  );

  it(
    'comes on its own when it takes too long',
    onStage(
      async (stage) => {
        assert.equal((await stage.deliver(parcelOf('word '.repeat(2000)))).type, 'retry');
        assert.equal(stage.texts().length, 1);
      },
      { chat_gap_ms: 600_000, deliver_ms: 300 },
    ),
  );

  it(
    'comes when the channel is closed',
    onStage(async (stage) => {
      stage.server.fail('sendMessage', { type: 'hang' });
      const delivering = stage.deliver(parcelOf('x'));
      await until(() => stage.server.calls.length === 1, 'the call');
      await stage.channel.close();
      assert.equal((await delivering).type, 'retry');
      assert.equal((await stage.deliver(parcelOf('y'))).type, 'retry');
    }),
  );
});

describe('an address of Telegram', () => {
  it(
    'is a person who is allowed, or any group',
    onStage(async (stage) => {
      assert.equal(stage.channel.check('71'), null);
      assert.equal(stage.channel.check('-1001234567890'), null);
      assert.match(stage.channel.check('72') ?? '', /add 72 to channels\.telegram\.allow/);
      for (const address of [
        '',
        'ada',
        '@ada',
        '0',
        '-0',
        '071',
        '1.5',
        '1e3',
        ' 71',
        '71:2',
        '9'.repeat(30),
      ])
        assert.match(stage.channel.check(address) ?? '', /is not a chat id/, address);
      const result = await stage.deliver(parcelOf('x', { address: '72' }));
      assert.equal(result.type, 'failed');
      assert.deepEqual(stage.server.calls, []);
    }),
  );
});
