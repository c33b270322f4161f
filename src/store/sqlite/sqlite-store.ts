import type { DatabaseSync } from 'node:sqlite';
import type { Agent, Tree } from '../../core/agent.ts';
import type { Ask, AskAnswer } from '../../core/ask.ts';
import type { Limits } from '../../core/limits.ts';
import type { Mail, NewMail } from '../../core/mail.ts';
import type { PlacedMessage } from '../../core/message.ts';
import type { NewAgent } from '../../core/new-agent.ts';
import type { Run } from '../../core/run.ts';
import { isTerminal } from '../../core/state.ts';
import type { RequestRecord, Step, Verdict } from '../../core/step.ts';
import { answerMail } from '../answer-mail.ts';
import { agentOf, mailOf, messageOf, type Row, requestOf, treeOf } from '../rows.ts';
import type { AgentFilter, OpenStoreOptions, RootTerms, RunFilter, Store } from '../store.ts';
import { Together } from '../together.ts';
import { hasUnread } from '../unread.ts';
import { where } from '../where.ts';
import type { Commit } from './commit.ts';
import type { GuardRow } from './guard-row.ts';
import { findAsks, findRuns, listAsks, listRuns } from './listings.ts';
import { emptyDatabase, openDatabase } from './open-database.ts';
import { SqliteRetention } from './sqlite-retention.ts';

/** How often another process's writes are looked for; one pragma each time. */
const POLL_MS = 10;
const POLL_WITHOUT_NOTIFICATIONS_MS = 1_000;
const MAX_FOUND = 20;
const FOLDER = "json_extract(config, '$.cwd')";

export function openSqliteStore(path: string, options: OpenStoreOptions): Store {
  return new SqliteStore(path, openDatabase(path, options.create !== false), options);
}

/** Stands for the ledger that is not there yet, for who only looks: it is empty, and nothing of it lasts. */
export function openEmptyStore(path: string): Store {
  return new SqliteStore(path, emptyDatabase(), {});
}

type Sent = Awaited<ReturnType<Store['send']>>;

/** The ledger in one file. Everything is synchronous inside; promises are the contract's, not SQLite's. */
class SqliteStore extends SqliteRetention implements Store {
  readonly kind = 'sqlite';
  readonly #poll_ms: number;
  readonly #letters = new Together<NewMail, Sent>(async (letters) =>
    this.transaction((commit) => letters.map((mail) => this.#send(commit, mail))),
  );

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

  send(mail: NewMail): ReturnType<Store['send']> {
    return this.#letters.do(mail);
  }

  #send(commit: Commit, mail: NewMail): Sent {
    const there = this.sql.isSent.get(mail.id) as Row | undefined;
    if (there !== undefined) return { ok: true, mail: mailOf(there) };
    const to = this.sql.guard.get(mail.to_id) as unknown as GuardRow | undefined;
    const unknown = to === undefined || to.closed === 1;
    const found = unknown ? 'unknown' : isTerminal(to.status) ? 'dead' : null;
    if (found !== null) return { ok: false, refusal: { reason: 'recipient', agent_id: mail.to_id, found } };
    return { ok: true, mail: commit.post(mail, null) };
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
    const { root_id, parent_id, cwd, living, conversations, limit } = filter;
    const { sql, values, next } = where('?', { root_id, parent_id, [FOLDER]: cwd }, [
      living && "status NOT IN ('completed', 'failed', 'killed')",
      conversations && "origin = 'root'",
    ]);
    const text = `SELECT *, ${hasUnread('agents')} AS unread FROM agents ${sql} ORDER BY created_at DESC, rowid DESC LIMIT ${next}`;
    return this.read(() => this.rows(text, ...values, limit ?? -1)).map(agentOf);
  }

  async find(text: string, root_id?: string): Promise<Agent[]> {
    // A range finds prefixes without wildcards, so nothing in the text is special.
    const prefix = text.length >= 4 ? text.toLowerCase() : text;
    const end = text.length >= 4 ? `${prefix}\u{10ffff}` : prefix;
    const sql = `SELECT *, ${hasUnread('agents')} AS unread FROM agents WHERE (id = ?1 OR (id >= ?2 AND id < ?3) OR name = ?1 OR session_key = ?1)
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
