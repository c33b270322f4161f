import { DatabaseSync } from 'node:sqlite';
import type { Agent } from '../../src/records/agent/agent.ts';
import type { Mail } from '../../src/records/conversation/mail.ts';
import type { PlacedMessage } from '../../src/records/conversation/message.ts';
import { agentOf, mailOf, messageOf, type Row } from '../../src/store/ledger/rows.ts';
import { brokenAtRest } from '../../test/sim/final-laws.ts';
import { brokenNow } from '../../test/sim/moment-laws.ts';
import { openPool } from '../chaos/chaos-ledger.ts';
import { copyLedger, REST_TABLES } from './ledger-copy.ts';

/** Contents of the ledger of a run whose trees have ended. */
export interface EndedLedger {
  readonly database: DatabaseSync;
  readonly agents: ReadonlyMap<string, Agent>;
  /** Own messages of each agent, by `seq`. */
  readonly messages: ReadonlyMap<string, readonly PlacedMessage[]>;
  readonly mail: ReadonlyMap<string, Mail>;
}

/** Reads the ledger from either database; the caller must close `database`. */
export async function readEndedLedger(url: string): Promise<EndedLedger> {
  if (url.startsWith('sqlite:'))
    return read(new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true }));
  const pool = openPool(url);
  try {
    return read(await copyLedger(pool, REST_TABLES));
  } finally {
    await pool.end();
  }
}

function read(database: DatabaseSync): EndedLedger {
  const all = <T>(query: string, of: (row: Row) => T): T[] =>
    (database.prepare(query).all() as Row[]).map(of);
  const agents = all('SELECT * FROM agents ORDER BY created_at', agentOf);
  const messages = all('SELECT * FROM messages ORDER BY agent_id, seq', messageOf);
  const mail = all('SELECT * FROM mail ORDER BY to_id, number', mailOf);
  return {
    database,
    agents: new Map(agents.map((agent) => [agent.id, agent])),
    messages: Map.groupBy(messages, ({ agent_id }) => agent_id),
    mail: new Map(mail.map((letter) => [letter.id, letter])),
  };
}

/** The numbered laws (docs/guarantees.md) that a ledger at rest breaks, in words. `created`: how many agents each tree ever had, by its root. */
export function brokenLaws(database: DatabaseSync, created: ReadonlyMap<string, number>): string[] {
  const nothing_else = { removed: new Set<string>(), promised: [], promised_mail: new Set<string>() };
  return [
    ...brokenNow(database),
    ...brokenAtRest({ database, created: new Map(created), ...nothing_else }, new Map()),
  ];
}
