import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../../test/postgres/start-postgres.ts';
import { Random } from '../../test/sim/random.ts';
import { readEndedLedger } from '../judge/ended-ledger.ts';
import { readJournals } from './journal.ts';
import { judgeRun } from './judge-run.ts';
import type { Point } from './kill-points.ts';
import { type KillRun, killRun, LEADER, undisturbedShapes } from './kill-run.ts';
import { addRun, emptyTally, type KillTally } from './kill-tally.ts';
import { OrderBook } from './order-book.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

export interface KillsOptions {
  /** Number of kills on each database. */
  readonly kills: number;
  readonly databases: readonly DatabaseKind[];
  readonly points: readonly Point[];
  readonly seed: string;
  /** Number of concurrent runs, each with one leader at a time. */
  readonly lanes: number;
  readonly tell: (line: string) => void;
  /** The program of a leader; default: `lead.ts`. */
  readonly leader?: string;
  /** Keeps journals and SQLite ledgers of a run with findings, and `tell`s where. */
  readonly keep?: boolean;
  /** Time limit of a leader process; default two minutes. */
  readonly hangs_ms?: number;
}

/** Trees of one run; fewer when few kills are left. */
const [FEWEST_TREES, MOST_TREES] = [3, 8];
/** Trees led at a time. */
const WIDTH = 3;
/** Approximate number of kills of one run. */
const A_RUN = 12;
/** The kinds of trees in a run: `process` has the most kinds of steps. */
const MIX = ['process', 'fanout', 'process', 'delegate', 'sessions'] as const;

/** Runs on every database until it has had its kills; returns the results per database. */
export async function runKills(options: KillsOptions): Promise<KillTally[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-kills-'));
  const server = options.databases.includes('postgres') ? await startPostgres({ durable: true }) : null;
  let broken = false;
  try {
    const tallies = await new Kills(options, folder, server).run();
    broken = tallies.some(({ findings }) => findings.length > 0);
    return tallies;
  } finally {
    await server?.stop();
    if (broken && options.keep === true) options.tell(`kept: ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

interface Front {
  readonly kind: DatabaseKind;
  readonly book: OrderBook;
  readonly tally: KillTally;
  /** Runs under way. */
  running: number;
}

class Kills {
  readonly #options: KillsOptions;
  readonly #folder: string;
  readonly #server: PostgresServer | null;
  readonly #fronts: readonly Front[];
  readonly #cache: string;
  #expected: ReadonlyMap<string, readonly string[]> = new Map();
  #runs = 0;

  constructor(options: KillsOptions, folder: string, server: PostgresServer | null) {
    [this.#options, this.#folder, this.#server] = [options, folder, server];
    this.#cache = process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled');
    const random = new Random(`kills/${options.seed}`);
    this.#fronts = options.databases.map((kind) => ({
      kind,
      book: new OrderBook(options.kills, options.points, random.branch(kind)),
      tally: emptyTally(kind),
      running: 0,
    }));
  }

  async run(): Promise<KillTally[]> {
    const { folder } = await this.#place('sqlite');
    this.#expected = await undisturbedShapes(folder, this.#cache);
    const begun_at = performance.now();
    const lane = async (number: number) => {
      for (let front = this.#front(number); front !== undefined; front = this.#front(number)) {
        front.running += 1;
        await this.#oneRun(front);
        front.running -= 1;
        front.tally.seconds = (performance.now() - begun_at) / 1_000;
      }
    };
    await Promise.all(Array.from({ length: this.#options.lanes }, (_, number) => lane(number)));
    return this.#fronts.map(({ tally }) => tally);
  }

  /** Each lane prefers one database; a database with findings gets no more runs. */
  #front(lane: number): Front | undefined {
    // Runs under way will use up the last few kills.
    const open = this.#fronts.filter(
      ({ book, tally, running }) => book.left > running * A_RUN && tally.findings.length === 0,
    );
    return open.find(({ kind }) => this.#fronts[lane % this.#fronts.length]?.kind === kind) ?? open[0];
  }

  async #oneRun({ kind, book, tally }: Front): Promise<void> {
    const size = Math.min(MOST_TREES, Math.max(FEWEST_TREES, book.left));
    const trees = Array.from(
      { length: size },
      (_, place) => `${MIX[(this.#runs + place) % MIX.length]}-${place}`,
    );
    const { folder, database } = await this.#place(kind);
    const { lives, troubles } = await this.#kill(trees, folder, database, book);
    for (const text of troubles) tally.findings.push({ law: 'wrong', text });
    if (troubles.length > 0) return;
    const journals = readJournals(folder, lives);
    const ledger = await readEndedLedger(database);
    const judgement = judgeRun({ ledger, journals, folder, trees, expected: this.#expected });
    ledger.database.close();
    addRun(tally, trees.length, journals.deaths, judgement);
    const found = tally.findings.length === 0 ? '' : `, ${tally.findings.length} FINDINGS`;
    this.#options.tell(`${kind} run ${tally.runs}: ${tally.deaths.length} kills so far${found}`);
    if (tally.findings.length === 0) rmSync(folder, { recursive: true, force: true });
  }

  #kill(
    trees: readonly string[],
    folder: string,
    database: string,
    book: OrderBook | null,
  ): Promise<KillRun> {
    const { leader = LEADER, hangs_ms } = this.#options;
    const limit = hangs_ms === undefined ? {} : { hangs_ms };
    return killRun({ trees, folder, database, book, leader, cache: this.#cache, width: WIDTH, ...limit });
  }

  async #place(kind: DatabaseKind): Promise<{ readonly folder: string; readonly database: string }> {
    this.#runs += 1;
    const folder = join(this.#folder, `run-${this.#runs}`);
    mkdirSync(folder);
    if (kind === 'sqlite' || this.#server === null)
      return { folder, database: `sqlite:${join(folder, 'ledger.db')}` };
    return { folder, database: await this.#server.createDatabase() };
  }
}
