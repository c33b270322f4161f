/** Rates, time limits and delays of the channel. */
export interface TelegramTiming {
  /** Minimum time between two messages to one chat. */
  readonly chat_gap_ms: number;
  /** Maximum messages to all chats within any second. */
  readonly bot_per_second: number;
  /** Maximum messages to one group within `group_window_ms`. */
  readonly group_messages: number;
  readonly group_window_ms: number;
  /** Timeout of one call of the Bot API. */
  readonly call_ms: number;
  /** Timeout of one try to deliver a parcel, waiting included. */
  readonly deliver_ms: number;
  /** How long the Bot API holds a poll open, in seconds. */
  readonly poll_s: number;
  /** Back-off after a failed poll, update or reply. */
  readonly back_off: { readonly base_ms: number; readonly max_ms: number };
  /** Pause after a conflict: another process polls with the same token. */
  readonly conflict_ms: number;
  /** Pause after the token was refused. */
  readonly refused_ms: number;
  /** Delay from the first text of a turn to the message that shows it. */
  readonly live_first_ms: number;
  /** Minimum time between two edits of a live message. */
  readonly live_gap_ms: number;
  /** How long the live message of an ended turn waits for its reply while the next turn has begun. */
  readonly live_grace_ms: number;
}

/** A little below Telegram's limits (core.telegram.org/bots/faq, "My bot is hitting limits"). */
export const TELEGRAM_TIMING: TelegramTiming = {
  chat_gap_ms: 1_000,
  bot_per_second: 25,
  group_messages: 20,
  group_window_ms: 60_000,
  call_ms: 30_000,
  deliver_ms: 600_000,
  poll_s: 50,
  back_off: { base_ms: 1_000, max_ms: 30_000 },
  conflict_ms: 10_000,
  refused_ms: 60_000,
  live_first_ms: 500,
  live_gap_ms: 2_500,
  live_grace_ms: 20_000,
};
