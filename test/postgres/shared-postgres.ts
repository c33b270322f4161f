import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { hasRoom, MEMORY } from '../temporary-folder.ts';
import { executeSql } from './execute-sql.ts';
import { type PostgresServer, startPostgres } from './start-postgres.ts';

/** The environment variable in which `scripts/test.ts` passes the HTTP address that answers with the URL of the shared server. */
const ADDRESS = 'COPPICE_TEST_POSTGRES';
/** A ledger without rows; copying it takes a fifth of the time of creating the tables. */
const TEMPLATE = 'ledger_template';
/** Settings for databases that only one test file uses, for a short time. */
const SETTINGS = ['max_connections=300', 'autovacuum=off', 'full_page_writes=off'];

export interface Databases {
  /** Creates a ledger without rows and returns its URL. */
  createDatabase(): Promise<string>;
  /** Creates a database without tables and returns its URL. */
  createEmpty(encoding?: string): Promise<string>;
  /** Drops the created databases, or stops the server if this file started it. */
  stop(): Promise<void>;
}

/** A server on which every test file has its own databases. */
export async function startShared(): Promise<PostgresServer> {
  const server = await startPostgres({
    settings: SETTINGS,
    // Creating a database in memory takes a third of the time.
    in_memory: hasRoom(MEMORY),
  });
  try {
    await executeSql(server.url, `CREATE DATABASE ${TEMPLATE}`);
    const store = await openStore(server.url.replace(/postgres$/, TEMPLATE));
    await store.close();
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

let made = 0;

/**
 * Databases on the server that all test files of a run share; a file that runs alone starts its own server. Tests that stop, restart or
 * measure a server use `startPostgres`.
 */
export async function sharedPostgres(): Promise<Databases> {
  const address = process.env[ADDRESS];
  const own = address === undefined ? await startShared() : null;
  const url = own?.url ?? (await askFor(address ?? ''));
  const names: string[] = [];
  const create = async (like: string, encoding = 'UTF8'): Promise<string> => {
    made += 1;
    const name = `test_${process.pid}_${made}`;
    await execute(url, `CREATE DATABASE ${name} TEMPLATE ${like} ENCODING ${encoding} STRATEGY file_copy`);
    names.push(name);
    return url.replace(/postgres$/, name);
  };
  return {
    createDatabase: () => create(TEMPLATE),
    createEmpty: (encoding) => create('template0', encoding),
    async stop() {
      if (own === null) for (const name of names) await execute(url, `DROP DATABASE ${name} WITH (FORCE)`);
      else {
        await pools.get(url)?.end();
        await own.stop();
      }
    },
  };
}

/** One connection per server, reused because connecting costs more than the statements; it does not keep the process alive. */
const pools = new Map<string, pg.Pool>();

async function execute(url: string, sql: string): Promise<void> {
  const kept = { max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true };
  const pool = pools.get(url) ?? new pg.Pool({ connectionString: url, ...kept });
  pools.set(url, pool);
  await pool.query(sql);
}

async function askFor(address: string): Promise<string> {
  // Avoids reusing a connection that its server may be closing.
  const response = await fetch(address, { headers: { connection: 'close' } });
  const text = await response.text();
  if (!response.ok) throw new Error(`the PostgreSQL server for the tests did not start: ${text}`);
  return text;
}
