import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { createScriptedModel } from '../../src/models/scripted/scripted-model.ts';
import { openRuntime } from '../../src/runtime/open-runtime.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { makeHome } from '../../test/cli/run-cli.ts';
import { startPostgres } from '../../test/postgres/start-postgres.ts';
import { brokenNow } from '../../test/sim/moment-laws.ts';
import { Random } from '../../test/sim/random.ts';
import { copyLedger, MOMENT_TABLES } from '../judge/ledger-copy.ts';
import { openPool, patiently, unfinished } from './chaos-ledger.ts';
import { FaultLog, type FiredFault } from './fault-log.ts';
import { FaultMaker, type FaultMakerOptions } from './fault-maker.ts';
import { type Judgement, judge } from './judge.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import { StaleProbe } from './stale-probe.ts';
import { logSteps, readClaims, readSteps } from './step-log.ts';
import { type Takeover, takeovers } from './takeovers.ts';
import { KINDS, type Kind, treeRules } from './tree-kinds.ts';
import { WorkerFleet } from './worker-fleet.ts';

export interface ChaosOptions {
  /** Time for which faults are made. */
  readonly seconds: number;
  readonly workers: number;
  readonly trees: number;
  /** Approximate number of agents in a tree. */
  readonly agents: number;
  readonly seed: string;
  readonly every: FaultMakerOptions['every'];
  readonly skewed: number;
  /** Megabytes of a disk in memory for the database, so that it can be full; null: the usual disk. */
  readonly disk: number | null;
  /** Minimum number of writes with a stale epoch. */
  readonly probes: number;
  readonly tell: (line: string) => void;
}

export interface ChaosReport extends Judgement {
  readonly faults: readonly FiredFault[];
  readonly trees: number;
  readonly steps: number;
  readonly takeovers: readonly Takeover[];
  /** Number of writes of the probe with a stale epoch. */
  readonly stale: number;
  /** Number of checks, during the run, of the laws that hold at any moment. */
  readonly looks: number;
  readonly settle_ms: number;
  /** Reasons for faults that were left out. */
  readonly skipped: readonly string[];
}

const LOOK_MS = 5_000;
/** Time limit for all trees to end after the last fault. */
const SETTLE_MS = 120_000;

/** Runs trees of agents on real workers and a real PostgreSQL under continuous faults, then judges the ledger. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { tell, disk: megabytes } = options;
  const disk = megabytes === null ? 'the run was told to use the usual disk' : mountSmallDisk(megabytes);
  if (typeof disk === 'string') tell(`no full disk: ${disk}`);
  const home = makeHome();
  const server = await startPostgres({
    durable: true,
    ...(typeof disk === 'string'
      ? {}
      : { below: disk.folder, settings: ['max_wal_size=64MB', 'min_wal_size=32MB'] }),
  });
  try {
    const database = await server.createDatabase();
    const store = await openStore(database);
    const pool = openPool(database);
    await logSteps(pool);
    const fleet = new WorkerFleet(home, database, (one) => void one.start(0));
    try {
      const parts = {
        server,
        database,
        store,
        pool,
        fleet,
        home,
        disk: typeof disk === 'string' ? null : disk,
      };
      return {
        ...(await play(options, parts)),
        skipped: typeof disk === 'string' ? [`full disk: ${disk}`] : [],
      };
    } finally {
      await fleet.end();
      await pool.end();
      await store.close();
    }
  } finally {
    await server.stop();
    if (typeof disk !== 'string') disk.remove();
  }
}

interface Parts {
  readonly server: Awaited<ReturnType<typeof startPostgres>>;
  readonly database: string;
  readonly store: Awaited<ReturnType<typeof openStore>>;
  readonly pool: pg.Pool;
  readonly fleet: WorkerFleet;
  readonly home: ReturnType<typeof makeHome>;
  readonly disk: SmallDisk | null;
}

async function play(options: ChaosOptions, parts: Parts): Promise<Omit<ChaosReport, 'skipped'>> {
  const { seconds, workers, agents, seed, every, skewed, probes, tell } = options;
  const { server, database, store, pool, fleet, home, disk } = parts;
  const random = new Random(`chaos/${seed}`);
  const log = new FaultLog(tell);
  const [size, counts] = [agents - 1, join(home.work, 'counts')];
  const made = new FaultMaker({
    fleet,
    server,
    pool,
    log,
    random: random.branch('faults'),
    every,
    skewed,
    disk,
  });
  for (let count = 0; count < workers; count += 1) made.startWorker();
  const probe = new StaleProbe(store, pool);
  const probing = probe.run();
  const laws = watchLaws(pool);
  const [entered] = await Promise.all([
    enterTrees(options, parts, counts, size, random.branch('trees')),
    made.run(seconds * 1_000),
  ]);
  tell(`${log.fired.length} faults; now everything must come to its end`);
  const settle_ms = await settle(pool, SETTLE_MS, tell);
  probe.stop();
  await probing;
  await probe.reach(probes);
  const now = await laws.stop();
  await fleet.end();
  const steps = await readSteps(pool);
  const judgement = await judge({ pool, database, steps, writers: fleet.writers, entered, size, counts });
  return {
    ...judgement,
    broken: [
      ...now.broken,
      ...judgement.broken,
      ...fleet.troubles,
      ...probe.accepted.map((one) => `law 8: the probe was not refused as stale: ${one}`),
      ...(settle_ms === null
        ? [`not everything ended within ${SETTLE_MS / 1_000} s after the last fault`]
        : []),
    ],
    faults: log.fired,
    trees: entered.length,
    steps: steps.length,
    takeovers: takeovers(steps, await readClaims(pool), log.fired, fleet.untouched),
    stale: probe.attempts,
    looks: now.looks,
    settle_ms: settle_ms ?? SETTLE_MS,
  };
}

/** Enters the trees one after another over most of the time, as `coppice run --detach` does; resolves to the names of their roots. */
async function enterTrees(
  { seconds, trees }: ChaosOptions,
  { store, home }: Parts,
  counts: string,
  size: number,
  random: Random,
): Promise<string[]> {
  const rules = treeRules(counts, size);
  const file = join(home.work, 'rules.json');
  writeFileSync(file, JSON.stringify(rules));
  const runtime = await openRuntime({
    store,
    openModel: async () => createScriptedModel(rules, 'chaos'),
    tools: createBuiltInTools(),
    spill_dir: home.work,
    env_allow: [],
  });
  const kinds = Object.keys(KINDS) as Kind[];
  const names: string[] = [];
  for (let number = 0; number < trees; number += 1) {
    const kind = number < kinds.length ? (kinds[number] as Kind) : random.pick(kinds);
    const name = `${kind}-${number}`;
    await patiently(() => enter(runtime, kind, name, home.work, file));
    names.push(name);
    await sleep((seconds * 800) / trees);
  }
  await runtime.close();
  return names;
}

function enter(runtime: RuntimeFace, kind: Kind, name: string, cwd: string, rules: string): Promise<string> {
  const none = { allow: [], ask: [], deny: [] };
  const config = {
    model: `scripted:${rules}`,
    thinking: 'off' as const,
    system: 'You are in a storm.',
    toolsets: KINDS[kind],
    tools: ['bash'],
    cwd,
    permissions: { cli: { ...none, allow: ['*'] }, config: none },
  };
  return runtime.enter({ prompt: 'begin', name, config, limits: { turns: 1_000 } }, []);
}

/** Periodically checks the laws that hold at any moment. */
function watchLaws(pool: pg.Pool) {
  const broken = new Set<string>();
  const over = new AbortController();
  let looks = 0;
  const watching = (async () => {
    while (!over.signal.aborted) {
      await sleep(LOOK_MS, undefined, { signal: over.signal }).catch(() => undefined);
      const database = await copyLedger(pool, MOMENT_TABLES).catch(() => null);
      if (database === null) continue;
      for (const one of brokenNow(database)) broken.add(`during the run: ${one}`);
      database.close();
      looks += 1;
    }
  })();
  return {
    async stop() {
      over.abort();
      await watching;
      return { broken: [...broken], looks };
    },
  };
}

/** Milliseconds until no agent was at work any more; null: longer than `most`. */
async function settle(pool: pg.Pool, most: number, tell: (line: string) => void): Promise<number | null> {
  const begun = Date.now();
  for (let told = begun; Date.now() - begun < most; await sleep(500)) {
    const { open, trees } = await patiently(() => unfinished(pool));
    if (open.length === 0) return Date.now() - begun;
    if (Date.now() - told < LOOK_MS) continue;
    told = Date.now();
    tell(`${open.length} of ${trees} trees are still at work`);
  }
  return null;
}
