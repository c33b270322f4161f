// Proves that a chat sees an answer grow in one message, that the reply replaces it for good, also after a restart, and that a flood limit on these edits harms
// no delivery.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChatEvent } from '../../../src/channels/channel.ts';
import { until } from '../../until.ts';
import { ADA, AGENT, onStage, parcelOf, type TelegramStage } from './telegram-stage.ts';

const KEY = `live:71:${AGENT}`;
const OTHER_CHAT = { id: 72, first_name: 'Bea' };

const began = (chat = '71'): ChatEvent => ({ type: 'began', chat, agent_id: AGENT });
const text = (said: string, chat = '71'): ChatEvent => ({ type: 'text', chat, agent_id: AGENT, text: said });
const doing = (work: string | null): ChatEvent => ({
  type: 'doing',
  chat: '71',
  agent_id: AGENT,
  doing: work,
});
const ended = (): ChatEvent => ({ type: 'ended', chat: '71', agent_id: AGENT });

/** Starts a turn, streams a text, and waits until the chat shows it. */
async function show(stage: TelegramStage, said: string): Promise<void> {
  stage.sessions.emit(began());
  stage.sessions.emit(text(said));
  await until(() => stage.texts().includes(said), `"${said}" in the chat`);
  await until(() => stage.sessions.kept.has(KEY), 'the note');
}

/** Waits until any outstanding edit must have happened: another chat has been edited several times meanwhile. */
async function later(stage: TelegramStage): Promise<void> {
  stage.server.book.know(OTHER_CHAT.id);
  stage.sessions.emit(began('72'));
  for (const said of ['one', 'two', 'three'].map((word) => `${word} ${performance.now()}`)) {
    stage.sessions.emit(text(said, '72'));
    await until(() => stage.texts(OTHER_CHAT.id).includes(said), 'the other chat');
  }
}

const listening = (play: (stage: TelegramStage) => Promise<void>, timing = {}) =>
  onStage(async (stage) => {
    await stage.listen();
    await play(stage);
  }, timing);

describe('a turn in a Telegram chat', () => {
  it(
    'is seen: typing, then one message that grows, then the reply in its place',
    listening(async (stage) => {
      stage.sessions.emit(began());
      await until(() => stage.server.called('sendChatAction').length === 1, 'the action');
      assert.deepEqual(stage.texts(), []);
      await show(stage, 'I **am');
      await until(() => JSON.parse(stage.sessions.kept.get(KEY) ?? 'null')?.message_id > 0, 'the note');
      stage.sessions.emit(text('I **am** looking'));
      await until(() => stage.texts()[0] === 'I am looking', 'the edit');
      stage.sessions.emit(ended());
      assert.equal((await stage.deliver(parcelOf('I **am** done.'))).type, 'delivered');
      assert.deepEqual(stage.texts(), ['I am done.']);
      assert.equal(stage.server.book.messages(ADA.id)[0]?.entities.length, 1);
      assert.equal(stage.sessions.kept.has(KEY), false);
      assert.equal((await stage.deliver(parcelOf('Another.'))).type, 'delivered');
      assert.deepEqual(stage.texts(), ['I am done.', 'Another.']);
    }),
  );

  it(
    'shows what the agent does, and nothing where nothing is new',
    listening(async (stage) => {
      stage.sessions.emit(began());
      stage.sessions.emit(text(''));
      stage.sessions.emit(doing(null));
      stage.sessions.emit(doing('bash: npm test'));
      await until(() => stage.texts()[0] === 'bash: npm test', 'what it does');
      stage.sessions.emit(text('Half of it'));
      await until(() => stage.texts()[0] === 'Half of it\n\nbash: npm test', 'both');
      const edits = stage.server.called('editMessageText').length;
      for (let time = 0; time < 5; time += 1) stage.sessions.emit(text('Half of it'));
      await later(stage);
      assert.equal(
        stage.server.called('editMessageText').filter(({ body }) => body.chat_id === ADA.id).length,
        edits,
      );
      stage.sessions.emit(text(''));
      stage.sessions.emit(doing(null));
      await later(stage);
      assert.deepEqual(stage.texts(), ['Half of it\n\nbash: npm test']);
    }),
  );

  it(
    'is seen again in the next turn, also where that begins with the same words',
    listening(async (stage) => {
      for (const reply of ['First.', 'Second.']) {
        await show(stage, 'Let me look');
        stage.sessions.emit(ended());
        assert.equal((await stage.deliver(parcelOf(reply))).type, 'delivered');
      }
      assert.deepEqual(stage.texts(), ['First.', 'Second.']);
    }),
  );

  it(
    'shows the end of a long text',
    listening(async (stage) => {
      const long = `${'begin '.repeat(1000)}**last** words`;
      stage.sessions.emit(began());
      stage.sessions.emit(text(long));
      await until(() => stage.texts().length === 1, 'the message');
      const [shown = ''] = stage.texts();
      assert.ok(
        shown.startsWith('… ') && shown.endsWith('last words') && shown.length <= 4096,
        shown.slice(-40),
      );
      assert.deepEqual(stage.server.book.messages(ADA.id)[0]?.entities, [
        { type: 'bold', offset: shown.length - 'last words'.length, length: 4 },
      ]);
    }),
  );

  it(
    'is edited no more often than the minimum interval allows',
    listening(
      async (stage) => {
        const start = performance.now();
        stage.sessions.emit(began());
        for (let n = 0; stage.server.called('editMessageText').length < 3; n += 1) {
          stage.sessions.emit(text(`words ${n}`));
          await new Promise((resolve) => setTimeout(resolve, 5));
          assert.ok(performance.now() - start < 15_000, 'it is edited at all');
        }
        assert.ok(performance.now() - start >= 3 * 200);
      },
      { live_gap_ms: 200 },
    ),
  );

  it(
    'keeps the minimum interval after a slow answer of Telegram, too',
    listening(
      async (stage) => {
        stage.server.fail('sendMessage', { type: 'slow', ms: 150 });
        stage.sessions.emit(began());
        stage.sessions.emit(text('one'));
        await until(() => stage.server.called('sendMessage').length === 1, 'the call');
        stage.sessions.emit(text('one two'));
        await until(() => stage.texts()[0] === 'one two', 'the edit');
        const [message] = stage.server.book.messages(ADA.id);
        assert.ok((message?.edited_at ?? 0) - (message?.at ?? 0) >= 299);
      },
      { live_gap_ms: 300 },
    ),
  );

  it(
    'ends with the reply: nothing is written over it',
    listening(async (stage) => {
      await show(stage, 'growing');
      stage.sessions.emit(text('growing on'));
      stage.sessions.emit(ended());
      stage.sessions.emit(text('too late'));
      const delivering = stage.deliver(parcelOf('The reply.'));
      stage.sessions.emit(text('later still'));
      await delivering;
      stage.sessions.emit(doing('bash: late'));
      await later(stage);
      assert.deepEqual(stage.texts(), ['The reply.']);
    }),
  );

  it(
    'ends with the reply, also when that comes before the news of the end',
    listening(async (stage) => {
      await show(stage, 'growing');
      stage.sessions.emit(text('growing on'));
      await stage.deliver(parcelOf('The reply.'));
      stage.sessions.emit(text('too late'));
      await later(stage);
      stage.sessions.emit(ended());
      await later(stage);
      assert.deepEqual(stage.texts(), ['The reply.']);
      await show(stage, 'the next turn');
      assert.deepEqual(stage.texts(), ['The reply.', 'the next turn']);
    }),
  );

  it(
    'is replaced by a long reply: its first part there, the others below',
    listening(async (stage) => {
      await show(stage, 'growing');
      await stage.deliver(parcelOf('word '.repeat(2000)));
      const texts = stage.texts();
      assert.equal(texts.length, 3);
      assert.equal(texts.join(' '), 'word '.repeat(2000).trim());
      assert.equal(stage.server.book.messages(ADA.id)[0]?.edits, 1);
    }),
  );

  it(
    'is replaced by a reply that says what it says already',
    listening(async (stage) => {
      await show(stage, 'All is well.');
      stage.sessions.emit(ended());
      assert.equal((await stage.deliver(parcelOf('All is well.'))).type, 'delivered');
      assert.deepEqual(stage.texts(), ['All is well.']);
    }),
  );

  it(
    'has its reply below when its message is gone or cannot be edited',
    listening(async (stage) => {
      await show(stage, 'growing');
      stage.server.book.remove(ADA.id, stage.server.book.messages(ADA.id)[0]?.message_id ?? 0);
      stage.sessions.emit(ended());
      assert.equal((await stage.deliver(parcelOf('The reply.'))).type, 'delivered');
      await show(stage, 'the next turn');
      stage.sessions.emit(ended());
      stage.server.fail('editMessageText', {
        type: 'error',
        status: 400,
        description: "Bad Request: message can't be edited",
      });
      assert.equal((await stage.deliver(parcelOf('The next reply.'))).type, 'delivered');
      assert.deepEqual(stage.texts(), ['The reply.', 'the next turn', 'The next reply.']);
      assert.equal(stage.sessions.kept.has(KEY), false);
    }),
  );

  it(
    'goes on in a new message when somebody deleted the old one',
    listening(async (stage) => {
      await show(stage, 'growing');
      stage.server.book.remove(ADA.id, stage.server.book.messages(ADA.id)[0]?.message_id ?? 0);
      stage.sessions.emit(text('growing on'));
      await until(() => stage.texts()[0] === 'growing on', 'the new message');
    }),
  );

  it(
    'is left alone when Telegram refuses it, and its reply arrives',
    listening(async (stage) => {
      stage.server.fail('sendMessage', {
        type: 'error',
        status: 400,
        description: 'Bad Request: not enough rights',
      });
      stage.sessions.emit(began());
      stage.sessions.emit(text('growing'));
      await until(() => stage.logged('debug').length === 1, 'the refusal');
      stage.sessions.emit(text('growing on'));
      await later(stage);
      stage.sessions.emit(ended());
      await stage.deliver(parcelOf('The reply.'));
      assert.deepEqual(stage.texts(), ['The reply.']);
      await show(stage, 'the next turn is shown again');
    }),
  );

  it(
    'stays the newest turn when two before it have ended, and goes on after both of their replies',
    listening(async (stage) => {
      await show(stage, 'one');
      stage.sessions.emit(ended());
      stage.sessions.emit(began());
      stage.sessions.emit(ended());
      stage.sessions.emit(began());
      await stage.deliver(parcelOf('First reply.'));
      await stage.deliver(parcelOf('Second reply.'));
      stage.sessions.emit(text('third'));
      await until(() => stage.texts().includes('third'), 'the third turn');
    }),
  );
});

describe('a turn and the ledger', () => {
  it(
    'keeps its message over a restart: it grows on, and the reply takes its place',
    listening(async (stage) => {
      await show(stage, 'growing');
      await stage.restart();
      stage.sessions.emit(text('growing on'));
      await until(() => stage.texts()[0] === 'growing on', 'the same message');
      await stage.restart();
      assert.equal((await stage.deliver(parcelOf('The reply.'))).type, 'delivered');
      assert.deepEqual(stage.texts(), ['The reply.']);
      assert.equal(stage.sessions.kept.has(KEY), false);
    }),
  );

  it(
    'that ended before a restart is not written over by the next',
    listening(async (stage) => {
      await show(stage, 'the first turn');
      stage.sessions.emit(ended());
      await until(() => /true/.test(stage.sessions.kept.get(KEY) ?? ''), 'the note of the end');
      await stage.restart();
      stage.sessions.emit(began());
      stage.sessions.emit(text('the second turn'));
      await later(stage);
      assert.deepEqual(stage.texts(), ['the first turn']);
      await stage.deliver(parcelOf('The first reply.'));
      await until(() => stage.texts().length === 2, 'the second turn');
      assert.deepEqual(stage.texts(), ['The first reply.', 'the second turn']);
    }),
  );

  it(
    'has its reply below when that was sent before anybody listened; the next turn comes after it',
    listening(async (stage) => {
      await show(stage, 'growing');
      await stage.deafen();
      await stage.restart();
      await stage.deliver(parcelOf('The reply.'));
      await stage.listen();
      stage.sessions.emit(began());
      stage.sessions.emit(text('the next turn'));
      await until(() => stage.texts().length === 3, 'the next turn');
      stage.sessions.emit(ended());
      await stage.deliver(parcelOf('The next reply.'));
      assert.deepEqual(stage.texts(), ['growing', 'The reply.', 'The next reply.']);
    }),
  );

  it(
    'is shown when the ledger is back',
    listening(async (stage) => {
      await until(() => stage.sessions.kept.has('bot'), 'the start');
      stage.sessions.away = 3;
      await show(stage, 'growing');
      assert.equal(stage.sessions.missed, 3);
    }),
  );

  it(
    'has its reply tried again when the ledger is away',
    listening(async (stage) => {
      await show(stage, 'growing');
      stage.sessions.emit(ended());
      await until(() => /true/.test(stage.sessions.kept.get(KEY) ?? ''), 'the note of the end');
      stage.sessions.away = 1;
      const saved: string[] = [];
      const parcel = parcelOf('The reply.');
      assert.equal((await stage.deliver(parcel, { saved })).type, 'retry');
      assert.equal(
        (await stage.deliver({ ...parcel, attempt: 2, progress: saved[0] ?? null })).type,
        'delivered',
      );
      assert.deepEqual(stage.texts(), ['The reply.']);
      assert.equal(stage.sessions.kept.has(KEY), false);
    }),
  );
});

describe('a turn whose predecessor has no reply yet', () => {
  it(
    'waits for it',
    listening(async (stage) => {
      await show(stage, 'the first turn');
      stage.sessions.emit(ended());
      stage.sessions.emit(began());
      stage.sessions.emit(text('the second turn'));
      await later(stage);
      assert.deepEqual(stage.texts(), ['the first turn']);
      await stage.deliver(parcelOf('The first reply.'));
      await until(() => stage.texts().length === 2, 'the second turn');
      stage.sessions.emit(ended());
      await stage.deliver(parcelOf('The second reply.'));
      assert.deepEqual(stage.texts(), ['The first reply.', 'The second reply.']);
    }),
  );

  it(
    'waits for it also when that is tried again, and when its end was never told',
    listening(async (stage) => {
      await show(stage, 'the first turn');
      stage.server.fail('editMessageText', { type: 'error', status: 500, description: 'trouble' });
      const parcel = parcelOf('The first reply.');
      assert.equal((await stage.deliver(parcel)).type, 'retry');
      stage.sessions.emit(began());
      stage.sessions.emit(text('the second turn'));
      await later(stage);
      assert.deepEqual(stage.texts(), ['the first turn']);
      assert.equal((await stage.deliver({ ...parcel, attempt: 2 })).type, 'delivered');
      await until(() => stage.texts().length === 2, 'the second turn');
      assert.deepEqual(stage.texts(), ['The first reply.', 'the second turn']);
    }),
  );

  it(
    'does not wait for ever, and neither reply is lost',
    listening(
      async (stage) => {
        await show(stage, 'the first turn');
        stage.sessions.emit(ended());
        await show(stage, 'the second turn');
        assert.deepEqual(stage.texts(), ['the first turn', 'the second turn']);
        await stage.deliver(parcelOf('The first reply.'));
        stage.sessions.emit(ended());
        await stage.deliver(parcelOf('The second reply.'));
        await later(stage);
        const texts = stage.texts();
        assert.ok(texts.indexOf('The first reply.') < texts.indexOf('The second reply.'), texts.join('|'));
        assert.ok(texts.includes('The first reply.'));
      },
      { live_grace_ms: 30 },
    ),
  );
});

describe('a flood limit on the edits', () => {
  it(
    'pauses them; the reply arrives when the time is up',
    listening(async (stage) => {
      await show(stage, 'growing');
      stage.server.fail('editMessageText', { type: 'flood', retry_after: 0.5 });
      stage.sessions.emit(text('growing on'));
      await until(() => stage.server.called('editMessageText').length === 1, 'the edit');
      await until(() => stage.server.called('editMessageText')[0]?.status === 429, 'the refusal');
      stage.sessions.emit(text('growing on and on'));
      await until(() => stage.texts()[0] === 'growing on and on', 'the edit after the pause');
      stage.server.fail('editMessageText', { type: 'flood', retry_after: 0.3 });
      stage.sessions.emit(text('once more'));
      await until(() => stage.server.called('editMessageText').length === 3, 'the third edit');
      stage.sessions.emit(ended());
      const parcel = parcelOf('The reply.');
      let result = await stage.deliver(parcel);
      while (result.type === 'retry') {
        await new Promise((resolve) => setTimeout(resolve, 50));
        result = await stage.deliver(parcel);
      }
      assert.equal(result.type, 'delivered');
      assert.deepEqual(stage.texts(), ['The reply.']);
      assert.deepEqual(stage.server.hasty, []);
    }),
  );

  it(
    'and network trouble are survived',
    listening(async (stage) => {
      stage.server.fail('sendChatAction', { type: 'page', status: 502 });
      stage.server.fail('sendMessage', { type: 'drop', when: 'before' });
      stage.server.fail('sendMessage', { type: 'error', status: 500, description: 'trouble' });
      await show(stage, 'growing');
      stage.server.fail('editMessageText', { type: 'drop', when: 'after' });
      stage.sessions.emit(text('growing on'));
      await until(() => stage.server.called('editMessageText').length >= 2, 'the edit again');
      await later(stage);
      assert.deepEqual(stage.texts(), ['growing on']);
    }),
  );
});
