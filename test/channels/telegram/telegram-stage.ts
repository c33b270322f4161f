import assert from 'node:assert/strict';
import type { DeliverResult, InboundChannel, Parcel } from '../../../src/channels/channel.ts';
import type { TelegramTiming } from '../../../src/channels/telegram/bot/telegram-timing.ts';
import { openTelegram } from '../../../src/channels/telegram/telegram-channel.ts';
import type { Ask } from '../../../src/records/conversation/ask.ts';
import { TelegramServer } from '../../servers/telegram-server.ts';
import { openAsk } from '../../store/ledger-fixture.ts';
import { until } from '../../until.ts';
import { MemoryChatSessions } from '../memory-chat-sessions.ts';

export const ADA = { id: 71, first_name: 'Ada', is_bot: false };
export const STRANGER = { id: 999, first_name: 'Mallory', is_bot: false };
export const GROUP = -1001;
export const AGENT = '11111111-1111-4111-8111-111111111111';

/** Short times for tests, without pauses between messages, which have tests of their own. */
const QUICK: Partial<TelegramTiming> = {
  chat_gap_ms: 0,
  bot_per_second: 10_000,
  group_messages: 10_000,
  poll_s: 20,
  back_off: { base_ms: 5, max_ms: 20 },
  conflict_ms: 20,
  refused_ms: 20,
  live_first_ms: 1,
  live_gap_ms: 20,
  live_grace_ms: 60_000,
};

interface LogLine {
  readonly level: string;
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A bot server, the channel connected to it, and chat sessions, for one test. */
export class TelegramStage {
  readonly server: TelegramServer;
  readonly sessions = new MemoryChatSessions();
  readonly log: LogLine[] = [];
  readonly #timing: Partial<TelegramTiming>;
  channel: InboundChannel;
  #listening: { readonly stop: AbortController; readonly done: Promise<void> } | null = null;

  private constructor(server: TelegramServer, timing: Partial<TelegramTiming>) {
    this.server = server;
    this.#timing = timing;
    this.channel = this.open();
  }

  static async set(timing: Partial<TelegramTiming> = {}): Promise<TelegramStage> {
    const server = await TelegramServer.start();
    server.book.know(ADA.id);
    server.book.know(GROUP);
    return new TelegramStage(server, timing);
  }

  open(token = this.server.token, api_root = this.server.url): InboundChannel {
    return openTelegram({
      token,
      allow: [ADA.id],
      api_root,
      log: (level, text, fields = {}) => this.log.push({ level, text, fields }),
      timing: { ...QUICK, ...this.#timing },
    });
  }

  /** Simulates a process that dies and is replaced: the channel is closed and reopened, the ledger stays. */
  async restart(): Promise<void> {
    const listened = this.#listening !== null;
    await this.deafen();
    await this.channel.close();
    this.channel = this.open();
    if (listened) await this.listen();
  }

  /** Starts listening; resolves when the first poll is open. */
  async listen(): Promise<void> {
    const stop = new AbortController();
    const polls = this.server.polls.length;
    this.#listening = { stop, done: this.channel.listen(this.sessions, stop.signal) };
    await until(() => this.server.polls.length > polls, 'the first poll');
  }

  async deafen(): Promise<void> {
    this.#listening?.stop.abort();
    await this.#listening?.done;
    this.#listening = null;
  }

  async end(): Promise<void> {
    await this.deafen();
    await this.channel.close();
    await this.server.close();
  }

  /** Makes one delivery attempt; `saved` receives each progress note. */
  async deliver(
    parcel: Parcel,
    options: { readonly signal?: AbortSignal; readonly saved?: string[] } = {},
  ): Promise<DeliverResult> {
    return await this.channel.deliver(parcel, {
      signal: options.signal ?? new AbortController().signal,
      saveProgress: async (progress) => void options.saved?.push(progress),
    });
  }

  /** Texts of the log lines of one level. */
  logged(level: string): readonly string[] {
    return this.log.filter((line) => line.level === level).map(({ text }) => text);
  }

  texts(chat = ADA.id): readonly string[] {
    return this.server.book.texts(chat);
  }
}

/** Runs a test on its own stage and cleans up, whatever the outcome. */
export function onStage(
  play: (stage: TelegramStage) => Promise<void>,
  timing: Partial<TelegramTiming> = {},
): () => Promise<void> {
  return async () => {
    const stage = await TelegramStage.set(timing);
    try {
      await play(stage);
      const secret = stage.server.token.split(':')[1] as string;
      assert.equal(JSON.stringify(stage.log).includes(secret), false, 'the token stands in the log');
    } finally {
      await stage.end();
    }
  };
}

let parcels = 0;

export function parcelOf(text: string, change: Partial<Parcel> = {}): Parcel {
  parcels += 1;
  return {
    id: `parcel-${parcels}`,
    kind: 'reply',
    address: String(ADA.id),
    text,
    agent_id: AGENT,
    root_id: AGENT,
    run: null,
    ask: null,
    created_at: 1,
    attempt: 1,
    progress: null,
    ...change,
  };
}

export function askOf(input: unknown, change: Partial<Ask> = {}): Ask {
  return openAsk({
    id: 'a1b2c3d4-0000-4000-8000-000000000001',
    root_id: AGENT,
    agent_id: AGENT,
    agent_name: 'file-reader',
    subject: 'rm -rf dist',
    input: typeof input === 'string' ? input : JSON.stringify(input),
    cwd: '/project',
    rule: 'ask(bash:rm *)',
    ...change,
  });
}
