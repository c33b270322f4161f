import { hostname } from 'node:os';
import type { DatabaseSync } from 'node:sqlite';
import type { Agent, Tree } from '../../core/agent.ts';
import type { Ask, AskAnswer } from '../../core/ask.ts';
import type { Limits } from '../../core/limits.ts';
import type { Mail, NewMail } from '../../core/mail.ts';
import type { PlacedMessage } from '../../core/message.ts';
import type { NewAgent } from '../../core/new-agent.ts';
import type { Run } from '../../core/run.ts';
import { isTerminal } from '../../core/state.ts';
import { answerMail } from '../answer-mail.ts';
import { agentOf, mailOf, messageOf, type Row, requestOf, treeOf, workerOf } from '../rows.ts';
import {
  type AgentFilter,
  type KnownWorker,
  LEASE_MS,
  type OpenStoreOptions,
  type RequestRecord,
  type RootTerms,
  type RunFilter,
  type Signal,
  type Step,
  type Store,
  type Verdict,
  type Worker,
} from '../store.ts';
import { findAsks, findRuns, listAsks, listRuns } from './listings.ts';
import { openDatabase } from './open-database.ts';
import { SqliteOutbox } from './sqlite-outbox.ts';

/** How often another process's writes are looked for; one pragma each time. */
const POLL_MS = 10;
const POLL_WITHOUT_NOTIFICATIONS_MS = 1_000;
const MAX_FOUND = 20;

export function openSqliteStore(path: string, options: OpenStoreOptions): Store {
  return new SqliteStore(path, openDatabase(path), options);
}

/** The ledger in one file. Everything is synchronous inside; promises are the contract's, not SQLite's. */
class SqliteStore extends SqliteOutbox implements Store {
  readonly kind = 'sqlite';
  readonly #poll_ms: number;

  constructor(path: string, database: DatabaseSync, options: OpenStoreOptions) {
    super(path, database, options.now ?? Date.now);
    this.#poll_ms = options.notifications === false ? POLL_WITHOUT_NOTIFICATIONS_MS : POLL_MS;
  }

  async createRoot(root: NewAgent, limits: Limits, terms: RootTerms = {}): Promise<Tree> {
    return this.transaction((commit) => commit.createRoot(root, limits, terms));
  }

  async commit(steps: readonly Step[]): Promise<Verdict[]> {
    return this.transaction((commit) => steps.map((step) => commit.apply(step)));
  }

  async send(mail: NewMail): ReturnType<Store['send']> {
    return this.transaction((commit) => {
      const there = this.sql.isSent.get(mail.id) as Row | undefined;
      if (there !== undefined) return { ok: true, mail: mailOf(there) };
      const row = this.sql.agent.get(mail.to_id) as Row | undefined;
      const found =
        row === undefined ? 'unknown' : isTerminal(row.status as Agent['state']['type']) ? 'dead' : null;
      if (found !== null) return { ok: false, refusal: { reason: 'recipient', agent_id: mail.to_id, found } };
      return { ok: true, mail: commit.post(mail, null) };
    });
  }

  async kill(agent_id: string, by: string, at: number): Promise<{ ids: string[] }> {
    return this.transaction((commit) => ({ ids: commit.kill(agent_id, by, at, null) }));
  }

  async setLimits(root_id: string, limits: Limits): Promise<Tree> {
    return this.transaction((commit) => {
      this.sql.setLimits.run(JSON.stringify(limits), root_id);
      return { ...commit.tree(root_id) };
    });
  }

  async agent(id: string): Promise<Agent | null> {
    const row = this.read(() => this.sql.agent.get(id)) as Row | undefined;
    return row === undefined ? null : agentOf(row);
  }

  async agents(filter: AgentFilter): Promise<Agent[]> {
    const where: string[] = ['1'];
    const values: (string | number)[] = [];
    if (filter.root_id !== undefined) {
      where.push('root_id = ?');
      values.push(filter.root_id);
    }
    if (filter.parent_id !== undefined) {
      where.push('parent_id = ?');
      values.push(filter.parent_id);
    }
    if (filter.living) where.push("status NOT IN ('completed', 'failed', 'killed')");
    if (filter.roots) where.push('parent_id IS NULL');
    if (filter.conversations) where.push("origin = 'root'");
    values.push(filter.limit ?? -1);
    const sql = `SELECT * FROM agents WHERE ${where.join(' AND ')} ORDER BY created_at DESC, rowid DESC LIMIT ?`;
    return this.read(() => this.database.prepare(sql).all(...values) as Row[]).map(agentOf);
  }

  async find(text: string, root_id?: string): Promise<Agent[]> {
    // A range finds prefixes without wildcards, so nothing in the text is special.
    const prefix = text.length >= 4 ? text.toLowerCase() : text;
    const end = text.length >= 4 ? `${prefix}\u{10ffff}` : prefix;
    const sql = `SELECT * FROM agents WHERE (id = ?1 OR (id >= ?2 AND id < ?3) OR name = ?1 OR session_key = ?1)
      ${root_id === undefined ? '' : 'AND root_id = ?4'}
      ORDER BY status IN ('completed', 'failed', 'killed'), created_at DESC LIMIT ${MAX_FOUND}`;
    const values = root_id === undefined ? [text, prefix, end] : [text, prefix, end, root_id];
    const found = this.read(() => this.database.prepare(sql).all(...values) as Row[]).map(agentOf);
    const exact = found.find((agent) => agent.id === text);
    return exact === undefined ? found : [exact];
  }

  async tree(root_id: string): Promise<Tree | null> {
    const row = this.read(() => this.sql.tree.get(root_id)) as Row | undefined;
    return row === undefined ? null : treeOf(row);
  }

  async history(agent_id: string, after = 0, limit = -1): Promise<PlacedMessage[]> {
    return this.read(() => {
      const ranges = this.#ranges(agent_id, after);
      const messages: PlacedMessage[] = [];
      for (const { id, from, to } of ranges) {
        const room = limit < 0 ? -1 : limit - messages.length;
        if (room === 0) break;
        for (const row of this.sql.messages.all(id, from, to, room) as Row[]) messages.push(messageOf(row));
      }
      return messages;
    });
  }

  /** Whose rows make up the history, oldest first: each ancestor's up to the fork point of the next. */
  #ranges(agent_id: string, after: number): { id: string; from: number; to: number }[] {
    const ranges: { id: string; from: number; to: number }[] = [];
    let at: { id: string; to: number } | null = { id: agent_id, to: Number.MAX_SAFE_INTEGER };
    while (at !== null && at.to > after) {
      const row = this.sql.agent.get(at.id) as Row | undefined;
      if (row === undefined) break;
      const forked_seq = (row.forked_seq as number | null) ?? 0;
      ranges.unshift({ id: at.id, from: Math.max(after, forked_seq), to: at.to });
      at =
        row.forked_from === null ? null : { id: row.forked_from as string, to: Math.min(forked_seq, at.to) };
    }
    return ranges.filter((range) => range.to > range.from);
  }

  async mail(to_id: string, all = false): Promise<Mail[]> {
    const statement = all ? this.sql.allMail : this.sql.pendingMail;
    return this.read(() => statement.all(to_id) as Row[]).map(mailOf);
  }

  async waiters(agent_id: string): Promise<string[]> {
    return this.read(() => this.sql.waitersOf.all(agent_id) as Row[]).map((row) => row.waiter as string);
  }

  async requests(agent_id: string): Promise<RequestRecord[]> {
    return this.read(() => this.sql.requests.all(agent_id) as Row[]).map(requestOf);
  }

  async runs(filter: RunFilter): Promise<Run[]> {
    return this.read(() => listRuns(this.database, filter));
  }

  async findRuns(text: string): Promise<Run[]> {
    return this.read(() => findRuns(this.database, text));
  }

  async asks(filter: Parameters<Store['asks']>[0]): Promise<Ask[]> {
    return this.read(() => listAsks(this.database, filter));
  }

  async findAsks(text: string): Promise<Ask[]> {
    return this.read(() => findAsks(this.database, text));
  }

  async answer(ask_id: string, answer: AskAnswer): ReturnType<Store['answer']> {
    return this.transaction((commit) => {
      const { verdict, scope, note, by, at } = answer;
      const row = this.sql.answerAsk.get(verdict, scope, note, by, at, ask_id) as Row | undefined;
      if (row === undefined) return this.#sameAnswer(ask_id, answer);
      const ask = { id: ask_id, root_id: row.root_id as string, agent_id: row.agent_id as string };
      return { ok: true, mail: commit.post(answerMail(ask, answer), null) };
    });
  }

  /** The very same answer again: that it was taken was lost on its way back. */
  #sameAnswer(ask_id: string, answer: AskAnswer): { ok: true; mail: Mail } | { ok: false } {
    const { verdict, scope, note, by, at } = answer;
    const same = this.sql.sameAnswer.get(ask_id, verdict, scope, note, by, at) !== undefined;
    const row = same ? (this.sql.isSent.get(`answer-${ask_id}`) as Row | undefined) : undefined;
    return row === undefined ? { ok: false } : { ok: true, mail: { ...mailOf(row), consumed_seq: null } };
  }

  async reap(root_id: string, at: number): Promise<string[]> {
    return this.transaction(() => this.sql.reap.all(at, root_id) as Row[]).map((row) => row.id as string);
  }

  async heartbeat(worker: Worker): Promise<boolean> {
    return this.transaction(() => {
      const now = this.clock();
      const before = (this.sql.worker.get(worker.id) as Row | undefined)?.expires_at as number | undefined;
      const { id, host, pid, role = 'run', labels = [] } = worker;
      this.sql.putWorker.run(id, host, pid, role, JSON.stringify(labels), now, now + LEASE_MS);
      return before === undefined || before > now;
    });
  }

  async release(worker_id: string): Promise<void> {
    this.transaction(() => {
      this.sql.releaseAgents.run(worker_id);
      this.sql.deleteSignals.run(worker_id);
      this.sql.deleteSeats.run(worker_id);
      this.sql.deleteWorker.run(worker_id);
    });
  }

  async claim(root_id: string, worker: Worker): Promise<Agent[]> {
    return this.transaction(() => {
      const alive = new Set(this.living(worker.host));
      const free = (this.sql.claimable.all(root_id) as Row[]).filter(
        (row) => row.worker === null || !alive.has(row.worker as string),
      );
      return free.map((row) => {
        this.sql.claim.run(worker.id, row.id as string);
        return agentOf(this.sql.agent.get(row.id as string) as Row);
      });
    });
  }

  async unledTrees(limit: number, labels: readonly string[] = []): Promise<string[]> {
    return this.read(() => {
      const alive = JSON.stringify(this.living(hostname()));
      const rows = this.sql.unledTrees.all(alive, limit, JSON.stringify(labels)) as Row[];
      return rows.map((row) => row.root_id as string);
    });
  }

  async serveTree(root_id: string): Promise<void> {
    this.transaction(() => this.sql.serveTree.run(root_id));
  }

  async releaseTree(root_id: string, worker_id: string): Promise<void> {
    this.transaction(() => this.sql.releaseTree.run(root_id, worker_id));
  }

  async signals(worker_id: string): Promise<Signal[]> {
    // A look is not a write: most wake-ups are about something else.
    if (this.read(() => this.sql.anySignal.get(worker_id)) === undefined) return [];
    const rows = this.transaction(() => this.sql.takeSignals.all(worker_id) as Row[]);
    rows.sort((a, b) => (a.id as number) - (b.id as number));
    return rows.map(({ agent_id, kind, about }) => ({ agent_id, kind, about }) as Signal);
  }

  async workers(): Promise<KnownWorker[]> {
    return (this.read(() => this.sql.livingWorkers.all(this.clock())) as Row[]).map(workerOf);
  }

  async ledBy(worker_ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sql = `SELECT worker, count(*) AS n FROM agents WHERE worker IN (SELECT value FROM json_each(?)) GROUP BY worker`;
    const rows = this.read(() => this.rows(sql, JSON.stringify(worker_ids)));
    return new Map(rows.map((row) => [row.worker as string, row.n as number]));
  }

  async drainWorker(worker_id: string): Promise<boolean> {
    return this.transaction(() => this.sql.drainWorker.run(worker_id).changes > 0);
  }

  async listen(_worker_id: string, wake: () => void): Promise<() => Promise<void>> {
    const statement = this.database.prepare('PRAGMA data_version');
    const version = () => (statement.get() as Row).data_version;
    let seen = version();
    const timer = setInterval(() => {
      if (!this.database.isOpen) return;
      const now = version();
      if (now === seen) return;
      seen = now;
      wake();
    }, this.#poll_ms);
    timer.unref();
    return async () => clearInterval(timer);
  }

  async now(): Promise<number> {
    return this.clock();
  }

  async close(): Promise<void> {
    if (this.database.isOpen) this.database.close();
  }
}
