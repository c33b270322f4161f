import type { PlacedMessage } from '../../records/conversation/message.ts';
import { listedTasks } from '../../records/run/listed-task.ts';
import type { TreeReads } from '../store.ts';
import { agentsOf } from './agent-rows.ts';
import { type Database, NO_LIMIT } from './database.ts';
import { TASKS, tasksOf } from './fact-queries.ts';
import {
  askOf,
  fileChangeOf,
  mailOf,
  markOf,
  messageOf,
  type Row,
  requestOf,
  runOf,
  treeOf,
} from './rows.ts';
import {
  below,
  exactMatchOrAll,
  hasPrefix,
  hasUnread,
  LIVING,
  MAX_FOUND,
  UNSETTLED,
  where,
} from './sql-conditions.ts';

const AGENTS = `SELECT *, ${hasUnread('agents')} AS unread FROM agents`;

const MARKS =
  'SELECT id, root_id, worker, status, epoch, last_seq, mail_count, noticed, calls, updated_at, reaped_at FROM agents';

/** Reads of trees, their agents, and what belongs to them. */
export function treeReads(db: Database): TreeReads {
  const { dialect } = db;
  const { row_number } = dialect;
  return {
    agent: async (id) => {
      const [agent] = await agentsOf(db, await db.read(`${AGENTS} WHERE id = $1`, [id]));
      return agent ?? null;
    },

    agents: async ({ root_id, parent_id, cwd, living, unsettled, conversations, roots, before, limit }) => {
      const { sql, values, next } = where({ root_id, parent_id, [dialect.cwd]: cwd }, [
        living && LIVING,
        unsettled && UNSETTLED,
        conversations && "origin = 'root'",
        roots && 'parent_id IS NULL',
        await below(db, 'agents', before),
      ]);
      const text = `${AGENTS} ${sql} ORDER BY created_at DESC, ${row_number} DESC LIMIT ${next}`;
      return agentsOf(db, await db.read(text, [...values, limit ?? NO_LIMIT]));
    },

    marks: async (filter) => {
      const rows =
        'root_id' in filter
          ? await db.read(`${MARKS} WHERE root_id = $1`, [filter.root_id])
          : 'led_without' in filter
            ? await db.read(`${MARKS} WHERE worker IS NOT NULL AND worker <> $1 LIMIT $2`, [
                filter.led_without,
                filter.limit,
              ])
            : await db.read(`${MARKS} WHERE parent_id IS NULL ORDER BY created_at DESC LIMIT $1`, [
                filter.newest_roots,
              ]);
      return rows.map(markOf);
    },

    find: async (text, root_id) => {
      // No name has this character, and PostgreSQL refuses it in every text.
      if (text.includes('\0')) return [];
      const sql = `${AGENTS} WHERE (id = $1 OR ${hasPrefix(dialect)} OR name = $1 OR session_key = $1)
        ${root_id === undefined ? '' : 'AND root_id = $2'} ORDER BY NOT (${LIVING}), created_at DESC, ${row_number} DESC LIMIT ${MAX_FOUND}`;
      const rows = await db.read(sql, root_id === undefined ? [text] : [text, root_id]);
      return exactMatchOrAll(await agentsOf(db, rows), ({ id }) => id === text);
    },

    tree: async (root_id) => {
      const [row] = await db.read('SELECT * FROM trees WHERE root_id = $1', [root_id]);
      return row === undefined ? null : treeOf(row);
    },

    history: (agent_id, after = 0, limit = NO_LIMIT) => history(db, agent_id, after, limit),

    tasks: async (root_id) => listedTasks(tasksOf(await db.read(TASKS, [root_id]))),

    fileChanges: async (path, limit) => (await db.read(FILE_CHANGES, [path, limit])).map(fileChangeOf),

    mail: async (to_id, all = false) => {
      const pending = all ? '' : 'AND consumed_seq IS NULL';
      return (await db.read(`SELECT * FROM mail WHERE to_id = $1 ${pending} ORDER BY number`, [to_id])).map(
        mailOf,
      );
    },

    waiters: async (agent_id) =>
      (await db.read('SELECT waiter FROM wait_edges WHERE target = $1', [agent_id])).map(
        (row) => row.waiter as string,
      ),

    requests: async (agent_id, skip = 0) => {
      const sql = 'SELECT * FROM requests WHERE agent_id = $1 ORDER BY id LIMIT $2 OFFSET $3';
      return (await db.read(sql, [agent_id, NO_LIMIT, skip])).map(requestOf);
    },

    runs: async ({ root_id, source, job_id, active = false, before, limit }) => {
      const { sql, values, next } = where({ root_id, source, job_id }, [
        active && 'finished_at IS NULL',
        await below(db, 'subagent_runs', before),
      ]);
      const text = `SELECT * FROM subagent_runs ${sql} ORDER BY created_at DESC, ${row_number} DESC LIMIT ${next}`;
      return (await db.read(text, [...values, limit ?? NO_LIMIT])).map(runOf);
    },

    findRuns: async (text) => {
      const sql = `SELECT * FROM subagent_runs WHERE id = $1 OR session_key = $1 OR ${hasPrefix(dialect)}
        ORDER BY created_at DESC LIMIT ${MAX_FOUND}`;
      return exactMatchOrAll((await db.read(sql, [text])).map(runOf), ({ id }) => id === text);
    },

    asks: async ({ root_id, agent_id, open = false }) => {
      const { sql, values } = where({ root_id, agent_id }, [open && 'verdict IS NULL']);
      return (await db.read(`SELECT * FROM asks ${sql} ORDER BY asked_at, ${row_number}`, values)).map(askOf);
    },

    grants: async ({ root_id }) => {
      const { sql, values } = where({ root_id }, ["scope <> 'once' AND revoked_at IS NULL"]);
      return (await db.read(`SELECT * FROM asks ${sql} ORDER BY answered_at, ${row_number}`, values)).map(
        askOf,
      );
    },

    findAsks: async (text) => {
      const sql = `SELECT * FROM asks WHERE id = $1 OR ${hasPrefix(dialect)} ORDER BY asked_at DESC LIMIT ${MAX_FOUND}`;
      return (await db.read(sql, [text])).map(askOf);
    },
  };
}

/** Finds the agent, then each ancestor that it was forked from; `own_from`: the seq before its own first message. */
const LINEAGE = `WITH RECURSIVE lineage (id, own_from, forked_from, depth) AS (
    SELECT id, coalesce(forked_seq, 0), forked_from, 0 FROM agents WHERE id = $1
    UNION ALL
    SELECT g.id, coalesce(g.forked_seq, 0), g.forked_from, l.depth + 1 FROM lineage l JOIN agents g ON g.id = l.forked_from
  ) SELECT id, own_from FROM lineage ORDER BY depth`;
const MESSAGES =
  'SELECT * FROM messages WHERE agent_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4';

/** Finds the answer that made the call as the last one before the result: no other answer lies between. */
const FILE_CHANGES = `SELECT m.agent_id, m.seq, m.at, m.content, g.name, g.root_id,
    (SELECT a.content FROM messages a WHERE a.agent_id = m.agent_id AND a.seq < m.seq AND a.kind = 'assistant' ORDER BY a.seq DESC LIMIT 1) AS answer
  FROM messages m JOIN agents g ON g.id = m.agent_id WHERE m.changed = $1 ORDER BY m.at DESC, m.seq DESC LIMIT $2`;

/** Each ancestor's messages up to the fork point of the next, then its own. */
async function history(
  db: Database,
  agent_id: string,
  after: number,
  limit: number,
): Promise<PlacedMessage[]> {
  const ranges: { id: string; from: number; to: number }[] = [];
  let to = NO_LIMIT;
  for (const { id, own_from } of (await db.read(LINEAGE, [agent_id])) as { id: string; own_from: number }[]) {
    const from = Math.max(after, own_from);
    if (to > from) ranges.unshift({ id, from, to });
    to = Math.min(to, own_from);
  }
  const rows: Row[] = [];
  for (const { id, from, to: last } of ranges) {
    if (rows.length >= limit) break;
    for (const row of await db.read(MESSAGES, [id, from, last, limit - rows.length])) rows.push(row);
  }
  return rows.map(messageOf);
}
