import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../src/records/agent/limits.ts';
import { Prompt } from '../src/records/conversation/prompt.ts';
import { openStore } from '../src/store/open-store.ts';
import { newAgent, said, stepOf } from '../test/store/ledger-fixture.ts';

/** `npm run bench:fork`: measures the cost of a fork in the ledger (one durable commit) and in memory, at 10, 1,000 and 10,000 messages of history. */
const ROUNDS = 200;
const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
const store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
console.log(
  `forking at different lengths of history; ${ROUNDS} forks each, one durable commit per fork, SQLite on disk, ${cpus()[0]?.model}, Node ${process.version}\n`,
);
console.log('messages    commit p50    in memory p50    rows written');
for (const length of [10, 1_000, 10_000]) {
  const created = newAgent(
    null,
    {},
    Array.from({ length }, (_, index) => said(`message ${index}`)),
  );
  await store.createRoot(created, { ...DEFAULT_LIMITS, children: 10_000, live: 10_000, total: 10_000 });
  const root = (await store.agent(created.agent.id)) as Agent;
  const prompt = new Prompt();
  for (const message of created.messages) prompt.append(message);
  const commits: number[] = [];
  const memory: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const child = newAgent(root, { forked_from: { agent_id: root.id, seq: length } });
    const before = performance.now();
    const fork = new Prompt(prompt.forked());
    fork.append(said('you are a fork'));
    const middle = performance.now();
    const [verdict] = await store.commit([stepOf(root, { create: [child] })]);
    if (!verdict?.ok) throw new Error(JSON.stringify(verdict));
    memory.push((middle - before) * 1000);
    commits.push((performance.now() - middle) * 1000);
  }
  const median = (values: number[]): string =>
    `${(values.sort((a, b) => a - b)[ROUNDS / 2] ?? 0).toFixed(1)} µs`;
  console.log(
    `${String(length).padStart(8)} ${median(commits).padStart(13)} ${median(memory).padStart(16)} ${'2'.padStart(15)}`,
  );
}
await store.close();
rmSync(folder, { recursive: true });
