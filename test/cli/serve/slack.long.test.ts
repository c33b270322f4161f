// Proves Slack from its users' point of view, with real `coppice serve` processes: a thread is a session with memory of its own, approvals are requested there and answered by buttons, long answers are split, strangers get nothing, and another server takes over where one died.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SLACK_BOT, type SlackMessage, SlackServer } from '../../servers/slack-server.ts';
import { until } from '../../until.ts';
import { type Home, makeHome } from '../run-cli.ts';

const [ADA, MALLORY] = ['U0ADA', 'U0MALLORY'];
const LONG = Array.from({ length: 300 }, (_, n) => `Line ${n}: ${'words and words '.repeat(3)}`).join('\n');
const RULES = {
  rules: [
    { when: { user: '^touch', tool: 'bash' }, say: 'it is **made**' },
    { when: { user: '^touch' }, calls: [{ name: 'bash', input: { command: 'echo made > made.txt' } }] },
    { when: { user: '^long' }, say: LONG },
    { when: {}, say: 'you said: {{user}}' },
  ],
};

describe('coppice serve on Slack', { timeout: 110_000 }, () => {
  let home: Home;
  let slack: SlackServer;
  const servers: ReturnType<Home['start']>[] = [];
  const env = () => ({ BOT: slack.bot_token, APP: slack.app_token });
  const serve = () => {
    const server = home.start(['serve', '--model', 'scripted:rules.json', '--log', 'json', '--no-listen'], {
      env: env(),
    });
    servers.push(server);
    return server;
  };
  const thread = (ts: string) => slack.messages.filter(({ thread_ts }) => thread_ts === ts);
  const hears = async (ts: string, text: RegExp): Promise<SlackMessage> => {
    await until(() => thread(ts).some((one) => text.test(one.text)), `the thread reads ${text}`);
    return thread(ts).find((one) => text.test(one.text)) as SlackMessage;
  };

  before(async () => {
    home = makeHome();
    slack = await SlackServer.start();
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
    home.configure({
      channels: { slack: { botTokenEnv: 'BOT', appTokenEnv: 'APP', allow: [ADA], apiRoot: slack.url } },
    });
    serve();
    await slack.untilConnected();
  });
  after(async () => {
    for (const { child, ended } of servers) {
      child.kill('SIGKILL');
      await ended;
    }
    await slack.close();
  });

  it('doctor asks Slack about both tokens', async () => {
    const { stdout } = await home.run(['doctor'], { env: env() });
    assert.match(stdout, /ok +slack +the app is @copse in Acme/);
  });

  it('two threads are two conversations; a stranger gets no answer', async () => {
    const one = slack.write(ADA, 'D0ADA', 'hello');
    const two = slack.write(ADA, 'C0SHOP', `<@${SLACK_BOT}> look`);
    const stranger = slack.write(MALLORY, 'D0MAL', 'hello, too');
    await hears(one, /^you said: hello$/);
    await hears(two, /^you said: look$/);
    slack.write(ADA, 'C0SHOP', 'and more', { thread_ts: two });
    await hears(two, /^you said: and more$/);
    const { agents } = JSON.parse((await home.run(['ps', '--all', '--json'])).stdout);
    assert.deepEqual(agents.map(({ session_key }: { session_key: string }) => session_key).sort(), [
      `agent:main:slack:C0SHOP/${two}`,
      `agent:main:slack:D0ADA/${one}`,
    ]);
    assert.deepEqual(thread(stranger), []);
  });

  it('a call waits for a button, which a stranger cannot press', async () => {
    const ts = slack.write(ADA, 'D0ADA', 'touch it');
    const ask = await hears(ts, /wants: \*bash\*/);
    assert.match(ask.text, /echo made &gt; made\.txt/);
    slack.press(MALLORY, ask, /Allow once/);
    const listed = await home.run(['approvals', 'list']);
    assert.match(listed.stdout, /bash/);
    assert.ok(!existsSync(join(home.work, 'made.txt')));
    slack.press(ADA, ask, /Allow once/);
    await hears(ts, /^it is \*made\*$/);
    assert.ok(existsSync(join(home.work, 'made.txt')));
    await until(() => ask.attachments.length === 0, 'the buttons go');
  });

  it('a long answer comes in several messages, in order', async () => {
    const ts = slack.write(ADA, 'D0ADA', 'long please');
    await hears(ts, /Line 299/);
    const parts = thread(ts).map(({ text }) => text);
    assert.ok(parts.length > 2 && parts.every(({ length }) => length <= 4_100), `${parts.length}`);
    const lines = parts.join('\n').match(/^Line \d+/gm) ?? [];
    assert.deepEqual(
      lines,
      Array.from({ length: 300 }, (_, n) => `Line ${n}`),
    );
  });

  it('another server goes on where one was killed, and answers each message once', async () => {
    const { opened } = slack;
    serve();
    servers[0]?.child.kill('SIGKILL');
    await servers[0]?.ended;
    await until(() => slack.opened > opened, 'the other one connects');
    const event = {
      type: 'message',
      user: ADA,
      channel: 'D0ADA',
      channel_type: 'im',
      text: 'still there?',
      ts: slack.time(),
    };
    slack.event(event);
    slack.event(event);
    await hears(event.ts, /^you said: still there\?$/);
    slack.write(ADA, 'D0ADA', 'again', { thread_ts: event.ts });
    await hears(event.ts, /^you said: again$/);
    assert.equal(thread(event.ts).length, 2);
  });
});
