// Proves that the Telegram channel keeps the contract of all channels, against a server that speaks the Bot API.
import type { Channel } from '../../../src/channels/channel.ts';
import { markdownEntities } from '../../../src/channels/chat/markdown-entities.ts';
import { channelContract, type Fault } from '../contract.ts';
import { ADA, TelegramStage } from './telegram-stage.ts';

/** Collapses white space, which is lost where a text is split; everything else arrives. */
const squashed = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const FAULTS: readonly Fault[] = ['refuse', 'busy', 'down', 'hang'];

channelContract(
  'telegram',
  async () => {
    const stage = await TelegramStage.set();
    /** Message ids of each delivered parcel, in order of delivery. */
    const arrived: (readonly number[])[] = [];
    const { channel } = stage;
    const noted: Channel = {
      name: channel.name,
      check: (address) => channel.check(address),
      close: () => channel.close(),
      async deliver(parcel, context) {
        let ids: readonly number[] = [];
        const result = await channel.deliver(parcel, {
          signal: context.signal,
          saveProgress: async (progress) => {
            ids = (JSON.parse(progress) as { message_ids: number[] }).message_ids;
            await context.saveProgress(progress);
          },
        });
        if (result.type === 'delivered' && ids.length > 0) arrived.push(ids);
        return result;
      },
    };
    return {
      channel: noted,
      good_address: String(ADA.id),
      bad_address: '12345',
      secrets: [stage.server.token, stage.server.token.split(':')[1] as string],
      shown: (text) => squashed(markdownEntities(text).text),
      async received() {
        const texts = new Map(stage.server.book.messages(ADA.id).map((one) => [one.message_id, one.text]));
        return arrived.map((ids) => ({ text: squashed(ids.map((id) => texts.get(id)).join('\n')) }));
      },
      failNext(kind) {
        if (kind === 'refuse')
          stage.server.fail('sendMessage', { type: 'error', status: 400, description: 'Bad Request: no' });
        else if (kind === 'busy')
          stage.server.fail('sendMessage', { type: 'error', status: 503, description: 'busy' });
        else if (kind === 'down') stage.server.fail('sendMessage', { type: 'drop', when: 'before' });
        else stage.server.fail('sendMessage', { type: 'hang' });
      },
      close: () => stage.server.close(),
    };
  },
  FAULTS,
);
