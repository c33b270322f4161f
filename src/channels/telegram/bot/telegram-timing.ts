/** Rates, time limits and delays of the channel. */
export interface TelegramTiming {
  /** Between two messages of one chat. */
  readonly chat_gap_ms: number;
  /** Messages of all chats within any second. */
  readonly bot_per_second: number;
  /** Messages of one group within `group_window_ms`. */
  readonly group_messages: number;
  readonly group_window_ms: number;
  /** One call of the Bot API. */
  readonly call_ms: number;
  /** One try to deliver a parcel, waiting included. */
  readonly deliver_ms: number;
  /** How long the Bot API holds a poll open, in seconds. */
  readonly poll_s: number;
  /** After a failed poll or answer. */
  readonly back_off: { readonly base_ms: number; readonly max_ms: number };
  /** After a conflict: another process polls with the same token. */
  readonly conflict_ms: number;
  /** After the token was refused. */
  readonly refused_ms: number;
  /** From the first text of a turn to the message that shows it. */
  readonly live_first_ms: number;
  /** Between two edits of a live message. */
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
