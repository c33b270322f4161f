// Proves that steps update rows of the PostgreSQL ledger in place (heap-only tuples) and touch no index.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Agent } from '../../src/records/agent/agent.ts';
import { type AgentState, newTurn } from '../../src/records/agent/state.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startPostgres } from '../postgres/start-postgres.ts';
import { CONFIG, child, letter, newRoot, said, stepOf } from './ledger-fixture.ts';

const AGENTS = 20;
const STEPS = 1_000;
/** States like those of a conversation: the row grows and shrinks, and its status changes with every step. */
const STATES: readonly AgentState[] = [
  { type: 'requesting', attempt: 1, turn: newTurn(1) },
  {
    type: 'executing',
    seq: 1,
    running: ['a', 'b', 'c', 'd'].map((id) => ({
      call: {
        id,
        name: 'bash',
        input: `{"command":"${'x'.repeat(200)}"}`,
        side_by_side: false,
        idempotent: false,
      },
    })),
    queued: [],
    results: [],
    spawned: [],
    early: [],
    turn: newTurn(1),
  },
  { type: 'idle' },
];

it('a thousand steps are heap-only updates, nine out of ten and more', async (context) => {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const store = await openStore(url);
  const config = { ...CONFIG, system: 'You are an agent. '.repeat(60) };
  const root = await newRoot(store, { children: 100, live: 100, total: 100 }, { config });
  const agents: Agent[] = [];
  for (let n = 0; n < AGENTS; n += 1) agents.push(await child(store, root, { config }));
  const usage = { input: 10, output: 2, cached: 0, reasoning: 0, cost_usd: 0.01 };
  for (let n = 0; n < STEPS; n += AGENTS) {
    const verdicts = await store.commit(
      await Promise.all(
        agents.map(async ({ id }, at) => {
          const now = (await store.agent(id)) as Agent;
          return stepOf(now, {
            state: STATES[(n / AGENTS + at) % STATES.length] as AgentState,
            messages: [said(`step ${n}`)],
            doing: `step ${n}`,
            reply: 'r'.repeat(n % 500),
            requests: [{ model: 'm', usage, started_at: 1, duration_ms: 1 }],
            send: n % 100 === 0 ? [letter(now, agents[(at + 1) % AGENTS] as Agent)] : [],
          });
        }),
      ),
    );
    assert.ok(verdicts.every(({ ok }) => ok));
  }
  await store.close();
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const updates = async () => {
    const sql = `SELECT relname, n_tup_upd::int AS updated, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname IN ('agents', 'trees')`;
    const { rows } = await admin.query<{ relname: string; updated: number; hot: number }>(sql);
    return new Map(rows.map((row) => [row.relname, row]));
  };
  // A connection reports its statistics some time after it has closed.
  for (let tries = 0; tries < 500 && ((await updates()).get('agents')?.updated ?? 0) < STEPS; tries += 1)
    await sleep(20);
  for (const [name, { updated, hot }] of await updates()) {
    context.diagnostic(
      `${name}: ${hot} of ${updated} updates in place (${((hot / updated) * 100).toFixed(1)} %)`,
    );
    // All steps of a commit together update the row of their tree once.
    const least = name === 'trees' ? STEPS / AGENTS : STEPS * 0.9;
    assert.ok(updated >= least, `${name}: ${updated} updates were counted`);
    assert.ok(hot / updated > 0.9, `${name}: ${hot} of ${updated}`);
  }
  await admin.end();
  await server.stop();
});
