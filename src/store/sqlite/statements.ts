import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { hasUnread, isAtRest } from '../unread.ts';

const MAIL_COLUMNS = 'id, root_id, to_id, from_id, from_name, kind, body, number, sent_at, consumed_seq';

/** Trees that nobody leads or writes to any more. */
const isBeingRemoved = (table: string) =>
  `EXISTS (SELECT 1 FROM trees t WHERE t.root_id = ${table}.root_id AND t.removal IS NOT NULL)`;
/** 1 when a process died (it did not release the agent) while a call of the agent ran there. */
const DIED_AT_WORK = `(worker IS NOT NULL AND status = 'executing' AND EXISTS (
        SELECT 1 FROM json_each(state, '$.running') r WHERE json_extract(r.value, '$.wait') IS NULL
          AND json_extract(r.value, '$.child') IS NULL
          AND (json_extract(r.value, '$.ask') IS NULL OR json_extract(r.value, '$.approved'))))`;

/** Every statement of the hot path, prepared once. Named for what it does. */
export function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string): StatementSync => database.prepare(sql);
  return {
    insertTree: prepare(
      'INSERT OR IGNORE INTO trees (root_id, limits, live, total, served, placement) VALUES (?, ?, 1, 1, ?, ?)',
    ),
    tree: prepare('SELECT * FROM trees WHERE root_id = ?'),
    updateTree: prepare('UPDATE trees SET live = ?, total = ?, tokens = ?, cost_usd = ? WHERE root_id = ?'),
    setLimits: prepare('UPDATE trees SET limits = ? WHERE root_id = ?'),

    insertAgent:
      prepare(`INSERT INTO agents (id, root_id, parent_id, name, session_key, origin, depth, config, status, state,
      last_seq, forked_from, forked_seq, worker, created_at, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`),
    agent: prepare(`SELECT *, ${hasUnread('agents')} AS unread FROM agents WHERE id = ?`),
    guard:
      prepare(`SELECT epoch, last_seq, status, root_id, parent_id, depth, living_children, worker, name, origin, last_write,
      ${isBeingRemoved('agents')} AS closed FROM agents WHERE id = ?`),
    advance:
      prepare(`UPDATE agents SET status = ?, state = ?, last_seq = ?, doing = ?, reply = ?, sent_this_turn = ?,
      noticed = ?, calls = calls + ?, updated_at = ?, last_write = coalesce(?, last_write),
      deaths = CASE WHEN ? THEN deaths ELSE 0 END, config = coalesce(?, config) WHERE id = ?`),
    addUsage: prepare(`UPDATE agents SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
      cached_tokens = cached_tokens + ?, reasoning_tokens = reasoning_tokens + ?,
      cost_usd = CASE WHEN ? IS NULL THEN cost_usd ELSE coalesce(cost_usd, 0) + ? END WHERE id = ?`),
    end: prepare('UPDATE agents SET worker = NULL, doing = NULL, ended_at = ? WHERE id = ?'),
    restingChildren: prepare(
      `SELECT count(*) AS n FROM agents WHERE parent_id = ? AND ${isAtRest('agents')}`,
    ),
    restingInTree: prepare(`SELECT count(*) AS n FROM agents WHERE root_id = ? AND ${isAtRest('agents')}`),
    addLivingChildren: prepare('UPDATE agents SET living_children = living_children + ? WHERE id = ?'),
    kill: prepare(`UPDATE agents SET status = 'killed', state = ?, epoch = epoch + 1, worker = NULL, doing = NULL,
      last_seq = last_seq + 1, updated_at = ?, ended_at = ? WHERE id = ?`),
    livingSubtree: prepare(`WITH RECURSIVE below (id) AS (
        SELECT ? UNION ALL SELECT agents.id FROM agents JOIN below ON agents.parent_id = below.id
      ) SELECT agents.id, agents.parent_id, agents.root_id, agents.origin, agents.name, agents.worker, agents.last_seq
      FROM below CROSS JOIN agents ON agents.id = below.id
      WHERE agents.status NOT IN ('completed', 'failed', 'killed')`),
    parentOf: prepare('SELECT parent_id FROM agents WHERE id = ?'),

    insertMessage: prepare('INSERT INTO messages (agent_id, seq, kind, content, at) VALUES (?, ?, ?, ?, ?)'),
    messages: prepare(
      'SELECT * FROM messages WHERE agent_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
    ),

    recipient: prepare('UPDATE agents SET mail_count = mail_count + 1 WHERE id = ? RETURNING mail_count'),
    insertMail: prepare(`INSERT INTO mail (${MAIL_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,NULL)`),
    mailPending: prepare('SELECT 1 FROM mail WHERE id = ? AND to_id = ? AND consumed_seq IS NULL'),
    consume: prepare('UPDATE mail SET consumed_seq = ? WHERE id = ?'),
    pendingMail: prepare(
      `SELECT ${MAIL_COLUMNS} FROM mail WHERE to_id = ? AND consumed_seq IS NULL ORDER BY number`,
    ),
    allMail: prepare(`SELECT ${MAIL_COLUMNS} FROM mail WHERE to_id = ? ORDER BY number`),

    insertRequest:
      prepare(`INSERT INTO requests (agent_id, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens,
      cost_usd, started_at, duration_ms) VALUES (?,?,?,?,?,?,?,?,?)`),
    requests: prepare('SELECT * FROM requests WHERE agent_id = ? ORDER BY id'),

    insertRun:
      prepare(`INSERT INTO subagent_runs (id, root_id, agent_id, source, session_key, requester_id, requester_key, task,
      label, model, thinking, timeout_ms, cleanup, status, created_at, started_at, deliver, job_id)
      VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`),
    startRun: prepare(
      `UPDATE subagent_runs SET status = 'running', started_at = ? WHERE agent_id = ? AND started_at IS NULL`,
    ),
    finishRun: prepare(`UPDATE subagent_runs SET status = ?, result = ?, error = ?, finished_at = ?,
      duration_ms = max(0, ? - coalesce(started_at, ?)) WHERE agent_id = ? AND finished_at IS NULL`),

    deliverRun:
      prepare(`INSERT OR IGNORE INTO deliveries (id, kind, target, channel, root_id, agent_id, about, created_at, next_at)
      SELECT 'run-' || r.id || '-' || t.key, 'run', t.value,
        CASE instr(t.value, ':') WHEN 0 THEN t.value ELSE substr(t.value, 1, instr(t.value, ':') - 1) END,
        r.root_id, r.agent_id, r.id, ?, ? FROM subagent_runs r, json_each(r.deliver) t WHERE r.agent_id = ?`),
    insertDelivery: prepare(`INSERT OR IGNORE INTO deliveries
      (id, kind, target, channel, root_id, agent_id, about, body, created_at, next_at) VALUES (?,?,?,?,?,?,?,?,?,?)`),

    removable:
      prepare(`SELECT 1 FROM agents WHERE id = ? AND parent_id = ? AND status IN ('completed', 'failed', 'killed')
      AND NOT EXISTS (SELECT 1 FROM agents below WHERE below.parent_id = agents.id)`),
    removeAgent: prepare('DELETE FROM agents WHERE id = ?'),
    removeMessages: prepare('DELETE FROM messages WHERE agent_id = ?'),
    removeMail: prepare('DELETE FROM mail WHERE to_id = ?'),
    removeRequests: prepare('DELETE FROM requests WHERE agent_id = ?'),
    cleaned: prepare('UPDATE subagent_runs SET cleaned_at = ? WHERE agent_id = ? AND cleaned_at IS NULL'),

    insertAsk:
      prepare(`INSERT INTO asks (id, root_id, agent_id, agent_name, call_id, tool, subject, input, difference, cwd, rule, asked_at)
      VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`),
    voidAsk: prepare(`UPDATE asks SET verdict = 'void', answered_at = ? WHERE id = ? AND verdict IS NULL`),
    voidAsksOf: prepare(
      `UPDATE asks SET verdict = 'void', answered_at = ? WHERE agent_id = ? AND verdict IS NULL`,
    ),
    answerAsk: prepare(`UPDATE asks SET verdict = ?, scope = ?, note = ?, answered_by = ?, answered_at = ?
      WHERE id = ? AND verdict IS NULL AND NOT ${isBeingRemoved('asks')} RETURNING root_id, agent_id, call_id`),
    sameAnswer:
      prepare(`SELECT 1 FROM asks WHERE id = ? AND verdict = ? AND scope IS ? AND note IS ? AND answered_by = ?
      AND answered_at = ?`),
    reap: prepare(`UPDATE agents SET reaped_at = ? WHERE root_id = ? AND reaped_at IS NULL AND parent_id IS NOT NULL
      AND status IN ('completed', 'failed', 'killed') RETURNING id`),

    insertEdge: prepare('INSERT OR REPLACE INTO wait_edges (waiter, target, until) VALUES (?, ?, ?)'),
    deleteEdge: prepare('DELETE FROM wait_edges WHERE waiter = ? AND target = ?'),
    deleteEdges: prepare('DELETE FROM wait_edges WHERE waiter = ?'),
    edgesOf: prepare('SELECT target, until FROM wait_edges WHERE waiter = ?'),
    waitersOf: prepare('SELECT waiter FROM wait_edges WHERE target = ?'),
    waitingWorkers:
      prepare(`SELECT agents.worker, wait_edges.waiter FROM wait_edges JOIN agents ON agents.id = wait_edges.waiter
      WHERE wait_edges.target = ? AND agents.worker IS NOT NULL AND agents.worker IS NOT ?`),

    unledWaiters:
      prepare(`SELECT wait_edges.waiter FROM wait_edges JOIN agents ON agents.id = wait_edges.waiter
      WHERE wait_edges.target = ? AND agents.worker IS NULL`),

    insertSignal: prepare('INSERT INTO signals (worker, agent_id, kind, about) VALUES (?, ?, ?, ?)'),
    anySignal: prepare('SELECT 1 FROM signals WHERE worker = ? LIMIT 1'),
    toldOf: prepare('SELECT agent_id FROM signals WHERE worker = ?'),
    takeSignals: prepare('DELETE FROM signals WHERE worker = ? RETURNING id, agent_id, kind, about'),

    worker: prepare('SELECT expires_at FROM workers WHERE id = ?'),
    putWorker:
      prepare(`INSERT INTO workers (id, host, pid, role, labels, started_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`),
    deleteWorker: prepare('DELETE FROM workers WHERE id = ?'),
    deleteSignals: prepare('DELETE FROM signals WHERE worker = ?'),
    deleteSeats: prepare('DELETE FROM channel_seats WHERE worker = ?'),
    livingWorkers: prepare('SELECT * FROM workers WHERE expires_at > ? ORDER BY started_at, id'),
    drainWorker: prepare('UPDATE workers SET draining = 1 WHERE id = ?'),
    allWorkers: prepare('SELECT id, host, pid, expires_at FROM workers'),
    claimable:
      prepare(`SELECT id, worker FROM agents WHERE root_id = ? AND status NOT IN ('completed', 'failed', 'killed')
      AND NOT ${isBeingRemoved('agents')}`),
    placement: prepare('SELECT placement FROM trees WHERE root_id = ? AND served = 1'),
    serveTree: prepare('UPDATE trees SET served = 1 WHERE root_id = ? AND served = 0'),
    isSent: prepare(`SELECT ${MAIL_COLUMNS} FROM mail WHERE id = ?`),
    unledTrees:
      prepare(`SELECT DISTINCT u.root_id FROM unled u INDEXED BY unled_due CROSS JOIN trees t ON t.root_id = u.root_id
      WHERE u.due_at <= ?3
        AND NOT EXISTS (SELECT 1 FROM json_each(t.placement) p WHERE p.value NOT IN (SELECT value FROM json_each(?1)))
      LIMIT ?2`),
    enterUnled:
      prepare(`INSERT INTO unled (root_id, agent_id, due_at) SELECT root_id, id, CASE WHEN has_mail THEN 0 ELSE due_at END
      FROM (SELECT g.root_id, g.id, g.status, seeker.value ->> 1 AS due_at,
          EXISTS (SELECT 1 FROM mail m WHERE m.to_id = g.id AND m.consumed_seq IS NULL) AS has_mail
        FROM json_each(?1) seeker JOIN agents g ON g.id = seeker.value ->> 0 JOIN trees t ON t.root_id = g.root_id
        WHERE t.served = 1 AND g.worker IS NULL AND g.status NOT IN ('completed', 'failed', 'killed'))
      WHERE has_mail OR (due_at IS NOT NULL AND status IN ('requesting', 'executing', 'awaiting', 'cancelling', 'waiting'))
      ON CONFLICT DO UPDATE SET due_at = excluded.due_at WHERE due_at > excluded.due_at`),
    leaveUnled: prepare(
      'DELETE FROM unled WHERE agent_id = ?1 AND root_id = (SELECT root_id FROM agents WHERE id = ?1)',
    ),
    nextHolder: prepare('SELECT worker FROM agents WHERE worker > ? ORDER BY worker LIMIT 1'),
    heldBy: prepare('SELECT id FROM agents WHERE worker = ? LIMIT ?'),
    heldInTree: prepare('SELECT id FROM agents WHERE root_id = ? AND worker = ?'),
    free: prepare('UPDATE agents SET worker = NULL WHERE id = ?'),
    bury: prepare(
      `UPDATE agents SET deaths = deaths + ${DIED_AT_WORK}, worker = NULL, epoch = epoch + 1 WHERE id = ?`,
    ),
    claim: prepare(
      `UPDATE agents SET deaths = deaths + ${DIED_AT_WORK}, worker = ?, epoch = epoch + 1 WHERE id = ?`,
    ),
  };
}

export type Statements = ReturnType<typeof prepareStatements>;
