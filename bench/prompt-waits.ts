import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ScriptedRules } from '../src/models/scripted/scripted-rules.ts';
import type { Agent } from '../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../src/records/agent/limits.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { startPostgres } from '../test/postgres/start-postgres.ts';
import { child, newRoot } from '../test/store/ledger-fixture.ts';
import { machineLine } from './machine-line.ts';
import { percentile } from './percentile.ts';
import { openLeader } from './waits/lead.ts';

/**
 * `npm run bench:waits -- [--tries 1000]`: measures how long after the awaited agent has come to rest a `wait` ends, by the times of their steps in the
 * ledger. In one process a root forks and waits; in two it writes to an agent that the other process leads, and waits in the same message. Exits with 1
 * if one took 100 ms or more.
 */
const { values } = parseArgs({ options: { tries: { type: 'string', default: '1000' } } });
const tries = Number(values.tries);
if (!(tries >= 10)) {
  console.error('usage: npm run bench:waits -- [--tries N≥10]');
  process.exit(2);
}
/** Number of waits in one conversation. */
const AT_ONCE = 50;
const MOST_MS = 100;
const LIMITS = { ...DEFAULT_LIMITS, turns: 1_000 };

const rounds = Array.from({ length: AT_ONCE }, (_, round) => round);
const FORKS: ScriptedRules = {
  rules: [
    ...rounds.flatMap((round) => [
      {
        when: { root: true, step: 2 * round },
        calls: [{ name: 'fork', input: { name: `b${round}`, prompt: 'report' } }],
      },
      { when: { root: true, step: 2 * round + 1 }, calls: [waitFor('{{results.fork.-1.agent_id}}')] },
    ]),
    { say: 'done' },
  ],
};
const LETTERS = (mid: string): ScriptedRules => ({
  rules: [
    ...rounds.map((round) => ({
      when: { root: true, step: round },
      calls: [{ name: 'send', input: { to: mid, message: 'report' } }, waitFor(mid)],
    })),
    { say: 'done' },
  ],
});

function waitFor(id: string): { readonly name: string; readonly input: Record<string, unknown> } {
  return { name: 'wait', input: { timeout: 600, from_agents: [id] } };
}

const none = { allow: [], ask: [], deny: [] };
const CONFIG = {
  ...{
    model: 'bench',
    thinking: 'off' as const,
    system: '',
    toolsets: ['process'],
    tools: [],
    cwd: tmpdir(),
  },
  permissions: { cli: none, config: none },
};

/** Milliseconds from when the awaited agent came to rest until the root's wait ended, for each wait. */
async function delays(store: Store, root_id: string): Promise<number[]> {
  const agents = await store.agents({ root_id });
  const rests: number[] = [];
  for (const agent of agents.filter(({ id }) => id !== root_id))
    for (const message of await store.history(agent.id))
      if (message.agent_id === agent.id && message.kind === 'assistant') rests.push(message.at);
  rests.sort((a, b) => a - b);
  const ends = (await store.history(root_id)).flatMap((message) =>
    message.kind === 'result' && message.content.name === 'wait' ? [message.at] : [],
  );
  return ends.map((at, round) => at - (rests[round] as number));
}

async function untilAtRest(store: Store, root_id: string): Promise<void> {
  for (;;) {
    const root = (await store.agent(root_id)) as Agent;
    if (root.state.type === 'idle' && root.reply === 'done') return;
    if (root.state.type === 'errored') throw new Error(JSON.stringify(root.state));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function inOneProcess(database: string): Promise<number[]> {
  const store = await openStore(database);
  const runtime = await openLeader(store, FORKS);
  const root = await runtime.start({ prompt: 'begin', name: 'main', config: CONFIG, limits: LIMITS });
  await untilAtRest(store, root.id);
  await runtime.close();
  const taken = await delays(store, root.id);
  await store.close();
  return taken;
}

/** One process leads the root, another the agent that it writes to. */
async function inTwoProcesses(database: string): Promise<number[]> {
  const store = await openStore(database);
  const holder = { id: randomUUID(), host: 'elsewhere', pid: 1 };
  await store.heartbeat(holder);
  const resting = { config: CONFIG, state: { type: 'idle' as const } };
  const root = await newRoot(store, LIMITS, { ...resting, name: 'main', worker: holder.id });
  const mid = await child(store, root, { ...resting, name: 'mid', worker: null });
  const other = fork(join(import.meta.dirname, 'waits/lead.ts'), [
    database,
    root.id,
    JSON.stringify(LETTERS(mid.id)),
  ]);
  await once(other, 'message');
  await store.release(holder.id);
  const runtime = await openLeader(store, LETTERS(mid.id));
  await runtime.resume(root.id);
  await runtime.send(root.id, 'begin');
  await untilAtRest(store, root.id);
  await runtime.close();
  other.disconnect();
  await once(other, 'exit');
  const taken = await delays(store, root.id);
  await store.close();
  return taken;
}

const server = await startPostgres({ durable: true });
const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
let late = 0;
try {
  console.log(`waits, ${tries} of each kind; ${machineLine()}\n`);
  console.log(
    `${'ledger'.padEnd(28)}${['p50', 'p99', 'max', `≥ ${MOST_MS} ms`].map((name) => name.padStart(10)).join('')}`,
  );
  for (const [title, database] of [
    ['SQLite', join(folder, 'ledger.db')],
    ['PostgreSQL', await server.createDatabase()],
  ] as const)
    for (const [how, once] of [
      ['one process', inOneProcess],
      ['two processes', inTwoProcesses],
    ] as const) {
      const taken: number[] = [];
      while (taken.length < tries) taken.push(...(await once(database)));
      const over = taken.filter((ms) => ms >= MOST_MS).length;
      late += over;
      const shown = [0.5, 0.99, 1].map((share) => `${percentile(taken, share)} ms`.padStart(10)).join('');
      console.log(`${`${title}, ${how}`.padEnd(28)}${shown}${`${over} of ${taken.length}`.padStart(12)}`);
    }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = late > 0 ? 1 : 0;
