import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Step } from '../../src/kernel/step.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { letter, newAgent, newRoot, said, stepOf } from '../../test/store/ledger-fixture.ts';

export interface DiskUse {
  /** Bytes of an agent with a conversation of one short message. */
  readonly agent: number;
  /** Bytes of a message with the given number of characters; `letter` likewise. */
  readonly message: number;
  readonly letter: number;
}

const AGENTS = 2_000;
const MESSAGES_EACH = 20;
const AT_ONCE = 500;

/** Measures growth on disk, indexes included, of a ledger that is written agent by agent. `text`: characters of each message and letter. */
export async function diskUse(database: string, text: number): Promise<DiskUse> {
  const store = await openStore(database);
  try {
    const many = { ...DEFAULT_LIMITS, children: AGENTS, live: 2 * AGENTS, total: 2 * AGENTS };
    const root = await newRoot(store, many);
    const sizes = [await sizeOf(store, database)];
    const children = Array.from({ length: AGENTS }, () => newAgent(root));
    await commit(store, [stepOf(root, { create: children })]);
    sizes.push(await sizeOf(store, database));
    for (let round = 0; round < MESSAGES_EACH; round += 1) {
      const agents = await livingChildren(store, root);
      await commit(
        store,
        agents.map((agent) => stepOf(agent, { messages: [said(words(text))] })),
      );
    }
    sizes.push(await sizeOf(store, database));
    for (let round = 0; round < MESSAGES_EACH; round += 1) {
      const agents = await livingChildren(store, root);
      await commit(
        store,
        agents.map((agent) => stepOf(agent, { send: [letter(agent, root, words(text))] })),
      );
    }
    sizes.push(await sizeOf(store, database));
    const grown = sizes.slice(1).map((size, at) => size - (sizes[at] as number));
    const [agents = 0, messages = 0, letters = 0] = grown;
    const each = AGENTS * MESSAGES_EACH;
    return { agent: agents / AGENTS, message: messages / each, letter: letters / each };
  } finally {
    await store.close();
  }
}

async function livingChildren(store: Store, root: Agent): Promise<Agent[]> {
  return store.agents({ root_id: root.root_id, parent_id: root.id });
}

async function commit(store: Store, steps: readonly Step[]): Promise<void> {
  for (let at = 0; at < steps.length; at += AT_ONCE) {
    const verdicts = await store.commit(steps.slice(at, at + AT_ONCE));
    const refused = verdicts.find(({ ok }) => !ok);
    if (refused !== undefined) throw new Error(JSON.stringify(refused));
  }
}

/** Random words, which are as little repetitive as a conversation. */
function words(characters: number): string {
  let text = '';
  while (text.length < characters) text += `${Math.random().toString(36).slice(2, 8)} `;
  return text.slice(0, characters);
}

async function sizeOf(store: Store, database: string): Promise<number> {
  if (store.kind === 'sqlite') {
    const file = new DatabaseSync(database);
    file.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    file.close();
    return statSync(database).size;
  }
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  // Space of old row versions is made reusable, so that it does not count towards what the tables need.
  await client.query('VACUUM');
  const { rows } = await client.query('SELECT pg_database_size(current_database()) AS bytes');
  await client.end();
  return Number(rows[0].bytes);
}
