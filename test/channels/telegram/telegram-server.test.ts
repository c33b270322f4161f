// Proves that the test server for the Bot API rejects what the real one rejects, so that tests against it are meaningful.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TelegramServer } from '../../servers/telegram-server.ts';
import { until } from '../../until.ts';

describe('the stand-in for the Bot API', () => {
  let server: TelegramServer;
  before(async () => {
    server = await TelegramServer.start();
    server.book.know(1);
  });
  after(() => server.close());

  const call = async (method: string, body: object, token = server.token) => {
    const response = await fetch(`${server.url}/bot${token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as {
      ok: boolean;
      error_code?: number;
      description?: string;
      result?: never;
    };
  };
  const refusedWith = async (body: object): Promise<string> => {
    const { ok, description = '' } = await call('sendMessage', { chat_id: 1, ...body });
    return ok ? 'taken' : description;
  };

  it('knows its token, its methods and its chats', async () => {
    assert.equal((await call('getMe', {}, '1:wrong')).error_code, 401);
    assert.equal((await call('sendMassage', {})).error_code, 404);
    assert.match(await refusedWith({ chat_id: 2, text: 'x' }), /chat not found/);
  });

  it('takes 1 to 4096 units of text', async () => {
    assert.equal(await refusedWith({ text: 'x'.repeat(4096) }), 'taken');
    assert.match(await refusedWith({ text: 'x'.repeat(4097) }), /too long/);
    for (const text of ['', ' \n', '\u200b\u200d']) assert.match(await refusedWith({ text }), /empty/);
  });

  it('refuses marks out of range, across characters, crossing each other or over code', async () => {
    const marks = (...entities: object[]) => refusedWith({ text: 'ab🎉cd', entities });
    assert.equal(
      await marks({ type: 'bold', offset: 0, length: 6 }, { type: 'code', offset: 6, length: 0 }),
      'Bad Request: ENTITY_BOUNDS_INVALID',
    );
    assert.match(await marks({ type: 'bold', offset: 0, length: 7 }), /BOUNDS/);
    assert.match(await marks({ type: 'bold', offset: 0, length: 3 }), /BOUNDS/);
    assert.match(
      await marks({ type: 'bold', offset: 0, length: 4 }, { type: 'italic', offset: 2, length: 4 }),
      /cross/,
    );
    assert.match(
      await marks({ type: 'bold', offset: 0, length: 4 }, { type: 'code', offset: 0, length: 2 }),
      /overlap/,
    );
    assert.match(await marks({ type: 'text_link', offset: 0, length: 2, url: 'javascript:1' }), /TEXTURL/);
    assert.equal(
      await marks(
        { type: 'blockquote', offset: 0, length: 6 },
        { type: 'bold', offset: 0, length: 6 },
        { type: 'italic', offset: 2, length: 2 },
      ),
      'taken',
    );
  });

  it('reads MarkdownV2 strictly', async () => {
    const markdown = (text: string) => refusedWith({ text, parse_mode: 'MarkdownV2' });
    assert.equal(await markdown('*bold _it_* `code` [a](http://x.org) 1\\.5'), 'taken');
    assert.equal(server.book.texts(1).at(-1), 'bold it code a 1.5');
    for (const text of ['1.5', '*open', '`open', '[a](http://x', 'a-b', '*a _b* c_'])
      assert.match(await markdown(text), /can't parse entities/, text);
  });

  it('edits what is there and is changed by it', async () => {
    const { message_id } = (await call('sendMessage', { chat_id: 1, text: 'one' })).result as unknown as {
      message_id: number;
    };
    assert.equal((await call('editMessageText', { chat_id: 1, message_id, text: 'two' })).ok, true);
    const again = await call('editMessageText', { chat_id: 1, message_id, text: 'two' });
    assert.match(again.description ?? '', /message is not modified/);
    const gone = await call('editMessageText', { chat_id: 1, message_id: 5, text: 'two' });
    assert.match(gone.description ?? '', /message to edit not found/);
  });

  it('hands updates out until they are confirmed, holds a poll open, and has one reader', async () => {
    const first = server.updates.write({ id: 1, first_name: 'A' }, 'one');
    const ids = async (body: object) =>
      ((await call('getUpdates', body)).result as unknown as { update_id: number }[]).map(
        ({ update_id }) => update_id,
      );
    assert.deepEqual(await ids({}), [first]);
    assert.deepEqual(await ids({}), [first]);
    assert.deepEqual(await ids({ offset: first + 1, timeout: 0 }), []);
    const held = call('getUpdates', { offset: first + 1, timeout: 30 });
    await until(() => server.polls.length === 4, 'the poll that is held open');
    const other = ids({ offset: first + 1, timeout: 30 });
    assert.equal((await held).error_code, 409);
    const second = server.updates.write({ id: 1, first_name: 'A' }, 'two');
    assert.deepEqual(await other, [second]);
  });

  it('takes forms as well', async () => {
    const response = await fetch(`${server.url}/bot${server.token}/sendMessage`, {
      method: 'POST',
      body: new URLSearchParams({
        chat_id: '1',
        text: '12',
        entities: JSON.stringify([{ type: 'bold', offset: 0, length: 2 }]),
      }),
    });
    assert.equal(response.status, 200);
    assert.equal(server.book.messages(1).at(-1)?.entities.length, 1);
  });
});
