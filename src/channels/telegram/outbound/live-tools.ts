import type { ChannelLog, ChannelMemory } from '../../channel.ts';
import type { BotClient } from '../bot/bot-client.ts';
import type { TelegramTiming } from '../bot/telegram-timing.ts';
import type { ChatLocks } from '../chat-locks.ts';

/** What live messages work with. */
export interface LiveTools {
  readonly client: BotClient;
  readonly locks: ChatLocks;
  readonly memory: ChannelMemory;
  readonly log: ChannelLog;
  readonly timing: TelegramTiming;
  /** By chat and agent (`chat:agent_id`), the newest message of a reply that was sent while no live message was known. */
  readonly replies: ReadonlyMap<string, number>;
  readonly signal: AbortSignal;
}
