import type { ChannelLog } from '../channel.ts';
import type { TelegramTiming } from './bot/telegram-timing.ts';

export interface TelegramOptions {
  readonly token: string;
  /** Numeric ids of the users who may write and answer, and be written to; empty means nobody. */
  readonly allow: readonly number[];
  /** Where the Bot API is; Telegram's own unless a local server is used. */
  readonly api_root?: string;
  readonly log: ChannelLog;
  readonly timing?: Partial<TelegramTiming>;
}
