import type { AgentState } from '../../src/records/agent/state.ts';
import { CONFIG } from './ledger-fixture.ts';

/** The size of a large ledger. */
export const LARGE = {
  trees: 1_000,
  agents: 100_000,
  mail: 1_000_000,
  messages: 300_000,
  requests: 200_000,
  runs: 200_000,
  deliveries: 100_000,
  jobs: 10_000,
  fires: 100_000,
  asks: 20_000,
} as const;

const PER_TREE = LARGE.agents / LARGE.trees;
/** Numbers of the first agent that is parked in a wait, and of the first that is led; both are roots. */
const FIRST_PARKED = LARGE.agents / 2 + PER_TREE;
const FIRST_LED = LARGE.agents * 0.9 + PER_TREE;

/** The worker that leads the newest trees; the caller renews its lease. */
export const LARGE_LEADER = 'leader';
/** An agent at rest in a served tree, a parked one without a leader, and one with a leader, each with its root. */
export const RESTING = { id: 'b1000103', root_id: 'b1000100' } as const;
export const PARKED_ALONE = { id: 'b1070003', root_id: 'b1070000' } as const;
export const LED = { id: 'b1099951', root_id: 'b1099900' } as const;

const PARKED_STATE: AgentState = {
  type: 'executing',
  seq: 2,
  running: [
    {
      call: { id: 'c1', name: 'wait', input: '{"timeout":86400}', side_by_side: true, idempotent: true },
      wait: { from: null, deadline: 4_102_444_800_000 },
    },
  ],
  queued: [],
  results: [],
  spawned: [],
  early: [],
  turn: {
    requests: 1,
    failing: [],
    grace: null,
    started_at: 1_700_000_000_000,
  },
};

const LIMITS = '{"depth":3,"children":1000,"live":1000,"total":1000,"turns":100,"run_ms":1800000}';
const AT = '1700000000000';

/**
 * Statements that fill an empty ledger. Half the agents rest in served trees; most others are parked in a wait, without a leader, and due in the far
 * future; the newest are led. `series` returns a source of the numbers 1…n in a column `i`.
 */
export function largeLedger(series: (n: number) => string): readonly string[] {
  const agent = (i: string) => `'b' || (1000000 + ${i})`;
  const root = (i: string) => agent(`((${i}) - (${i}) % ${PER_TREE})`);
  const is_root = `i % ${PER_TREE} = 0`;
  const rests = `i < ${FIRST_PARKED}`;
  const is_led = `i >= ${FIRST_LED}`;
  return [
    `INSERT INTO trees (root_id, limits, live, total, served)
      SELECT ${agent(`i * ${PER_TREE}`)}, '${LIMITS}', ${PER_TREE}, ${PER_TREE}, i <= ${LARGE.trees / 2} FROM ${series(LARGE.trees)}`,
    `INSERT INTO agents (id, root_id, parent_id, name, session_key, origin, depth, config, status, state, last_seq, mail_count, living_children,
        worker, created_at, updated_at)
      SELECT ${agent('i')}, ${root('i')}, CASE WHEN ${is_root} THEN NULL ELSE ${root('i')} END, CASE WHEN ${is_root} THEN 'main' ELSE 'kid ' || i END,
        CASE WHEN ${is_root} THEN 'agent:main:main' ELSE 'agent:main:fork:' || i END, CASE WHEN ${is_root} THEN 'root' ELSE 'fork' END,
        CASE WHEN ${is_root} THEN 0 ELSE 1 END, '${JSON.stringify(CONFIG)}', CASE WHEN ${rests} THEN 'idle' ELSE 'executing' END,
        CASE WHEN ${rests} THEN '{"type":"idle"}' ELSE '${JSON.stringify(PARKED_STATE)}' END, 3, 10, CASE WHEN ${is_root} THEN ${PER_TREE - 1} ELSE 0 END,
        CASE WHEN ${is_led} THEN '${LARGE_LEADER}' END, ${AT} + i, ${AT} + i FROM ${series(LARGE.agents + PER_TREE - 1)} WHERE i >= ${PER_TREE}`,
    `INSERT INTO unled (root_id, agent_id, due_at)
      SELECT ${root('i')}, ${agent('i')}, 4102444800000 + i % 3600000 FROM ${series(LARGE.agents)} WHERE i >= ${FIRST_PARKED} AND i < ${FIRST_LED}`,
    `INSERT INTO messages (agent_id, seq, kind, content, at)
      SELECT ${agent(`${PER_TREE} + (i - 1) / 3`)}, 1 + (i - 1) % 3, 'user', '{"origin":"human","text":"text ' || i || '"}', ${AT} + i
      FROM ${series(LARGE.messages)}`,
    `INSERT INTO mail (id, root_id, to_id, from_id, from_name, kind, body, number, sent_at, consumed_seq)
      SELECT 'm' || (1000000 + i), ${root(`${PER_TREE} + (i - 1) / 10`)}, ${agent(`${PER_TREE} + (i - 1) / 10`)}, NULL, 'you', 'letter', 'text',
        1 + (i - 1) % 10, ${AT} + i, 2 FROM ${series(LARGE.mail)}`,
    `INSERT INTO requests (agent_id, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, started_at, duration_ms)
      SELECT ${agent(`${PER_TREE} + (i - 1) / 2`)}, 'fake/m', 100, 20, 0, 0, ${AT} + i, 50 FROM ${series(LARGE.requests)}`,
    `INSERT INTO wait_edges (waiter, target)
      SELECT ${agent('i')}, ${agent('i - 1')} FROM ${series(LARGE.agents)} WHERE i >= ${FIRST_PARKED} AND i % ${PER_TREE} > 1`,
    `INSERT INTO subagent_runs (id, root_id, agent_id, source, session_key, requester_id, requester_key, task, model, thinking, cleanup, status, result,
        created_at, started_at, finished_at, duration_ms, cleaned_at, job_id, deliver)
      SELECT 'c' || (1000000 + i), ${root(`${PER_TREE} + (i - 1) / 2`)}, 'gone' || i, CASE i % 2 WHEN 0 THEN 'cron' ELSE 'subagent' END,
        CASE i % 2 WHEN 0 THEN 'cron:d' || (1000000 + i % 10000) ELSE 'agent:main:subagent:' || i END, ${agent(`${PER_TREE} + (i - 1) / 2`)},
        'agent:main:main', 'task', 'fake/m', 'off', CASE i % 4 WHEN 0 THEN 'delete' ELSE 'keep' END, 'completed', 'r', ${AT} + i, ${AT} + i, ${AT} + i, 1,
        ${AT} + i, CASE i % 2 WHEN 0 THEN 'd' || (1000000 + i % 10000) END, CASE i % 2 WHEN 0 THEN '["stdout"]' ELSE '[]' END FROM ${series(LARGE.runs)}`,
    `INSERT INTO deliveries (id, kind, target, channel, root_id, agent_id, about, created_at, status, attempts, next_at, ended_at)
      SELECT 'run-c' || (1000000 + i * 2) || '-0', 'run', 'stdout', 'stdout', ${root(`${PER_TREE} + i - 1`)}, 'gone' || i * 2, 'c' || (1000000 + i * 2),
        ${AT} + i, 'delivered', 1, ${AT} + i, ${AT} + i FROM ${series(LARGE.deliveries)}`,
    `INSERT INTO cron_jobs (id, name, root_id, definition, enabled, next_at, planned_at, created_at, updated_at)
      SELECT 'd' || (1000000 + i), 'job ' || i, CASE i % 2 WHEN 0 THEN ${agent(`(1 + i % ${LARGE.trees}) * ${PER_TREE}`)} END,
        '{"schedule":{"type":"every","every_ms":60000,"anchor":0},"deliver":[],"placement":[]}', true, 4102444800000 + i, ${AT}, ${AT}, ${AT}
      FROM ${series(LARGE.jobs)}`,
    `INSERT INTO cron_fires (job_id, instant, manual, outcome, missed, run_id, fired_at)
      SELECT 'd' || (1000000 + i % 10), ${AT} + i, false, 'fired', 0, 'c' || (1000000 + i), ${AT} + i FROM ${series(LARGE.fires)}`,
    `INSERT INTO asks (id, root_id, agent_id, agent_name, call_id, tool, subject, input, cwd, rule, asked_at, verdict, scope, note, answered_by, answered_at)
      SELECT 'e' || (1000000 + i), ${root(`${PER_TREE} + i * 4`)}, ${agent(`${PER_TREE} + i * 4`)}, 'kid', 'c1', 'bash', 'rm x', '{}', '/', 'ask(bash)',
        ${AT} + i, 'allow', 'once', '', 'you', ${AT} + i FROM ${series(LARGE.asks)}`,
  ];
}
