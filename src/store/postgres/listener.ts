import pg from 'pg';

/** Looked at even without a notification: they may be lost while the connection is down, or switched off. */
const POLL_MS = 1_000;
const RECONNECT_MS = 500;

/** One connection of its own for `LISTEN`: reconnects by itself, and polls as a net. */
export class Listener {
  readonly #url: string;
  readonly #notifications: boolean;
  readonly #channels = new Map<string, () => void>();
  #client: pg.Client | null = null;
  #connecting: Promise<void> | null = null;
  #poll: NodeJS.Timeout | null = null;
  #reconnect: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(url: string, notifications: boolean) {
    this.#url = url;
    this.#notifications = notifications;
  }

  async listen(channel: string, wake: () => void): Promise<() => Promise<void>> {
    this.#channels.set(channel, wake);
    this.#poll ??= setInterval(() => this.#wakeAll(), POLL_MS).unref();
    if (this.#notifications) {
      this.#connecting ??= this.#connect();
      await this.#connecting;
      await this.#client?.query(`LISTEN ${quoted(channel)}`).catch(() => undefined);
    }
    return async () => {
      this.#channels.delete(channel);
      await this.#client?.query(`UNLISTEN ${quoted(channel)}`).catch(() => undefined);
    };
  }

  async #connect(): Promise<void> {
    if (this.#closed) return;
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    client.on('notification', ({ channel }) => this.#channels.get(channel)?.());
    client.on('error', () => undefined);
    client.on('end', () => this.#lost(client));
    try {
      await client.connect();
      for (const channel of this.#channels.keys()) await client.query(`LISTEN ${quoted(channel)}`);
      this.#client = client;
      // What was notified while nobody listened is in the ledger all the same.
      this.#wakeAll();
    } catch {
      this.#lost(client);
    }
  }

  /** A broken connection is reported more than once; it is replaced once. */
  #lost(client: pg.Client): void {
    if (this.#client === client) this.#client = null;
    if (this.#closed || this.#reconnect !== null) return;
    void client.end().catch(() => undefined);
    this.#reconnect = setTimeout(() => {
      this.#reconnect = null;
      if (this.#client === null && !this.#closed) this.#connecting = this.#connect();
    }, RECONNECT_MS).unref();
  }

  #wakeAll(): void {
    for (const wake of this.#channels.values()) wake();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#poll !== null) clearInterval(this.#poll);
    if (this.#reconnect !== null) clearTimeout(this.#reconnect);
    this.#channels.clear();
    await this.#connecting?.catch(() => undefined);
    await this.#client?.end().catch(() => undefined);
  }
}

function quoted(channel: string): string {
  return `"${channel.replaceAll('"', '""')}"`;
}
