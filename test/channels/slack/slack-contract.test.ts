// Proves that the Slack channel keeps the contract of all channels, against a server that speaks the Web API.
import { markdownEntities } from '../../../src/channels/chat/markdown-entities.ts';
import { mrkdwnOf } from '../../../src/channels/slack/mrkdwn.ts';
import { openSlack } from '../../../src/channels/slack/slack-channel.ts';
import { SlackServer } from '../../servers/slack-server.ts';
import { channelContract } from '../contract.ts';

/** Collapses white space and signs that a cut repeats; everything else arrives. */
const squashed = (text: string): string => text.replaceAll(/[\s`*_~]+/g, ' ').trim();

channelContract('slack', async () => {
  const server = await SlackServer.start();
  const { bot_token, app_token } = server;
  const channel = openSlack({
    bot_token,
    app_token,
    allow: ['U0ADA'],
    api_root: server.url,
    log: () => undefined,
  });
  return {
    channel,
    good_address: 'C0GOOD/1700000000.000100',
    bad_address: 'U0NOBODY',
    secrets: [bot_token, app_token],
    shown: (text) => squashed(mrkdwnOf(markdownEntities(text))),
    async received() {
      const all: { id: string; text: string }[] = [];
      for (const { text, metadata } of server.messages) {
        const { id, part } = metadata.event_payload;
        const begun = all.findLast((one) => one.id === id);
        if (part === 1 || begun === undefined) all.push({ id, text });
        else begun.text += `\n${text}`;
      }
      return all.map(({ id, text }) => ({ id, text: squashed(text) }));
    },
    failNext(kind) {
      if (kind === 'refuse') server.fail({ error: 'is_archived' });
      else if (kind === 'busy') server.fail({ status: 429, error: 'ratelimited', retry_after: 3 });
      else server.fail({ how: kind === 'down' ? 'drop' : 'hang' });
    },
    close: () => server.close(),
  };
}, ['refuse', 'busy', 'down', 'hang']);
