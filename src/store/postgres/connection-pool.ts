import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Row } from '../ledger/rows.ts';

const POOL_SIZE = 4;
const CONNECT_TIMEOUT_MS = 5_000;
/** A server that vanished without a word answers nothing: its connections are given up after this. */
const ANSWER_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 10_000;
/** What a pooler that hands connections around answers to statements by name: they were not executed. */
const POOLED = new Set(['26000', '42P05']);

/** One connection, for the statements of one transaction. What is asked at the same moment goes in one round trip. */
export interface Connection {
  query(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Without values, and not remembered. */
  plain(text: string): Promise<void>;
}

/**
 * The connections of one process. A statement's name carries a hash of its text: also where somebody else prepared it on a shared
 * connection, the name stands for this text and no other.
 */
export class ConnectionPool {
  readonly #url: string;
  readonly #names = new Map<string, string>();
  readonly #leaving = new Set<Promise<void>>();
  #pool: pg.Pool;
  #prepare: boolean;
  #ended = false;
  /** Statements cannot be remembered by name here, so a pooler stands between: called once. */
  onPooler: () => void = () => undefined;

  constructor({ url, prepare }: { readonly url: string; readonly prepare: boolean }) {
    this.#url = url;
    this.#prepare = prepare;
    this.#pool = this.#open();
  }

  #open(): pg.Pool {
    const pool = new pg.Pool({
      connectionString: this.#url,
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      types: NUMBERS,
      pipeline: true,
    } as pg.PoolConfig);
    // An idle connection that breaks is replaced at the next query; the query says so if it cannot.
    pool.on('error', () => undefined);
    // One that breaks while it is in use rejects what was asked of it.
    pool.on('connect', (client) => void client.on('error', () => undefined));
    return pool;
  }

  /** Rejects with what the driver threw; a connection whose query failed is not used again. */
  async query(text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return (await this.#pool.query(this.#statement(text, values))).rows as Row[];
    } catch (error) {
      this.#noticePooler(error);
      throw error;
    }
  }

  /** One connection for a transaction; when the work fails, it is not used again. */
  async exclusive<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    try {
      return await work({
        query: async (text, values) => (await client.query(this.#statement(text, values))).rows as Row[],
        plain: async (text) => void (await client.query(text)),
      });
    } catch (error) {
      failure = error as Error;
      this.#noticePooler(error);
      throw error;
    } finally {
      client.release(failure);
    }
  }

  #statement(text: string, values: readonly unknown[]): pg.QueryConfig {
    return { ...(this.#prepare ? { name: this.#nameOf(text) } : {}), text, values: [...values] };
  }

  #noticePooler(error: unknown): void {
    if (!this.#prepare || !POOLED.has((error as { readonly code?: string }).code ?? '')) return;
    this.#prepare = false;
    this.onPooler();
  }

  #nameOf(text: string): string {
    let full = this.#names.get(text);
    if (full === undefined) {
      full = `coppice_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
      this.#names.set(text, full);
    }
    return full;
  }

  /** One connection for statements that belong together, with no limit on the time they take. */
  async alone<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    // Between two statements nobody else would hear of a connection that breaks.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** No connection made so far is used for anything new: where they lead to is not where work can be done. */
  renew(): void {
    if (this.#ended) return;
    this.#leave(this.#pool);
    this.#pool = this.#open();
  }

  #leave(pool: pg.Pool): void {
    const gone = pool
      .end()
      .catch(() => undefined)
      .finally(() => this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }

  async end(): Promise<void> {
    if (!this.#ended) this.#leave(this.#pool);
    this.#ended = true;
    await Promise.all(this.#leaving);
  }
}

const INT8 = 20;

/** `bigint` columns hold counters and times, all far below 2^53. */
export const NUMBERS = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig;
