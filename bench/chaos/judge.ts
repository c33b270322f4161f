import { existsSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { agentOf, messageOf, type Row } from '../../src/store/ledger/rows.ts';
import { brokenAtRest } from '../../test/sim/final-laws.ts';
import { brokenNow } from '../../test/sim/moment-laws.ts';
import { copyLedger, REST_TABLES } from './ledger-copy.ts';
import { doublyConsumed, type LoggedStep, readBirths } from './step-log.ts';
import { expectedReply, KINDS, type Kind } from './tree-kinds.ts';

export interface JudgeOptions {
  readonly pool: pg.Pool;
  readonly steps: readonly LoggedStep[];
  /** The worker behind each name that connections call themselves. */
  readonly writers: ReadonlyMap<string, string>;
  /** Names of the roots that were entered. */
  readonly entered: readonly string[];
  readonly size: number;
  /** The file that the counting tool wrote to. */
  readonly counts: string;
}

export interface Judgement {
  readonly broken: readonly string[];
  readonly agents: number;
  /** Calls of the counting tool that are recorded, and how many of them as interrupted. */
  readonly calls: number;
  readonly interrupted: number;
  readonly quarantined: number;
}

/** Everything that must be true of a ledger whose trees have ended, in spite of all that was done to it. */
export async function judge({
  pool,
  steps,
  writers,
  entered,
  size,
  counts,
}: JudgeOptions): Promise<Judgement> {
  const database = await copyLedger(pool, REST_TABLES);
  const all = <T>(table: string, of: (row: Row) => T): T[] =>
    (database.prepare(`SELECT * FROM ${table}`).all() as Row[]).map(of);
  const agents = all('agents', agentOf);
  const messages = all('messages', messageOf);
  const ledger = {
    database,
    created: await readBirths(pool),
    removed: new Set<string>(),
    promised: [],
    promised_mail: new Set<string>(),
  };
  const counted = calls(messages, readCounts(counts));
  const late = steps.filter(({ worker, writer }) => worker !== null && writers.get(writer) !== worker);
  const quarantined = agents.filter(({ state }) => state.type === 'errored');
  const broken = [
    ...brokenNow(database),
    ...brokenAtRest(ledger, new Map()),
    ...replies(agents, entered, size),
    ...counted.broken,
    ...late.map(
      ({ agent_id, worker, writer }) =>
        `law 8: a step of ${agent_id} was taken of ${writer} while ${worker} led it`,
    ),
    ...(await doublyConsumed(pool)).map((id) => `law 6: the letter ${id} was consumed more than once`),
    ...quarantined.map(
      ({ name, id, state }) => `${name} (${id}) is in error: ${JSON.stringify(state).slice(0, 200)}`,
    ),
  ];
  database.close();
  return {
    broken,
    agents: agents.length,
    calls: counted.calls,
    interrupted: counted.interrupted,
    quarantined: quarantined.length,
  };
}

function replies(
  agents: readonly ReturnType<typeof agentOf>[],
  entered: readonly string[],
  size: number,
): string[] {
  const roots = agents.filter(({ parent_id }) => parent_id === null);
  const names = new Set(roots.map(({ name }) => name));
  const missing = entered.filter((name) => !names.has(name));
  return [
    ...missing.map((name) => `the tree ${name} was entered and is not there`),
    ...roots.flatMap(({ name, id, reply, state }) => {
      const kind = Object.keys(KINDS).find((one) => name.startsWith(`${one}-`)) as Kind;
      const expected = expectedReply(kind, size);
      return reply === expected && state.type === 'idle'
        ? []
        : [
            `the tree ${name} (${id}) ended ${state.type} with ${JSON.stringify(reply)}, not ${JSON.stringify(expected)}`,
          ];
    }),
  ];
}

/** `AGENT CALL` → how often it ran. */
function readCounts(file: string): Map<string, number> {
  const ran = new Map<string, number>();
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [])
    ran.set(line, (ran.get(line) ?? 0) + 1);
  return ran;
}

/** At most once each, exactly once where the record says so, and nothing ran that is not in the ledger. */
function calls(messages: readonly ReturnType<typeof messageOf>[], ran: Map<string, number>) {
  const broken: string[] = [];
  const known = new Set<string>();
  let [calls, interrupted] = [0, 0];
  for (const message of messages) {
    if (message.kind === 'assistant')
      for (const part of message.content.parts)
        if (part.type === 'call') known.add(`${message.agent_id} ${part.id}`);
    if (message.kind !== 'result' || message.content.name !== 'bash') continue;
    const { status, call_id, output } = message.content;
    const times = ran.get(`${message.agent_id} ${call_id}`) ?? 0;
    calls += 1;
    if (status === 'interrupted') interrupted += 1;
    else if (status !== 'ok')
      broken.push(`call ${call_id} of ${message.agent_id} is ${status}: ${output.slice(0, 200)}`);
    else if (times !== 1)
      broken.push(`call ${call_id} of ${message.agent_id} is recorded as done and ran ${times} times`);
  }
  for (const [key, times] of ran) {
    if (times > 1) broken.push(`the call ${key} ran ${times} times`);
    if (!known.has(key)) broken.push(`the call ${key} ran and is in no conversation`);
  }
  return { broken, calls, interrupted };
}
