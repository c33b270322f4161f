import type { Socket } from 'node:net';
import pg from 'pg';

/** Polling interval: notifications may be switched off, or lost while the connection is down. */
const POLL_MS = 1_000;
const RECONNECT_MS = 500;
const CONNECT_TIMEOUT_MS = 5_000;
/** How often a silent connection is probed; without an answer it is given up. */
const PING_MS = 15_000;
const ANSWER_TIMEOUT_MS = 5_000;

/** A dedicated connection for `LISTEN`; reconnects by itself, and polls as a fallback. Without an address it only polls. */
export class Listener {
  readonly #url: string | null;
  readonly #polls: boolean;
  readonly #channels = new Map<string, () => void>();
  #client: pg.Client | null = null;
  #connecting: Promise<void> | null = null;
  #poll: NodeJS.Timeout | null = null;
  #ping: NodeJS.Timeout | null = null;
  #reconnect: NodeJS.Timeout | null = null;
  #polls_only: boolean;
  #closed = false;

  constructor(url: string | null, polls = true) {
    this.#url = url;
    this.#polls = polls;
    this.#polls_only = url === null;
  }

  async listen(channel: string, wake: () => void): Promise<() => Promise<void>> {
    this.#channels.set(channel, wake);
    if (this.#polls || this.#polls_only) this.#poll ??= setInterval(() => this.#wakeAll(), POLL_MS).unref();
    if (!this.#polls_only) {
      this.#ping ??= setInterval(() => void this.#probe(), PING_MS).unref();
      this.#connecting ??= this.#connect();
      await this.#connecting;
      await this.#client?.query(`LISTEN ${quoted(channel)}`).catch(() => undefined);
    }
    return async () => {
      this.#channels.delete(channel);
      await this.#client?.query(`UNLISTEN ${quoted(channel)}`).catch(() => undefined);
    };
  }

  /** Gives up the connection: behind a pooler it receives nothing. */
  async pollOnly(): Promise<void> {
    this.#polls_only = true;
    const client = this.#client;
    this.#client = null;
    if (client !== null) await endClient(client);
  }

  async #connect(): Promise<void> {
    if (this.#closed || this.#polls_only || this.#url === null) return;
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('notification', ({ channel }) => this.#channels.get(channel)?.());
    client.on('error', () => undefined);
    client.on('end', () => this.#lost(client));
    try {
      await client.connect();
      for (const channel of this.#channels.keys()) await client.query(`LISTEN ${quoted(channel)}`);
      if (this.#closed || this.#polls_only) return void (await endClient(client));
      this.#client = client;
      // Notifications may have been missed meanwhile; the ledger has what they were about.
      this.#wakeAll();
    } catch {
      this.#lost(client);
    }
  }

  async #probe(): Promise<void> {
    const client = this.#client;
    if (client !== null) await client.query('SELECT 1').catch(() => this.#lost(client));
  }

  /** May be called more than once for a broken connection; reconnects once. */
  #lost(client: pg.Client): void {
    if (this.#client === client) this.#client = null;
    void endClient(client);
    if (this.#closed || this.#polls_only || this.#reconnect !== null) return;
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
    for (const timer of [this.#poll, this.#ping]) if (timer !== null) clearInterval(timer);
    if (this.#reconnect !== null) clearTimeout(this.#reconnect);
    this.#channels.clear();
    await this.#connecting;
    if (this.#client !== null) await endClient(this.#client);
  }
}

function quoted(channel: string): string {
  return `"${channel.replaceAll('"', '""')}"`;
}

const GOODBYE_MS = 1_000;

/** Ends a connection, by force if the server does not respond. Never rejects. */
async function endClient(client: pg.ClientBase): Promise<void> {
  const { connection, end } = client as unknown as {
    readonly connection: { readonly stream: Socket };
    readonly end: () => Promise<void>;
  };
  const cut = setTimeout(() => connection.stream.destroy(), GOODBYE_MS);
  await end.call(client).catch(() => undefined);
  clearTimeout(cut);
}
