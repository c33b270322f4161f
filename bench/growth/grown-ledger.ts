import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import { CONFIG } from '../../test/store/ledger-fixture.ts';
import { BENCH_MODEL } from '../ledger/bench-model.ts';

/** Agents of a tree, messages and letters of an agent. */
const AGENTS = 10;
const MESSAGES = 8;
const DAY_MS = 86_400_000;

/** A ledger of `trees` usual trees at rest, and three trees that are as large as the ledger is old. */
export interface GrownLedger {
  readonly trees: number;
  /** Agent of one of the usual trees, and its root. */
  readonly usual: { readonly id: string; readonly root_id: string };
  /** One conversation with ten messages for each tree of the ledger, half as many requests, and all its letters read. */
  readonly long: string;
  /** A tree with as many agents as the ledger has trees, each with a letter. */
  readonly wide: string;
  /** How many agents that tree has. */
  readonly wide_agents: number;
}

/** Statements of the ledger's own language, which both databases speak; `hex` is eight hexadecimal digits of a number. */
function statements(trees: number, hex: (n: string) => string, now: number): readonly string[] {
  const series = (n: number) =>
    `(WITH RECURSIVE s (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < ${n - 1}) SELECT i FROM s) AS s`;
  const id = (n: string, kind: string) => `${hex(n)} || '-0000-4000-8000-00000000000${kind}'`;
  const usual = (n: string) => id(n, '0');
  const root = `(i - i % ${AGENTS})`;
  const config = JSON.stringify({ ...CONFIG, model: BENCH_MODEL, system: 'You work.' });
  const limits = JSON.stringify({ ...DEFAULT_LIMITS, children: 20_000, live: 20_000, total: 20_000 });
  // Long ago, so that everything is old enough for `gc`.
  const began = now - 400 * DAY_MS;
  const tree = (of: string, agents: number, from: string) =>
    `INSERT INTO trees (root_id, limits, live, total, served) SELECT ${of}, '${limits}', ${agents}, ${agents}, false FROM ${from}`;
  const agent = (
    of: string,
    root_of: string,
    is_root: string,
    seq: number | string,
    mail: number | string,
    from: string,
    at = began,
  ) =>
    `INSERT INTO agents (id, root_id, parent_id, name, session_key, origin, depth, config, status, state, last_seq, mail_count, noticed, living_children,
      created_at, updated_at) SELECT ${of}, ${root_of}, CASE WHEN ${is_root} THEN NULL ELSE ${root_of} END,
      CASE WHEN ${is_root} THEN 'main' ELSE 'kid-' || i END, 'agent:main:' || ${of}, CASE WHEN ${is_root} THEN 'root' ELSE 'fork' END,
      CASE WHEN ${is_root} THEN 0 ELSE 1 END, '${config}', 'idle', '{"type":"idle"}', ${seq}, ${mail}, ${mail},
      CASE WHEN ${is_root} THEN ${AGENTS - 1} ELSE 0 END, ${at} + i, ${at} + i FROM ${from}`;
  const text = `'{"origin":"human","text":"' || i || ': ${'words and words '.repeat(20)}"}'`;
  const message = (of: string, seq: string, from: string) =>
    `INSERT INTO messages (agent_id, seq, kind, content, at) SELECT ${of}, ${seq}, 'user', ${text}, ${began} + i FROM ${from}`;
  const request = (of: string, from: string) =>
    `INSERT INTO requests (agent_id, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, started_at, duration_ms)
      SELECT ${of}, '${BENCH_MODEL}', 100, 20, 0, 0, 0.001, ${now - DAY_MS} + i, 50 FROM ${from}`;
  const mail = (to: string, root_of: string, kind: string, number: string, from: string) =>
    `INSERT INTO mail (id, root_id, to_id, from_id, from_name, kind, body, number, sent_at, consumed_seq)
      SELECT ${id('i', kind)}, ${root_of}, ${to}, NULL, 'you', 'letter', 'a letter', ${number}, ${began} + i, 2 FROM ${from}`;
  const [long, wide] = [id('0', '1'), id('0', '2')];
  const all = trees * AGENTS;
  return [
    tree(usual(`i * ${AGENTS}`), AGENTS, series(trees)),
    agent(usual('i'), usual(root), `i % ${AGENTS} = 0`, MESSAGES, 1, series(all)),
    message(usual(`(i / ${MESSAGES})`), `1 + i % ${MESSAGES}`, series(all * MESSAGES)),
    request(usual('i'), series(all)),
    mail(usual('i'), usual(root), '8', '1', series(all)),
    tree(long, 1, series(1)),
    agent(long, long, 'i = 0', all, all, series(1)),
    message(long, 'i + 1', series(all)),
    request(long, series(all / 2)),
    mail(long, long, '7', 'i + 1', series(all)),
    tree(wide, trees, series(1)),
    // The newest tree.
    agent(id('i', '2'), wide, 'i = 0', MESSAGES, 1, series(trees), began + all),
    message(id(`(i / ${MESSAGES})`, '2'), `1 + i % ${MESSAGES}`, series(trees * MESSAGES)),
    mail(id('i', '2'), wide, '6', '1', series(trees)),
    `INSERT INTO asks (id, root_id, agent_id, agent_name, call_id, tool, subject, input, cwd, rule, asked_at)
      SELECT ${id('i', '5')}, ${usual(`(i * ${AGENTS})`)}, ${usual(`(i * ${AGENTS})`)}, 'main', 'c1', 'bash', 'rm x', '{}', '/', 'ask(bash)', ${began} + i
      FROM ${series(trees)}`,
  ];
}

/** Fills an empty ledger by writing its rows, which takes minutes for 10,000 trees where working them would take hours. */
export async function growLedger(url: string, trees: number): Promise<GrownLedger> {
  const now = Date.now();
  if (url.startsWith('sqlite:')) {
    const database = new DatabaseSync(url.slice('sqlite:'.length));
    database.exec('PRAGMA synchronous = OFF; BEGIN');
    for (const sql of statements(trees, (n) => `printf('%08x', ${n})`, now)) database.exec(sql);
    database.exec('COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  } else {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const sql of statements(trees, (n) => `lpad(to_hex(${n}), 8, '0')`, now)) await client.query(sql);
    await client.query('VACUUM ANALYZE');
    await client.end();
  }
  const id = (n: number, kind: string) =>
    `${n.toString(16).padStart(8, '0')}-0000-4000-8000-00000000000${kind}`;
  const last = (trees - 1) * AGENTS;
  return {
    trees,
    usual: { id: id(last + 1, '0'), root_id: id(last, '0') },
    long: id(0, '1'),
    wide: id(0, '2'),
    wide_agents: trees,
  };
}
