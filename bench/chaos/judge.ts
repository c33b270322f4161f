import type pg from 'pg';
import type { Agent } from '../../src/records/agent/agent.ts';
import { brokenLaws, readEndedLedger } from '../judge/ended-ledger.ts';
import { judgeCalls } from '../judge/judge-calls.ts';
import { doublyConsumed, type LoggedStep, readBirths } from './step-log.ts';
import { expectedReply, KINDS, type Kind } from './tree-kinds.ts';

export interface JudgeOptions {
  readonly pool: pg.Pool;
  /** The address of the same database. */
  readonly database: string;
  readonly steps: readonly LoggedStep[];
  /** Worker id by the application name of its connections. */
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
  /** Recorded calls of the counting tool, and how many of them were interrupted. */
  readonly calls: number;
  readonly interrupted: number;
  readonly quarantined: number;
}

/** Checks everything that must hold in a ledger whose trees have ended. */
export async function judge({
  pool,
  database,
  steps,
  writers,
  entered,
  size,
  counts,
}: JudgeOptions): Promise<Judgement> {
  const ledger = await readEndedLedger(database);
  const counted = judgeCalls(counts, new Set(['bash']), ledger);
  const agents = [...ledger.agents.values()];
  const late = steps.filter(({ worker, writer }) => worker !== null && writers.get(writer) !== worker);
  const interrupted = counted.interrupted_before + counted.interrupted_after;
  const quarantined = agents.filter(({ state }) => state.type === 'errored');
  const broken = [
    ...brokenLaws(ledger.database, await readBirths(pool)),
    ...replies(agents, entered, size),
    ...counted.findings.map(({ law, text }) => `${law}: ${text}`),
    ...late.map(
      ({ agent_id, worker, writer }) =>
        `law 8: a step of ${agent_id} was taken of ${writer} while ${worker} led it`,
    ),
    ...(await doublyConsumed(pool)).map((id) => `law 6: the letter ${id} was consumed more than once`),
    ...quarantined.map(
      ({ name, id, state }) => `${name} (${id}) is in error: ${JSON.stringify(state).slice(0, 200)}`,
    ),
  ];
  ledger.database.close();
  return {
    broken,
    agents: agents.length,
    calls: counted.once + interrupted,
    interrupted,
    quarantined: quarantined.length,
  };
}

function replies(agents: readonly Agent[], entered: readonly string[], size: number): string[] {
  const roots = agents.filter(({ parent_id }) => parent_id === null);
  const names = new Set(roots.map(({ name }) => name));
  const missing = entered.filter((name) => !names.has(name));
  return [
    ...missing.map((name) => `the tree ${name} was entered and is not there`),
    ...roots.flatMap(({ name, id, reply, state }) => {
      const kind = Object.keys(KINDS).find((one) => name.startsWith(`${one}-`)) as Kind;
      const expected = expectedReply(kind, size);
      // The last line of a sub-agent's result says what it did, which differs with the faults.
      const said = reply?.replaceAll(/\n+\[Did: .*?\](?=; |$)/g, '');
      return said === expected && state.type === 'idle'
        ? []
        : [
            `the tree ${name} (${id}) ended ${state.type} with ${JSON.stringify(reply)}, not ${JSON.stringify(expected)}`,
          ];
    }),
  ];
}
