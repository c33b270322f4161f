/** Rates, time limits and delays of the channel, a little below Telegram's limits (core.telegram.org/bots/faq, "My bot is hitting limits"). */
export const TELEGRAM_TIMING = {
  /** Minimum time between two messages to one chat. */
  chat_gap_ms: 1_000,
  /** Maximum messages to all chats within any second. */
  bot_per_second: 25,
  /** Maximum messages to one group within `group_window_ms`. */
  group_messages: 20,
  group_window_ms: 60_000,
  /** Timeout of one call of the Bot API. */
  call_ms: 30_000,
  /** Timeout of one try to deliver a parcel, waiting included. */
  deliver_ms: 600_000,
  /** How long the Bot API holds a poll open, in seconds. */
  poll_s: 50,
  /** Back-off after a failed poll, update or reply. */
  back_off: { base_ms: 1_000, max_ms: 30_000 },
  /** Pause after a conflict: another process polls with the same token. */
  conflict_ms: 10_000,
  /** Pause after the token was refused. */
  refused_ms: 60_000,
  /** Delay from the first text of a turn to the message that shows it. */
  live_first_ms: 500,
  /** Minimum time between two edits of a live message. */
  live_gap_ms: 2_500,
  /** How long the live message of an ended turn waits for its reply while the next turn has begun. */
  live_grace_ms: 20_000,
};

export type TelegramTiming = Readonly<typeof TELEGRAM_TIMING>;
