// Proves Telegram from its users' point of view, with real `coppice serve` processes: a chat is a session, approvals are requested there, and nothing is
// lost or duplicated when a server dies.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { KeptMessage } from '../../servers/telegram-book.ts';
import { TelegramServer } from '../../servers/telegram-server.ts';
import { until } from '../../until.ts';
import { type Home, makeHome } from '../run-cli.ts';

const ADA = { id: 71, first_name: 'Ada' };
const MALLORY = { id: 666, first_name: 'Mallory' };
/** A text that takes eight seconds to write. */
const SLOWLY = Array.from({ length: 24 }, (_, n) => `piece number ${n}`).join(' ');
const DEEP = Array.from({ length: 400 }, (_, n) => `Line ${n}: ${'words and words '.repeat(3)}`).join('\n');

const RULES = {
  rules: [
    { when: { user: '^touch', tool: 'bash' }, say: 'it is made' },
    { when: { user: '^touch' }, calls: [{ name: 'bash', input: { command: 'echo made > made.txt' } }] },
    { when: { user: '^long' }, say: DEEP },
    { when: { user: '^slow' }, delay_ms: 3_000, say: 'slow but sure' },
    { when: { user: '^fork', tool: 'fork' }, say: 'it is forked' },
    { when: { user: '^fork' }, calls: [{ name: 'fork', input: { name: 'helper', prompt: 'slow work' } }] },
    { when: { user: '^stream' }, chunk_ms: 500, say: SLOWLY },
    { when: { user: '^nightly' }, say: 'the **nightly** report_' },
    { when: {}, say: 'you said: {{user}}' },
  ],
};

describe('coppice serve on Telegram', { timeout: 110_000 }, () => {
  let home: Home;
  let telegram: TelegramServer;
  let store: Store;
  const servers: ReturnType<Home['start']>[] = [];

  const serve = () => {
    const server = home.start(
      ['serve', '--model', 'scripted:rules.json', '--log', 'json', '--log-level', 'debug'],
      {
        env: { BOT: telegram.token },
      },
    );
    servers.push(server);
    return server;
  };
  const texts = () => telegram.book.texts(ADA.id);
  const hears = (text: string | RegExp, what = String(text)) =>
    until(
      () => texts().some((one) => (typeof text === 'string' ? one === text : text.test(one))),
      `Ada reads ${what}`,
    );
  const askOf = (pattern: RegExp): KeptMessage | undefined =>
    telegram.book.messages(ADA.id).find(({ text, markup }) => pattern.test(text) && markup != null);
  const button = (message: KeptMessage, word: RegExp): string => {
    const keyboard = message.markup as { inline_keyboard: { text: string; callback_data: string }[][] };
    const found = keyboard.inline_keyboard.flat().find(({ text }) => word.test(text));
    assert.ok(found, JSON.stringify(keyboard));
    return found.callback_data;
  };

  before(async () => {
    home = makeHome();
    telegram = await TelegramServer.start();
    telegram.book.know(ADA.id);
    telegram.book.know(MALLORY.id);
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
    home.configure({
      channels: { telegram: { tokenEnv: 'BOT', allow: [ADA.id], apiRoot: telegram.url } },
    });
    store = await openStore(home.database);
    serve();
  });
  after(async () => {
    for (const { child, ended } of servers) {
      child.kill('SIGKILL');
      await ended;
    }
    await store.close();
    await telegram.close();
  });

  it('a chat is a session: what is written is answered there, and it goes on', async () => {
    telegram.updates.write(ADA, 'hello');
    await hears('you said: hello');
    telegram.updates.write(ADA, 'and again');
    await hears('you said: and again');
    const [root, ...others] = await store.agents({ conversations: true });
    assert.ok(root);
    assert.equal(others.length, 0);
    assert.equal(root.session_key, `agent:main:telegram:${ADA.id}`);
    const said = (await store.history(root.id)).flatMap((message) =>
      message.kind === 'user' ? [message.content.text] : [],
    );
    assert.deepEqual(said, ['hello', 'and again']);
  });

  it('coppice doctor asks the bot, and names secrets without showing them', async () => {
    const lines = async (env: NodeJS.ProcessEnv) => (await home.run(['doctor'], { env })).stdout;
    const well = await lines({ BOT: telegram.token });
    assert.match(well, /ok +channel +BOT is set\n/);
    assert.match(well, /ok +telegram +the bot is @copse_bot\n/);
    assert.match(well, /ok +clock +this machine and the ledger agree\n/);
    assert.match(well, /ok +schedules +0 enabled\n/);
    assert.match(well, /ok +server +\S+ \(pid \d+\)\n/);
    const refused = await lines({ BOT: '1:wrong-token-of-somebody' });
    assert.match(refused, /missing +telegram +the bot token was refused/);
    assert.match(await lines({}), /missing +channel +BOT is not set\n/);
    for (const secret of [telegram.token, 'wrong-token']) assert.ok(!`${well}${refused}`.includes(secret));
  });

  it('strangers are ignored and get no answer', async () => {
    telegram.updates.write(MALLORY, 'let me in');
    telegram.updates.write(ADA, 'are you there?');
    await hears('you said: are you there?');
    assert.deepEqual(telegram.book.texts(MALLORY.id), []);
    assert.equal((await store.agents({ conversations: true })).length, 1);
  });

  it('an update that arrives twice is handled once', async () => {
    const update = telegram.updates.write(ADA, 'only once');
    await hears('you said: only once');
    telegram.updates.repeat(update);
    telegram.updates.write(ADA, 'after that');
    await hears('you said: after that');
    assert.equal(texts().filter((text) => text === 'you said: only once').length, 1);
  });

  it('what must be allowed is asked in the chat, runs when a button says so, and text is no approval', async () => {
    telegram.updates.write(ADA, 'touch it');
    await until(() => askOf(/wants: bash/) !== undefined, 'she is asked');
    const ask = askOf(/wants: bash/) as KeptMessage;
    assert.match(ask.text, /echo made > made\.txt/);
    telegram.updates.press(MALLORY, ask, button(ask, /once/i));
    telegram.updates.write(ADA, 'yes, allow');
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(existsSync(join(home.work, 'made.txt')), false);
    telegram.updates.press(ADA, ask, button(ask, /once/i));
    await until(() => existsSync(join(home.work, 'made.txt')), 'the call ran');
    const [answered] = await store.asks({});
    assert.deepEqual([answered?.verdict, answered?.answered_by], ['allow', `telegram:${ADA.id}`]);
    await until(() => /allowed/.test(askText(ask)), 'the message says so');
  });

  it('a command shows the agents, another ends one', async () => {
    telegram.updates.write(ADA, '/new');
    telegram.updates.write(ADA, 'fork one');
    await until(async () => (await store.find('helper')).length === 1, 'the helper is there');
    telegram.updates.write(ADA, '/agents');
    await hears(/helper/, 'the list');
    telegram.updates.write(ADA, '/kill helper');
    await until(async () => (await store.find('helper'))[0]?.state.type === 'killed', 'it is killed');
  });

  it('a long answer arrives complete, in pieces that fit', async () => {
    const before = texts().length;
    telegram.updates.write(ADA, 'long please');
    await until(() => texts().slice(before).join('\n').includes('Line 399:'), 'the end of it');
    const pieces = texts().slice(before);
    assert.ok(pieces.every((text) => text.length <= 4_096));
    const lines = pieces.join('\n').match(/Line \d+:/g) ?? [];
    assert.deepEqual(
      lines,
      Array.from({ length: 400 }, (_, n) => `Line ${n}:`),
    );
  });

  it('an answer grows while it is written, in one message', async () => {
    const before = texts().length;
    telegram.updates.write(ADA, 'stream it');
    const shown = () => texts()[before] ?? '';
    await until(
      () => shown().startsWith('piece') && shown().length < SLOWLY.length,
      'she reads a part of it',
    );
    await until(() => shown() === SLOWLY, 'she reads all of it');
    assert.ok((telegram.book.messages(ADA.id)[before]?.edits ?? 0) >= 1);
    assert.equal(texts().length, before + 1);
  });

  it('a run on a timer is delivered to the chat, its marks as formatting', async () => {
    const added = await home.run([
      ...['cron', 'add', 'nightly', '--at', '+1s', '--task', 'nightly', '--deliver', `telegram:${ADA.id}`],
      ...['--model', 'scripted:rules.json'],
    ]);
    assert.equal(added.code, 0, added.stderr);
    await hears(/^\[Cron: nightly\] Complete\.\s+the nightly report_/, 'the report');
    const message = telegram.book.messages(ADA.id).find(({ text }) => text.startsWith('[Cron: nightly]'));
    assert.deepEqual(
      message?.entities.map(({ type }) => type),
      ['bold'],
    );
    const [run] = await store.runs({ source: 'cron' });
    assert.ok(message?.text.endsWith(`· ${run?.id.slice(0, 8)}`), message?.text);
  });

  it('a second server stands by; when the first is killed in the middle of a turn, it takes over and answers', async () => {
    const second = serve();
    let log = '';
    second.child.stderr?.on('data', (text: string) => {
      log += text;
    });
    await until(() => log.includes('standing by'), 'it stands by');
    telegram.updates.write(ADA, 'slow one');
    const at_work = async () =>
      (await store.agents({ living: true })).some(({ state }) => state.type === 'requesting');
    await until(at_work, 'the turn is under way');
    const [first] = servers;
    first?.child.kill('SIGKILL');
    await first?.ended;
    await hears('slow but sure');
    telegram.updates.write(ADA, 'who is there?');
    await hears('you said: who is there?');
    assert.equal(texts().filter((text) => text === 'slow but sure').length, 1);
    second.child.kill('SIGTERM');
    const { code, stderr } = await second.ended;
    assert.equal(code, 0, stderr);
    assert.ok(!stderr.includes(telegram.token) && !stderr.includes('Secret_token'), 'no secret in the log');
    assert.deepEqual(await store.deliveries({ status: 'pending' }), []);
  });

  function askText(ask: KeptMessage): string {
    return telegram.book.messages(ADA.id).find(({ message_id }) => message_id === ask.message_id)?.text ?? '';
  }
});
