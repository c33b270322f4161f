import { hash } from 'node:crypto';
import pg from 'pg';
import { keptIn } from '../../records/kept-in.ts';
import type { Row } from '../ledger/rows.ts';

const POOL_SIZE = 3;
const CONNECT_TIMEOUT_MS = 5_000;
/** Timeout of a query; after it, connections to a server that does not answer are given up. */
const ANSWER_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 10_000;
/** Estimates of large trees exceed what PostgreSQL compiles a query for, which takes seconds where these queries take milliseconds. */
const NO_JIT = 'jit = off';
/** Begins a transaction. The server ends that of a process that stops in the middle of it, well before a lease runs out. */
const BEGIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 4000; SET LOCAL ${NO_JIT}`;
/** Errors of prepared statements behind a pooler in transaction mode (name unknown, name exists): the statement was not executed. */
const POOLER_ERRORS = new Set(['26000', '42P05']);

/** One connection for the statements of one transaction. Statements of the same tick share a round trip. */
export interface Connection {
  query(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Runs a statement without values, not prepared. */
  plain(text: string): Promise<void>;
}

/**
 * The connections of one process. The name of a prepared statement contains a hash of its text, so that it means the same, whichever process prepared it on a
 * shared connection.
 */
export class ConnectionPool {
  readonly #url: string;
  readonly #names = new Map<string, string>();
  readonly #closing = new Set<Promise<void>>();
  #pool: pg.Pool;
  #prepare: boolean;
  #ended = false;
  /** Called once, when an error shows that there is a pooler in front of the server. */
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
    // A broken idle connection is replaced at the next query, which reports if that fails.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => {
      // A connection that breaks in use rejects its queries.
      client.on('error', () => undefined);
      // Sent with the first statement. Behind a pooler, it would reach another connection.
      if (this.#prepare) client.query(`SET ${NO_JIT}`).catch(() => undefined);
    });
    return pool;
  }

  /** Rejects with the driver's error; a connection whose query failed is not used again. */
  async query(text: string, values: readonly unknown[]): Promise<Row[]> {
    if (!this.#prepare)
      return this.transaction(
        async (one, begun) => (await Promise.all([begun, one.query(text, values), one.plain('COMMIT')]))[1],
      );
    try {
      return (await this.#pool.query(this.#statement(text, values))).rows as Row[];
    } catch (error) {
      this.#noticePooler(error);
      throw error;
    }
  }

  /** One connection for a transaction, which `begun` begins; not used again when the work fails. */
  async transaction<T>(work: (connection: Connection, begun: Promise<void>) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    try {
      const query = async (text: string, values: readonly unknown[]) =>
        (await client.query(this.#statement(text, values))).rows as Row[];
      const plain = async (text: string) => void (await client.query(text));
      return await work({ query, plain }, plain(BEGIN));
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
    if (!this.#prepare || !POOLER_ERRORS.has((error as { readonly code?: string }).code ?? '')) return;
    this.#prepare = false;
    this.onPooler();
  }

  #nameOf(text: string): string {
    return keptIn(this.#names, text, () => `coppice_${hash('sha256', text).slice(0, 16)}`);
  }

  /** A connection outside the pool, for a sequence of statements without a time limit. */
  async dedicated<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    // Otherwise a connection that breaks between two statements would end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Makes new queries use new connections, because the present ones lead to a server that cannot do the work. */
  reconnect(): void {
    if (this.#ended) return;
    this.#retire(this.#pool);
    this.#pool = this.#open();
  }

  #retire(pool: pg.Pool): void {
    const gone = pool
      .end()
      .catch(() => undefined)
      .finally(() => this.#closing.delete(gone));
    this.#closing.add(gone);
  }

  async end(): Promise<void> {
    if (!this.#ended) this.#retire(this.#pool);
    this.#ended = true;
    await Promise.all(this.#closing);
  }
}

const INT8 = 20;

/** `bigint` as a number: these columns hold counters and times, all far below 2^53. */
export const NUMBERS = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig;
