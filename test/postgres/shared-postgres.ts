import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { hasRoom, MEMORY } from '../temporary-folder.ts';
import { executeSql } from './execute-sql.ts';
import { type PostgresServer, startPostgres } from './start-postgres.ts';

/** In this variable, `scripts/test.ts` passes the address of the server for all test files. */
const ADDRESS = 'COPPICE_TEST_POSTGRES';
/** A ledger without rows; a copy of it costs a fifth of creating the tables anew. */
const TEMPLATE = 'ledger_template';
/** Nobody but the test uses its database. */
const SETTINGS = ['max_connections=300', 'autovacuum=off', 'full_page_writes=off'];

export interface Databases {
  /** A new ledger without rows. */
  createDatabase(): Promise<string>;
  /** A new database without tables. */
  createEmpty(): Promise<string>;
  /** Removes what was made. */
  stop(): Promise<void>;
}

/** A server on which every test file has its own databases. */
export async function startShared(): Promise<PostgresServer> {
  const server = await startPostgres({
    settings: SETTINGS,
    // A new database costs a third there.
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
 * Databases on the server that all test files of a run share; a file that runs alone starts its own server. For tests that stop, restart or
 * measure a server: `startPostgres`.
 */
export async function sharedPostgres(): Promise<Databases> {
  const address = process.env[ADDRESS];
  const own = address === undefined ? await startShared() : null;
  const url = own?.url ?? (await askFor(address ?? ''));
  const names: string[] = [];
  const create = async (like: string): Promise<string> => {
    made += 1;
    const name = `test_${process.pid}_${made}`;
    await execute(url, `CREATE DATABASE ${name} TEMPLATE ${like} STRATEGY file_copy`);
    names.push(name);
    return url.replace(/postgres$/, name);
  };
  return {
    createDatabase: () => create(TEMPLATE),
    createEmpty: () => create('template0'),
    async stop() {
      if (own === null) for (const name of names) await execute(url, `DROP DATABASE ${name} WITH (FORCE)`);
      else {
        await pools.get(url)?.end();
        await own.stop();
      }
    },
  };
}

/** One connection for each server, which keeps no process alive: to connect costs more than what is said. */
const pools = new Map<string, pg.Pool>();

async function execute(url: string, sql: string): Promise<void> {
  const kept = { max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true };
  const pool = pools.get(url) ?? new pg.Pool({ connectionString: url, ...kept });
  pools.set(url, pool);
  await pool.query(sql);
}

async function askFor(address: string): Promise<string> {
  // Not over a connection that its server may be closing.
  const response = await fetch(address, { headers: { connection: 'close' } });
  const text = await response.text();
  if (!response.ok) throw new Error(`the PostgreSQL server for the tests did not start: ${text}`);
  return text;
}
