import { listedTasks } from '../../records/run/listed-task.ts';
import type { FoundCall, TreeLetter } from '../read-records.ts';
import type { TreeReads } from '../store.ts';
import { agentsOf } from './agent-rows.ts';
import { type Database, NO_LIMIT } from './database.ts';
import { TASKS, tasksOf } from './fact-queries.ts';
import { conversations, history, newestCheckpoint } from './past/conversations.ts';
import { askOf, fileChangeOf, mailOf, markOf, parseColumn, placedRequestOf, runOf, treeOf } from './rows.ts';
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

const CUT_OF = 'root_id IN (SELECT root_id FROM trees WHERE cut_of = ?)';

const MARKS =
  'SELECT id, root_id, worker, status, epoch, last_seq, mail_count, noticed, calls, updated_at, reaped_at FROM agents';

/** Reads of trees, their agents, and what belongs to them. */
export function treeReads(db: Database): TreeReads {
  const { dialect } = db;
  const { row_number } = dialect;
  const count = async (rows: string, values: Parameters<Database['read']>[1]): Promise<number> =>
    Number((await db.read(`SELECT count(*) AS n FROM ${rows}`, values))[0]?.n);
  return {
    agent: async (id) => {
      const [agent] = await agentsOf(db, await db.read(`${AGENTS} WHERE id = $1`, [id]));
      return agent ?? null;
    },

    agents: async ({
      root_id,
      parent_id,
      cwd,
      cut_of,
      living,
      unsettled,
      workflows,
      before,
      limit,
      ...only
    }) => {
      const { sql, values, next } = where({ root_id, parent_id, [dialect.cwd]: cwd, [CUT_OF]: cut_of }, [
        living && LIVING,
        unsettled && UNSETTLED,
        only.conversations && "origin = 'root'",
        only.roots && 'parent_id IS NULL',
        workflows && dialect.is_workflow,
        await below(db, 'agents', before),
      ]);
      const text = `${AGENTS} ${sql} ORDER BY created_at DESC, ${row_number} DESC LIMIT ${next}`;
      return agentsOf(db, await db.read(text, [...values, limit ?? NO_LIMIT]));
    },

    marks: async (filter) => {
      const [which, ...values] =
        'root_id' in filter
          ? (['root_id = $1', filter.root_id] as const)
          : 'led_without' in filter
            ? (['worker IS NOT NULL AND worker <> $1 LIMIT $2', filter.led_without, filter.limit] as const)
            : (['parent_id IS NULL ORDER BY created_at DESC LIMIT $1', filter.newest_roots] as const);
      return (await db.read(`${MARKS} WHERE ${which}`, values)).map(markOf);
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

    changedAt: async (root_ids) => {
      const sql = `SELECT g.root_id, max(g.updated_at) AS at FROM ${dialect.elements('$1')} AS e
        ${dialect.join('agents', 'g', `g.root_id = e.value AND g.${LIVING}`)} GROUP BY g.root_id`;
      const rows = await db.read(sql, [JSON.stringify(root_ids)]);
      return new Map(rows.map(({ root_id, at }) => [root_id as string, Number(at)]));
    },

    history: (agent_id, after = 0, limit = NO_LIMIT) => history(db, agent_id, after, limit),

    conversations: (agent_ids) => conversations(db, agent_ids),

    checkpoint: (agent_id) => newestCheckpoint(db, agent_id),

    tasks: async (root_id) => listedTasks(tasksOf(await db.read(TASKS, [root_id]))),

    fileChanges: async (path, limit) => {
      const rows = 'messages m JOIN agents g ON g.id = m.agent_id WHERE m.changed = $1';
      return (await db.read(changes(rows), [path, limit])).map(fileChangeOf);
    },

    treeChanges: async (root_id, limit) => {
      // SQLite would read all messages of the tree.
      const by = db.kind === 'sqlite' ? 'INDEXED BY messages_changed' : '';
      const rows = `agents g JOIN messages m ${by} ON m.agent_id = g.id AND m.changed IS NOT NULL WHERE g.root_id = $1`;
      return (await db.read(changes(rows), [root_id, limit])).map(fileChangeOf);
    },

    findCall: async (root_id, text) => {
      const [row] = await db.read(FIND_CALL, [root_id, `{"call_id":${JSON.stringify(text).slice(0, -1)}`]);
      const { agent_id, seq } = row ?? {};
      const { call_id } = row === undefined ? {} : parseColumn<FoundCall>(row, 'content');
      return row === undefined ? null : ({ agent_id, seq, call_id } as FoundCall);
    },

    mail: async (to_id, all = false, after = 0, limit = NO_LIMIT) => {
      const sql = `SELECT * FROM mail WHERE to_id = $1 AND number > $2 ${all ? '' : 'AND consumed_seq IS NULL'} ORDER BY number LIMIT $3`;
      return (await db.read(sql, [to_id, after, limit])).map(mailOf);
    },

    waiters: async (agent_id) =>
      (await db.read('SELECT waiter FROM wait_edges WHERE target = $1', [agent_id])).map(
        (row) => row.waiter as string,
      ),

    treeMail: async (root_id, after, limit) => {
      const place = 'SELECT sent_at, to_id, number FROM mail WHERE id = $1';
      const [from] = after === undefined ? [] : await db.read(place, [after]);
      const { sent_at = -1, to_id = '', number = 0 } = from ?? {};
      const rows = await db.read(TREE_MAIL, [root_id, sent_at, to_id, number, limit]);
      return rows.map(({ to_name, read_at, ...row }) => ({ ...mailOf(row), to_name, read_at }) as TreeLetter);
    },

    requests: async (agent_id, after = 0, limit = NO_LIMIT) => {
      const sql = 'SELECT * FROM requests WHERE agent_id = $1 AND id > $2 ORDER BY id LIMIT $3';
      return (await db.read(sql, [agent_id, after, limit])).map(placedRequestOf);
    },

    newestRequests: async (agent_id, limit) => {
      const sql = 'SELECT * FROM requests WHERE agent_id = $1 ORDER BY id DESC LIMIT $2';
      return (await db.read(sql, [agent_id, limit])).map(placedRequestOf).reverse();
    },

    requestCount: (agent_id) => count(`requests WHERE agent_id = $1`, [agent_id]),

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

    asks: async ({ root_id, root_ids, agent_id, open = false, after, limit = NO_LIMIT }) => {
      const place = `SELECT asked_at, ${row_number} AS number FROM asks WHERE id = $1`;
      const [from] = after === undefined ? [] : await db.read(place, [after]);
      const { sql, values } = where({ root_id, agent_id }, [
        open && 'verdict IS NULL',
        from && `(asked_at, ${row_number}) > (${from.asked_at}, ${from.number})`,
        root_ids && `root_id IN (SELECT value FROM ${dialect.elements('$1')} AS e)`,
      ]);
      const text = `SELECT * FROM asks ${sql} ORDER BY asked_at, ${row_number} LIMIT ${limit}`;
      return (await db.read(text, root_ids ? [JSON.stringify(root_ids)] : values)).map(askOf);
    },

    askMarks: async () =>
      (await db.read(
        'SELECT id, root_id, agent_id FROM asks WHERE verdict IS NULL ORDER BY asked_at',
      )) as never,

    openAsks: (root_id) => {
      const { sql, values } = where({ root_id }, ['verdict IS NULL']);
      return count(`asks ${sql}`, values);
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

/** Mail of the tree $1 after a place, in the order of the index `mail_by_root`. */
const TREE_MAIL = `SELECT m.*, coalesce((SELECT g.name FROM agents g WHERE g.id = m.to_id), '') AS to_name,
    (SELECT x.at FROM messages x WHERE x.agent_id = m.to_id AND x.seq = m.consumed_seq) AS read_at
  FROM mail m WHERE m.root_id = $1 AND (m.sent_at, m.to_id, m.number) > ($2, $3, $4) ORDER BY m.sent_at, m.to_id, m.number LIMIT $5`;

/** A stored result begins with the id of its call. */
const FIND_CALL = `SELECT m.agent_id, m.seq, m.content FROM agents g JOIN messages m ON m.agent_id = g.id
  WHERE g.root_id = $1 AND m.kind = 'result' AND substr(m.content, 1, length($2)) = $2 ORDER BY m.at DESC, m.seq DESC LIMIT 1`;

/** Finds the answer that made the call as the last one before the result: no other answer lies between. */
const changes = (rows: string) => `SELECT m.agent_id, m.seq, m.at, m.content, g.name, g.root_id,
    (SELECT a.content FROM messages a WHERE a.agent_id = m.agent_id AND a.seq < m.seq AND a.kind = 'assistant' ORDER BY a.seq DESC LIMIT 1) AS answer
  FROM ${rows} ORDER BY m.at DESC, m.seq DESC LIMIT $2`;
