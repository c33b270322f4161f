import pg from 'pg';
import type { Agent, Tree } from '../../core/agent.ts';
import type { Ask, AskAnswer } from '../../core/ask.ts';
import type { Limits } from '../../core/limits.ts';
import type { Mail, NewMail } from '../../core/mail.ts';
import type { PlacedMessage } from '../../core/message.ts';
import type { NewAgent } from '../../core/new-agent.ts';
import type { Run } from '../../core/run.ts';
import { answerMail } from '../answer-mail.ts';
import { agentOf, askOf, mailOf, messageOf, type Row, requestOf, runOf, treeOf } from '../rows.ts';
import {
  type AgentFilter,
  LEASE_MS,
  type OpenStoreOptions,
  type RequestRecord,
  type RunFilter,
  type Signal,
  type Step,
  type Store,
  type Verdict,
  type Worker,
} from '../store.ts';
import { encodeAgent, encodeMail, encodeSteps } from './encode.ts';
import { HISTORY } from './history-query.ts';
import { Listener } from './listener.ts';
import { asksQuery, findAsksQuery, findRunsQuery, type Listing, runsQuery } from './listings.ts';
import { migrate } from './migrate.ts';
import { NUMBERS } from './numbers.ts';
import { publicLocation, storeErrorOf } from './postgres-error.ts';
import { PostgresOutbox } from './postgres-outbox.ts';

const POOL_SIZE = 4;
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_FOUND = 20;
const WORKING = `g.status IN ('requesting', 'executing', 'awaiting', 'cancelling', 'waiting')`;
const LIVING = `status NOT IN ('completed', 'failed', 'killed')`;

export async function openPostgresStore(url: string, options: OpenStoreOptions): Promise<Store> {
  const location = publicLocation(url);
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: NUMBERS,
  });
  // An idle connection that breaks is replaced at the next query; the query says so if it cannot.
  pool.on('error', () => undefined);
  try {
    await migrate(pool, location);
    return new PostgresStore(pool, url, location, options);
  } catch (error) {
    await pool.end().catch(() => undefined);
    throw storeErrorOf(error, location);
  }
}

/** The ledger on PostgreSQL; every write is one call of a function in the database. */
class PostgresStore extends PostgresOutbox implements Store {
  readonly kind = 'postgres';
  readonly #listener: Listener;

  constructor(pool: pg.Pool, url: string, location: string, options: OpenStoreOptions) {
    super(pool, location);
    this.#listener = new Listener(url, options.notifications !== false);
  }

  async createRoot(root: NewAgent, limits: Limits, options: { served?: boolean } = {}): Promise<Tree> {
    await this.query('create_root', 'SELECT coppice_create_root($1::jsonb, $2, $3)', [
      encodeAgent(root),
      JSON.stringify(limits),
      options.served === true,
    ]);
    return (await this.tree(root.agent.id)) as Tree;
  }

  async commit(steps: readonly Step[]): Promise<Verdict[]> {
    const [row] = await this.query('commit', 'SELECT coppice_commit($1::jsonb) AS verdicts', [
      encodeSteps(steps),
    ]);
    const verdicts = row?.verdicts as unknown as (Omit<Extract<Verdict, { ok: true }>, 'sent'> & {
      sent: number[];
    })[];
    return verdicts.map((verdict, index): Verdict => {
      if (!verdict.ok) return verdict as unknown as Verdict;
      const sent = (steps[index] as Step).send.map(
        (mail, place): Mail => ({ ...mail, number: verdict.sent[place] as number, consumed_seq: null }),
      );
      return { ...verdict, sent };
    });
  }

  async send(mail: NewMail): ReturnType<Store['send']> {
    const [row] = await this.query('send', 'SELECT coppice_send($1::jsonb) AS sent', [encodeMail(mail)]);
    const sent = row?.sent as unknown as { readonly number: number } | 'unknown' | 'dead';
    if (typeof sent === 'string')
      return { ok: false, refusal: { reason: 'recipient', agent_id: mail.to_id, found: sent } };
    return { ok: true, mail: { ...mail, number: sent.number, consumed_seq: null } };
  }

  async kill(agent_id: string, by: string, at: number): Promise<{ ids: string[] }> {
    const [row] = await this.query('kill', 'SELECT coppice_kill($1, $2, $3, NULL) AS ids', [
      agent_id,
      by,
      at,
    ]);
    return { ids: row?.ids as unknown as string[] };
  }

  async setLimits(root_id: string, limits: Limits): Promise<Tree> {
    await this.query('set_limits', 'UPDATE trees SET limits = $2 WHERE root_id = $1', [
      root_id,
      JSON.stringify(limits),
    ]);
    return (await this.tree(root_id)) as Tree;
  }

  async agent(id: string): Promise<Agent | null> {
    const [row] = await this.query('agent', 'SELECT * FROM agents WHERE id = $1', [id]);
    return row === undefined ? null : agentOf(row);
  }

  async agents(filter: AgentFilter): Promise<Agent[]> {
    const where: string[] = ['true'];
    const values: unknown[] = [];
    const equal = (column: string, value: string | undefined): void => {
      if (value === undefined) return;
      values.push(value);
      where.push(`${column} = $${values.length}`);
    };
    equal('root_id', filter.root_id);
    equal('parent_id', filter.parent_id);
    if (filter.living) where.push(LIVING);
    if (filter.roots) where.push('parent_id IS NULL');
    values.push(filter.limit ?? null);
    const text = `SELECT * FROM agents WHERE ${where.join(' AND ')} ORDER BY created_at DESC, number DESC LIMIT $${values.length}`;
    return (
      await this.query(`agents_${where.join('_').replaceAll(/\W+/g, '_').slice(0, 40)}`, text, values)
    ).map(agentOf);
  }

  async find(text: string, root_id?: string): Promise<Agent[]> {
    // `starts_with` knows no wildcards, so nothing in the text is special; the range lets the index find it.
    const sql = `SELECT * FROM agents WHERE (id = $1 OR (length($1) >= 4 AND id ~>=~ lower($1) AND id ~<~ (lower($1) || 'g'))
        OR name = $1 OR session_key = $1) AND ($2::text IS NULL OR root_id = $2)
      ORDER BY NOT (${LIVING}), created_at DESC LIMIT ${MAX_FOUND}`;
    const found = (await this.query('find', sql, [text, root_id ?? null])).map(agentOf);
    const exact = found.find((agent) => agent.id === text);
    return exact === undefined ? found : [exact];
  }

  async tree(root_id: string): Promise<Tree | null> {
    const [row] = await this.query('tree', 'SELECT * FROM trees WHERE root_id = $1', [root_id]);
    return row === undefined ? null : treeOf(row);
  }

  async history(agent_id: string, after = 0, limit?: number): Promise<PlacedMessage[]> {
    return (await this.query('history', HISTORY, [agent_id, after, limit ?? null])).map(messageOf);
  }

  async mail(to_id: string, all = false): Promise<Mail[]> {
    const pending = all ? '' : 'AND consumed_seq IS NULL';
    return (
      await this.query(`mail_${all}`, `SELECT * FROM mail WHERE to_id = $1 ${pending} ORDER BY number`, [
        to_id,
      ])
    ).map(mailOf);
  }

  async waiters(agent_id: string): Promise<string[]> {
    const rows = await this.query('waiters', 'SELECT waiter FROM wait_edges WHERE target = $1', [agent_id]);
    return rows.map((row) => row.waiter as string);
  }

  async requests(agent_id: string): Promise<RequestRecord[]> {
    return (
      await this.query('requests', 'SELECT * FROM requests WHERE agent_id = $1 ORDER BY id', [agent_id])
    ).map(requestOf);
  }

  async runs(filter: RunFilter): Promise<Run[]> {
    return (await this.#list(runsQuery(filter))).map(runOf);
  }

  async findRuns(text: string): Promise<Run[]> {
    const found = (await this.#list(findRunsQuery(text))).map(runOf);
    const exact = found.find((run) => run.id === text);
    return exact === undefined ? found : [exact];
  }

  async asks(filter: Parameters<Store['asks']>[0]): Promise<Ask[]> {
    return (await this.#list(asksQuery(filter))).map(askOf);
  }

  async findAsks(text: string): Promise<Ask[]> {
    return (await this.#list(findAsksQuery(text))).map(askOf);
  }

  #list({ name, sql, values }: Listing): Promise<Row[]> {
    return this.query(name, sql, values);
  }

  async answer(ask_id: string, answer: AskAnswer): ReturnType<Store['answer']> {
    const [ask] = (await this.query('ask', 'SELECT * FROM asks WHERE id = $1', [ask_id])).map(askOf);
    if (ask === undefined) return { ok: false };
    const mail = answerMail(ask, answer);
    const [row] = await this.query('answer', 'SELECT coppice_answer($1, $2::jsonb, $3::jsonb) AS number', [
      ask_id,
      JSON.stringify(answer),
      encodeMail(mail),
    ]);
    const number = row?.number as number | null;
    return number === null ? { ok: false } : { ok: true, mail: { ...mail, number, consumed_seq: null } };
  }

  async reap(root_id: string, at: number): Promise<string[]> {
    const sql = `UPDATE agents SET reaped_at = $2 WHERE root_id = $1 AND reaped_at IS NULL AND parent_id IS NOT NULL
      AND NOT ${LIVING} RETURNING id`;
    return (await this.query('reap', sql, [root_id, at])).map((row) => row.id as string);
  }

  async heartbeat(worker: Worker): Promise<boolean> {
    const sql = `WITH before AS (SELECT expires_at FROM workers WHERE id = $1)
      INSERT INTO workers (id, host, pid, role, expires_at) VALUES ($1, $2, $3, $5, coppice_now() + $4)
      ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
      RETURNING coalesce((SELECT before.expires_at > coppice_now() FROM before), true) AS alive`;
    const [row] = await this.query('heartbeat', sql, [
      worker.id,
      worker.host,
      worker.pid,
      LEASE_MS,
      worker.role ?? 'run',
    ]);
    return (row?.alive as unknown as boolean) === true;
  }

  async release(worker_id: string): Promise<void> {
    const sql = `WITH freed AS (UPDATE agents SET worker = NULL WHERE worker = $1),
      silent AS (DELETE FROM signals WHERE worker = $1),
      unseated AS (DELETE FROM channel_seats WHERE worker = $1) DELETE FROM workers WHERE id = $1`;
    await this.query('release', sql, [worker_id]);
  }

  async claim(root_id: string, worker: Worker): Promise<Agent[]> {
    const gone = (await this.gone()).filter((id) => id !== worker.id);
    // The look at the workers is made anew for a row that another claim has just changed, unlike a join: so one of two claims wins.
    const sql = `UPDATE agents SET worker = $2, epoch = epoch + 1 WHERE id IN (
        SELECT g.id FROM agents g WHERE g.root_id = $1 AND g.${LIVING} AND (g.worker IS NULL OR NOT EXISTS (
          SELECT 1 FROM workers w WHERE w.id = g.worker AND w.expires_at > coppice_now() AND NOT w.id = ANY ($3::text[])))
        FOR UPDATE OF g SKIP LOCKED
      ) RETURNING *`;
    return (await this.query('claim', sql, [root_id, worker.id, gone])).map(agentOf);
  }

  async unledTrees(limit: number): Promise<string[]> {
    const sql = `WITH alive AS MATERIALIZED (
        SELECT id FROM workers WHERE expires_at > coppice_now() AND NOT id = ANY ($2::text[])
      ) SELECT root_id FROM (
        SELECT g.root_id FROM agents g WHERE ${WORKING}
          AND (g.worker IS NULL OR NOT EXISTS (SELECT 1 FROM alive WHERE alive.id = g.worker))
        UNION
        SELECT g.root_id FROM mail m JOIN agents g ON g.id = m.to_id WHERE m.consumed_seq IS NULL AND g.${LIVING}
          AND (g.worker IS NULL OR NOT EXISTS (SELECT 1 FROM alive WHERE alive.id = g.worker))
      ) AS left_alone JOIN trees USING (root_id) WHERE trees.served LIMIT $1`;
    const rows = await this.query('unled_trees', sql, [limit, await this.gone()]);
    return rows.map((row) => row.root_id as string);
  }

  async serveTree(root_id: string): Promise<void> {
    await this.query('serve_tree', 'UPDATE trees SET served = true WHERE root_id = $1', [root_id]);
  }

  async releaseTree(root_id: string, worker_id: string): Promise<void> {
    const sql = 'UPDATE agents SET worker = NULL WHERE root_id = $1 AND worker = $2';
    await this.query('release_tree', sql, [root_id, worker_id]);
  }

  async signals(worker_id: string): Promise<Signal[]> {
    const rows = await this.query(
      'signals',
      'DELETE FROM signals WHERE worker = $1 RETURNING id, agent_id, kind, about',
      [worker_id],
    );
    rows.sort((a, b) => (a.id as number) - (b.id as number));
    return rows.map(({ agent_id, kind, about }) => ({ agent_id, kind, about }) as Signal);
  }

  async workers(): Promise<(Worker & { expires_at: number })[]> {
    const sql = 'SELECT id, host, pid, role, expires_at FROM workers WHERE expires_at > coppice_now()';
    return (await this.query('workers', sql, [])) as unknown as (Worker & { expires_at: number })[];
  }

  listen(worker_id: string, wake: () => void): Promise<() => Promise<void>> {
    return this.#listener.listen(`coppice_worker_${worker_id}`, wake);
  }

  async now(): Promise<number> {
    const [row] = await this.query('now', 'SELECT coppice_now() AS now', []);
    return row?.now as number;
  }

  async close(): Promise<void> {
    await this.#listener.close();
    await this.pool.end().catch(() => undefined);
  }
}
