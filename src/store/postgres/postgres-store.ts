import type { Agent, Tree } from '../../core/agent.ts';
import type { Ask, AskAnswer } from '../../core/ask.ts';
import type { Limits } from '../../core/limits.ts';
import type { Mail, NewMail } from '../../core/mail.ts';
import type { PlacedMessage } from '../../core/message.ts';
import type { NewAgent } from '../../core/new-agent.ts';
import type { Run } from '../../core/run.ts';
import type { RequestRecord, Step, Verdict } from '../../core/step.ts';
import { answerMail } from '../answer-mail.ts';
import { agentOf, askOf, mailOf, messageOf, type Row, requestOf, runOf, treeOf } from '../rows.ts';
import type { AgentFilter, OpenStoreOptions, RootTerms, RunFilter, Store } from '../store.ts';
import { Together } from '../together.ts';
import { hasUnread } from '../unread.ts';
import { where } from '../where.ts';
import { ConnectionPool } from './connection-pool.ts';
import { encodeAgent, encodeMail, encodeSteps } from './encode.ts';
import { HISTORY } from './history-query.ts';
import { Listener } from './listener.ts';
import { asksQuery, findAsksQuery, findRunsQuery, type Listing, runsQuery } from './listings.ts';
import { LIVING } from './living.ts';
import { migrate } from './migrate.ts';
import { postgresAddress } from './postgres-address.ts';
import { storeErrorOf } from './postgres-error.ts';
import { PostgresRetention } from './postgres-retention.ts';

const MAX_FOUND = 20;
const FOLDER = "config::json->>'cwd'";

/** `COPPICE_LISTEN_URL` in `env` is the direct address for `LISTEN` where a pooler stands between. */
export async function openPostgresStore(
  url: string,
  options: OpenStoreOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Store> {
  const address = postgresAddress(url, env);
  const { location } = address;
  const pool = new ConnectionPool(address);
  try {
    await pool.exclusively((client) => migrate(client, location, options.create !== false));
  } catch (error) {
    await pool.end();
    throw storeErrorOf(error, location, { opening: true });
  }
  const listener = new Listener(options.notifications === false ? null : address.listen_url);
  // An address of its own for LISTEN was given for that very case.
  if (address.listen_url === address.url) pool.onPooler = () => void listener.pollOnly();
  return new PostgresStore(pool, location, listener);
}

/** The ledger on PostgreSQL; every write is one call of a function in the database. */
type Sent = Awaited<ReturnType<Store['send']>>;

class PostgresStore extends PostgresRetention implements Store {
  readonly kind = 'postgres';
  readonly #listener: Listener;
  readonly #letters = new Together<NewMail, Sent>((letters) => this.#sendAll(letters));

  constructor(pool: ConnectionPool, location: string, listener: Listener) {
    super(pool, location);
    this.#listener = listener;
  }

  async createRoot(root: NewAgent, limits: Limits, terms: RootTerms = {}): Promise<Tree> {
    const { served = false, placement = [] } = terms;
    await this.query('create_root', 'SELECT coppice_create_root($1::jsonb, $2, $3, $4)', [
      encodeAgent(root),
      JSON.stringify(limits),
      served,
      JSON.stringify(placement),
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

  send(mail: NewMail): ReturnType<Store['send']> {
    return this.#letters.do(mail);
  }

  async #sendAll(letters: readonly NewMail[]): Promise<Sent[]> {
    const sql = 'SELECT coppice_send_all($1::jsonb) AS sent';
    const [row] = await this.query('send', sql, [`[${letters.map(encodeMail).join(',')}]`]);
    const sent = row?.sent as unknown as readonly ({ readonly number: number } | 'unknown' | 'dead')[];
    return letters.map((mail, index) => {
      const one = sent[index];
      if (typeof one === 'object')
        return { ok: true, mail: { ...mail, number: one.number, consumed_seq: null } };
      return {
        ok: false,
        refusal: { reason: 'recipient', agent_id: mail.to_id, found: one ?? 'unknown' },
      };
    });
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
    const [row] = await this.read(
      'agent',
      `SELECT *, ${hasUnread('agents')} AS unread FROM agents WHERE id = $1`,
      [id],
    );
    return row === undefined ? null : agentOf(row);
  }

  async agents(filter: AgentFilter): Promise<Agent[]> {
    const { root_id, parent_id, cwd, living, conversations, limit } = filter;
    const { sql, values, next } = where('$', { root_id, parent_id, [FOLDER]: cwd }, [
      living && LIVING,
      conversations && "origin = 'root'",
    ]);
    const text = `SELECT *, ${hasUnread('agents')} AS unread FROM agents ${sql} ORDER BY created_at DESC, number DESC LIMIT ${next}`;
    return (await this.read('agents', text, [...values, limit ?? null])).map(agentOf);
  }

  async find(text: string, root_id?: string): Promise<Agent[]> {
    // A range knows no wildcards, so nothing in the text is special, and the index finds it.
    const sql = `SELECT *, ${hasUnread('agents')} AS unread FROM agents WHERE (id = $1 OR (length($1) >= 4 AND id ~>=~ lower($1) AND id ~<~ (lower($1) || 'g'))
        OR name = $1 OR session_key = $1) ${root_id === undefined ? '' : 'AND root_id = $2'}
      ORDER BY NOT (${LIVING}), created_at DESC LIMIT ${MAX_FOUND}`;
    const found = (await this.read('find', sql, root_id === undefined ? [text] : [text, root_id])).map(
      agentOf,
    );
    const exact = found.find((agent) => agent.id === text);
    return exact === undefined ? found : [exact];
  }

  async tree(root_id: string): Promise<Tree | null> {
    const [row] = await this.read('tree', 'SELECT * FROM trees WHERE root_id = $1', [root_id]);
    return row === undefined ? null : treeOf(row);
  }

  async history(agent_id: string, after = 0, limit?: number): Promise<PlacedMessage[]> {
    return (await this.read('history', HISTORY, [agent_id, after, limit ?? null])).map(messageOf);
  }

  async mail(to_id: string, all = false): Promise<Mail[]> {
    const pending = all ? '' : 'AND consumed_seq IS NULL';
    return (
      await this.read(`mail_${all}`, `SELECT * FROM mail WHERE to_id = $1 ${pending} ORDER BY number`, [
        to_id,
      ])
    ).map(mailOf);
  }

  async waiters(agent_id: string): Promise<string[]> {
    const rows = await this.read('waiters', 'SELECT waiter FROM wait_edges WHERE target = $1', [agent_id]);
    return rows.map((row) => row.waiter as string);
  }

  async requests(agent_id: string): Promise<RequestRecord[]> {
    return (
      await this.read('requests', 'SELECT * FROM requests WHERE agent_id = $1 ORDER BY id', [agent_id])
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
    return this.read(name, sql, values);
  }

  async answer(ask_id: string, answer: AskAnswer): ReturnType<Store['answer']> {
    const [ask] = (await this.read('ask', 'SELECT * FROM asks WHERE id = $1', [ask_id])).map(askOf);
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

  listen(worker_id: string, wake: () => void): Promise<() => Promise<void>> {
    return this.#listener.listen(`coppice_worker_${worker_id}`, wake);
  }

  async now(): Promise<number> {
    const [row] = await this.read('now', 'SELECT coppice_now() AS now', []);
    return row?.now as number;
  }

  async close(): Promise<void> {
    await this.#listener.close();
    await this.pool.end();
  }
}
