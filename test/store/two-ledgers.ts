import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { TABLES, type Table } from '../../src/kernel/ledger/tables.ts';
import type { Row } from '../../src/store/ledger/rows.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { sharedPostgres } from '../postgres/shared-postgres.ts';
import { Random } from '../sim/random.ts';
import { memoryFolder } from '../temporary-folder.ts';
import { type Call, RandomCalls } from './random-calls.ts';

const ALL: Readonly<Record<string, Table>> = {
  ...TABLES,
  channel_notes: { key: ['channel', 'key'], columns: { channel: 'text', key: 'text', value: 'text' } },
};
/** Number of steps after which both ledgers are emptied. */
const STEPS_OF_A_PLAY = 400;
/** Number of calls between two comparisons of all rows. */
const CALLS_BETWEEN = 10;
/** The format of the random token of a claim. */
const CLAIM = /^[\da-f]{8}-[\da-f-]{27}$/;

export interface Compared {
  readonly steps: number;
  readonly calls: number;
  /** Number of times that all rows of all tables were compared. */
  readonly looks: number;
  /** Number of times that each outcome was seen. */
  readonly outcomes: ReadonlyMap<string, number>;
}

/**
 * Makes the same random calls on a SQLite ledger and a PostgreSQL ledger with one clock, and compares every answer and, at intervals, all rows of all
 * tables. Throws at the first difference, with the seed of the play and its last calls.
 */
export async function compareLedgers(seed: number, steps: number): Promise<Compared> {
  const server = await sharedPostgres();
  const folder = memoryFolder('differential');
  const url = await server.createDatabase();
  const other = new pg.Client({ connectionString: url });
  const two = new TwoLedgers(join(folder, 'ledger.db'), other);
  try {
    await two.open(url);
    for (let play = seed; two.steps < steps; play += 1) await two.play(play, steps);
    return two;
  } finally {
    await two.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

class TwoLedgers implements Compared {
  steps = 0;
  calls = 0;
  looks = 0;
  readonly outcomes = new Map<string, number>();
  readonly #file: string;
  readonly #postgres: pg.Client;
  #stores: readonly Store[] = [];
  #sqlite: DatabaseSync | null = null;
  #now = 0;

  constructor(file: string, postgres: pg.Client) {
    this.#file = file;
    this.#postgres = postgres;
  }

  async open(url: string): Promise<void> {
    const now = () => this.#now;
    this.#stores = [await openStore(this.#file, { now }), await openStore(url, { notifications: false })];
    this.#sqlite = new DatabaseSync(this.#file);
    await this.#postgres.connect();
    // Both databases use the clock of the test.
    await this.#postgres.query(`CREATE TABLE clock (at bigint); INSERT INTO clock VALUES (0);
      CREATE OR REPLACE FUNCTION coppice_now() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT at FROM clock'`);
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close();
    this.#sqlite?.close();
    await this.#postgres.end();
  }

  async play(seed: number, most: number): Promise<void> {
    await this.#empty();
    const calls = new RandomCalls(new Random(`ledgers ${seed}`), (sql) => this.#look(sql));
    const until = Math.min(most, this.steps + STEPS_OF_A_PLAY);
    const done: Call[] = [];
    try {
      while (this.steps < until) {
        const next = calls.next();
        done.push(next);
        await this.#clock(calls.now);
        await this.#both(next);
        if (done.length % CALLS_BETWEEN === 0) await this.#compare();
      }
      await this.#compare();
    } catch (error) {
      const last = done.slice(-3).map((one) => JSON.stringify(one).slice(0, 1_000));
      throw new Error(`play ${seed}, call ${done.length}; the last calls:\n${last.join('\n')}`, {
        cause: error,
      });
    }
  }

  async #empty(): Promise<void> {
    for (const table of Object.keys(ALL)) this.#sqlite?.exec(`DELETE FROM ${table}`);
    await this.#postgres.query(`TRUNCATE ${Object.keys(ALL).join(', ')} CASCADE`);
  }

  async #clock(now: number): Promise<void> {
    if (this.#now === now) return;
    this.#now = now;
    await this.#postgres.query('UPDATE clock SET at = $1', [now]);
  }

  async #both(call: Call): Promise<void> {
    const [left, right] = await Promise.all(this.#stores.map((store) => answered(store, call)));
    assert.deepEqual(right, left, `${call.method} is answered differently`);
    this.calls += 1;
    this.steps += call.method === 'commit' ? (call.args[0] as unknown[]).length : 1;
    for (const outcome of outcomesOf(call, left))
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  #look(sql: string): Row[] {
    return this.#sqlite?.prepare(sql).all() as Row[];
  }

  async #compare(): Promise<void> {
    this.looks += 1;
    const parts = Object.entries(ALL).map(([name, { key, columns }]) => {
      const order =
        key.length === 0
          ? 'id'
          : key.map((column) => (columns[column] === 'text' ? `${column} COLLATE "C"` : column)).join(', ');
      return `'${name}', (SELECT json_agg(t) FROM (SELECT ${Object.keys(columns)} FROM ${name} ORDER BY ${order}) AS t)`;
    });
    const found = await this.#postgres.query(`SELECT json_build_object(${parts.join(', ')}) AS tables`);
    const tables = found.rows[0].tables as Record<string, Row[] | null>;
    for (const [name, table] of Object.entries(ALL)) {
      const { key, columns } = table;
      const order = key.length === 0 ? 'id' : key.join(', ');
      const left = this.#look(`SELECT ${Object.keys(columns)} FROM ${name} ORDER BY ${order}`);
      assert.deepEqual(plain(table, tables[name] ?? []), plain(table, left), `rows of ${name}`);
    }
  }
}

/** Normalised rows: booleans as such, random tokens of claims as one text. */
function plain({ columns }: Table, rows: readonly Row[]): unknown[] {
  return rows.map((row) =>
    Object.entries(columns).map(([column, type]) => {
      const value = row[column];
      if (column === 'last_write' && typeof value === 'string' && CLAIM.test(value)) return 'a claim';
      return [column, type === 'bool' ? Boolean(value) : value];
    }),
  );
}

async function answered(store: Store, call: Call): Promise<unknown> {
  const one = async ({ method, args }: Call) => {
    const method_of = store[method] as (...args: readonly unknown[]) => Promise<unknown>;
    try {
      const answer = await method_of.apply(store, args as unknown[]);
      // The second read removes what the first one returned.
      if (method === 'signals')
        return [
          ...(answer as unknown[]),
          ...((await method_of.apply(store, args as unknown[])) as unknown[]),
        ];
      if (method === 'removeTreeRows')
        return removedInAll(answer as RemovedBatch, () => method_of.apply(store, args as unknown[]));
      return UNORDERED.has(method) ? sorted(answer) : answer instanceof Map ? sorted([...answer]) : answer;
    } catch (error) {
      return { failed: reasonOf(error as Error) };
    }
  };
  const answers = JSON.stringify(await Promise.all([call, ...(call.beside ?? [])].map(one)));
  return JSON.parse(answers, (key, value) => (OWN.has(key) ? undefined : value));
}

type RemovedBatch = Awaited<ReturnType<Store['removeTreeRows']>>;

/** Removes the rest of the tree, too: which rows a batch takes first is up to the plan of the query, so only the sums are comparable. */
async function removedInAll(
  first: RemovedBatch,
  next: () => Promise<unknown>,
): Promise<RemovedBatch['removed']> {
  const all = { ...first.removed };
  for (let batch = first; !batch.done; ) {
    batch = (await next()) as RemovedBatch;
    for (const part of Object.keys(all) as (keyof typeof all)[]) all[part] += batch.removed[part];
  }
  return all;
}

/** What each database numbers by itself: a request's place says only its order, and that of a removed one may be used again. */
const OWN: ReadonlySet<string> = new Set(['place']);

/** The databases word their own refusals differently. */
function reasonOf({ name, message, ...error }: Error): string {
  return /unique constraint/i.test(message) ? 'there already' : ((error as { code?: string }).code ?? name);
}

/** Methods whose results are unordered. */
const UNORDERED: ReadonlySet<string> = new Set([
  'claim',
  'reap',
  'waiters',
  'pendingChannels',
  'closeTrees',
  'dueJobs',
]);

function sorted(answer: unknown): unknown {
  return (answer as unknown[]).map((one) => JSON.stringify(one)).sort();
}

function outcomesOf({ method }: Call, answer: unknown): string[] {
  const all = answer as unknown[];
  if (method !== 'commit')
    return [JSON.stringify(all[0] ?? null).startsWith('{"failed"') ? `${method} fails` : method];
  const verdicts = all[0] as { ok: boolean; refusal?: { reason: string } }[];
  return Array.isArray(verdicts)
    ? verdicts.map(({ ok, refusal }) => (ok ? 'step' : `step: ${refusal?.reason}`))
    : ['commit fails'];
}
