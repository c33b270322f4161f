import type { ChannelLog, ChannelMemory } from '../channel.ts';
import type { BotClient } from './bot-client.ts';
import type { ChatLocks } from './chat-locks.ts';
import type { TelegramTiming } from './telegram-timing.ts';

/** What live messages work with. */
export interface LiveTools {
  readonly client: BotClient;
  readonly locks: ChatLocks;
  readonly memory: ChannelMemory;
  readonly log: ChannelLog;
  readonly timing: TelegramTiming;
  readonly signal: AbortSignal;
}
