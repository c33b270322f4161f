// Proves Slack over Socket Mode, against a server that speaks it: a thread is a conversation, only people who are allowed write and approve, each event counts once, an event that could not be handled comes again, and a lost connection is replaced.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { InboundChannel } from '../../../src/channels/channel.ts';
import { markdownEntities } from '../../../src/channels/chat/markdown-entities.ts';
import { mrkdwnOf } from '../../../src/channels/slack/mrkdwn.ts';
import { openSlack } from '../../../src/channels/slack/slack-channel.ts';
import { SLACK_BOT, SlackServer } from '../../servers/slack-server.ts';
import { until } from '../../until.ts';
import { MemoryChatSessions } from '../memory-chat-sessions.ts';
import { newAsk, newContext, newParcel } from '../parcel-fixture.ts';

const [ADA, MALLORY] = ['U0ADA', 'U0MALLORY'];

describe('Slack', () => {
  let slack: SlackServer;
  let channel: InboundChannel;
  let sessions: MemoryChatSessions;
  const stop = new AbortController();
  let listening: Promise<void>;
  let log: string[] = [];

  before(async () => {
    slack = await SlackServer.start();
    const { bot_token, app_token } = slack;
    channel = openSlack({
      bot_token,
      app_token,
      allow: [ADA],
      api_root: slack.url,
      log: (_, text) => log.push(text),
    });
    sessions = new MemoryChatSessions();
    listening = channel.listen(sessions, stop.signal);
    await slack.untilConnected();
  });
  after(async () => {
    stop.abort();
    await listening;
    await channel.close();
    await slack.close();
  });
  beforeEach(() => {
    sessions.said.length = 0;
    sessions.answers.length = 0;
    slack.messages.length = 0;
    log = [];
  });
  const acknowledged = (id: string) => until(() => slack.acknowledged.includes(id), 'it is acknowledged');
  /** All events before this one are handled when it is: they are handled in order. */
  const settle = () => acknowledged(slack.envelope('slash_commands', {}));
  const said = () => sessions.said.map(({ chat, from, text }) => [chat, from, text]);

  it('a direct message begins a thread, whose messages are one conversation', async () => {
    const ts = slack.write(ADA, 'D0ADA', 'What is &lt;new&gt; at <https://example.org/a|the site>?');
    const reply = slack.write(ADA, 'D0ADA', 'And?', { thread_ts: ts });
    await settle();
    assert.deepEqual(said(), [
      [`D0ADA/${ts}`, `slack:${ADA}`, 'What is <new> at https://example.org/a?'],
      [`D0ADA/${ts}`, `slack:${ADA}`, 'And?'],
    ]);
    assert.notEqual(reply, ts);
  });

  it('in a channel it is mentioned, or written to in a thread of its own; a mention, which comes twice, counts once', async () => {
    const ts = slack.time();
    const text = `<@${SLACK_BOT}> look at this`;
    for (const type of ['message', 'app_mention'])
      slack.event({ type, user: ADA, channel: 'C0SHOP', channel_type: 'channel', text, ts });
    slack.write(ADA, 'C0SHOP', 'small talk');
    slack.write(ADA, 'C0SHOP', 'in a thread of others', { thread_ts: '1600000000.000100' });
    sessions.lines.set(`C0SHOP/${ts}`, [{ id: 'a', name: 'main', depth: 0, status: 'idle', doing: null }]);
    slack.write(ADA, 'C0SHOP', 'more', { thread_ts: ts });
    slack.write(ADA, 'C0SHOP', 'edited', { thread_ts: ts, subtype: 'message_changed' });
    slack.write(SLACK_BOT, 'C0SHOP', 'its own', { thread_ts: ts, bot_id: 'B0BOT' });
    await settle();
    assert.deepEqual(said(), [
      [`C0SHOP/${ts}`, `slack:${ADA}`, 'look at this'],
      [`C0SHOP/${ts}`, `slack:${ADA}`, 'more'],
    ]);
  });

  it('strangers get no answer, and reach no session; the log names each once', async () => {
    for (const text of ['hello', '!stop', '!approve 12345678']) slack.write(MALLORY, 'D0MAL', text);
    await settle();
    assert.deepEqual([said(), sessions.interrupted, sessions.answers, slack.messages], [[], [], [], []]);
    assert.deepEqual(log, ['ignored a message from a sender who is not in channels.slack.allow']);
  });

  it('an event that comes again counts once, also with another envelope', async () => {
    const event = {
      type: 'message',
      user: ADA,
      channel: 'D0ADA',
      channel_type: 'im',
      text: '!stop',
      ts: slack.time(),
    };
    const before = sessions.interrupted.length;
    slack.event(event, 'Ev1');
    slack.event(event, 'Ev1');
    await settle();
    assert.equal(sessions.interrupted.length, before + 1);
  });

  it('an event is acknowledged once it is in the ledger; without the ledger it is not, and comes again', async () => {
    sessions.away = 1;
    const event = {
      type: 'message',
      user: ADA,
      channel: 'D0ADA',
      channel_type: 'im',
      text: 'keep me',
      ts: slack.time(),
    };
    const lost = slack.event(event, 'Ev2');
    await settle();
    assert.ok(!slack.acknowledged.includes(lost));
    assert.deepEqual(said(), []);
    await acknowledged(slack.event(event, 'Ev2'));
    assert.equal(sessions.said.length, 1);
  });

  it('commands begin with an exclamation mark, since Slack keeps slashes', async () => {
    const ts = slack.write(ADA, 'D0ADA', '!help');
    await until(() => slack.messages.length > 0, 'it answers');
    const [help] = slack.messages;
    assert.equal(help?.thread_ts, ts);
    assert.match(help?.text ?? '', /^!approve ID \[always\] – allow a call/m);
    assert.doesNotMatch(help?.text ?? '', /^\//m);
    slack.write(ADA, 'D0ADA', '!approve 12345678 yes please');
    await until(() => slack.messages.length > 1, 'it answers');
    assert.equal(
      slack.messages[1]?.text,
      'write !approve ID, !approve ID always, or !approve ID name=value …',
    );
  });

  it('a question comes with buttons, which only people who are allowed press; the first answer replaces them', async () => {
    const ask = newAsk();
    const address = `C0SHOP/${slack.time()}`;
    sessions.open.set(address, [ask]);
    const parcel = newParcel(address, { kind: 'ask', ask });
    assert.deepEqual(await channel.deliver(parcel, newContext()), { type: 'delivered' });
    const [message] = slack.messages;
    assert.ok(message);
    assert.equal(message.thread_ts, address.split('/')[1]);
    slack.press(MALLORY, message, /Allow/);
    await settle();
    assert.deepEqual(sessions.answers, []);
    await acknowledged(slack.press(ADA, message, /Allow/));
    assert.deepEqual(
      sessions.answers.map(({ ask: id, chat, verdict, scope, by }) => [id, chat, verdict, scope, by]),
      [[ask.id, address, 'allow', 'once', `slack:${ADA}`]],
    );
    await until(() => message.attachments.length === 0, 'the buttons go');
    assert.match(message.text, /✓ allowed by <@U0ADA>$/);
  });

  it('a connection that Slack renews or the network drops is replaced', async () => {
    const opened = slack.opened;
    slack.disconnect();
    await until(() => slack.opened === opened + 1, 'it connects anew');
    slack.drop();
    await until(() => slack.opened === opened + 2 && slack.connected, 'and again');
    slack.write(ADA, 'D0ADA', 'still there?');
    await settle();
    assert.equal(sessions.said.length, 1);
  });

  it('tells whether both tokens are accepted, without showing one', async () => {
    const { signal } = new AbortController();
    assert.deepEqual(await channel.probe(signal), { ok: true, text: 'the app is @copse in Acme' });
    const { bot_token } = slack;
    const other = openSlack({
      bot_token,
      app_token: 'xapp-wrong',
      allow: [],
      api_root: slack.url,
      log: () => undefined,
    });
    const { ok, text } = await other.probe(signal);
    assert.deepEqual([ok, /invalid_auth/.test(text), text.includes('xapp-wrong')], [false, true, false]);
    await other.close();
  });
});

describe('mrkdwn', () => {
  for (const [markdown, expected] of [
    ['**bold** and *italic* and ~~old~~', '*bold* and _italic_ and ~old~'],
    ['# Head\n\n- `a<b`\n- two', '*Head*\n\n• `a&lt;b`\n• two'],
    ['[site](https://example.org/?a=1&b=2)', '<https://example.org/?a=1&amp;b=2|site>'],
    ['<!channel> and <@U0ADA> & all', '&lt;!channel&gt; and &lt;@U0ADA&gt; &amp; all'],
    ['```ts\nconst a = 1;\n```', '```\nconst a = 1;\n```'],
    ['> quoted\n> twice', '&gt; quoted\n&gt; twice'.replaceAll('&gt;', '>')],
    ['**bold with `code` in it**', '*bold with* `code` *in it*'],
  ] as const)
    it(`of ${JSON.stringify(markdown)}`, () => assert.equal(mrkdwnOf(markdownEntities(markdown)), expected));
});
