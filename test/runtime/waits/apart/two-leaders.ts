import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../../../../src/records/agent/agent.ts';
import { isWorking } from '../../../../src/records/agent/state.ts';
import { openStore } from '../../../../src/store/open-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { memoryFolder } from '../../../temporary-folder.ts';
import { until } from '../../../until.ts';
import { WITHOUT_POLLS } from '../../no-polls.ts';
import { type Line, type Stage, setStage } from '../../stage.ts';
import { concurrent } from '../../toolsets/sessions-play.ts';
import { ToldLedger } from '../told-ledger.ts';
import { LeaderProcess } from './leader-process.ts';

/** A tree that begins in one process and is then led by two others. */
export interface SharedTree {
  /** Answers of its agents before it is shared, by name. */
  readonly beginnings: Readonly<Record<string, readonly Line[]>>;
  /** Names of all agents except the root. */
  readonly names: readonly Name[];
  /** Agents led by `right`; `left` leads the others. */
  readonly apart: readonly Name[];
}
type Name = 'b' | 'c' | 'd' | 'mid' | 'holder';

/** Agents of a shared tree by name; only those that the tree has. */
export type Tree = Readonly<Record<'main' | Name, Agent>>;

type Side = 'left' | 'right';

interface Parts {
  readonly database: string;
  readonly folder: string;
  readonly store: Store;
  readonly ledger: ToldLedger;
  readonly first: Stage;
  readonly lines: Map<string, Line[]>;
  readonly leaders: Record<Side, LeaderProcess>;
}

/** No limit in the process in which trees begin, because it is not told that others lead its runs now. */
const UNLIMITED = {
  max_concurrent: Number.POSITIVE_INFINITY,
  per_source: { cron: 8, subagent: Number.POSITIVE_INFINITY, delegate: Number.POSITIVE_INFINITY },
};

/** Two processes that lead agents of the same trees on one ledger. */
export class TwoLeaders {
  readonly #parts: Parts;
  readonly #roots: string[] = [];

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** `url`: an existing ledger; default a new SQLite file, on a memory file system if there is one. */
  static async open(url: string | undefined): Promise<TwoLeaders> {
    const folder = memoryFolder('apart');
    const database = url ?? `sqlite:${join(folder, 'ledger.db')}`;
    const store = await openStore(database, { polls: false });
    const lines = new Map<string, Line[]>();
    const first = await setStage(
      ({ name }) => lines.get(name)?.shift() ?? Promise.withResolvers<Line>().promise,
      {
        ground: { store, folder },
        clock: WITHOUT_POLLS,
        toolsets: ['process', 'fanout', 'sessions', 'delegate'],
        terms: { ...concurrent(1), runs: UNLIMITED },
      },
    );
    const [left, right, ledger] = await Promise.all([
      LeaderProcess.start(database, folder),
      LeaderProcess.start(database, folder),
      ToldLedger.open(database),
    ]);
    return new TwoLeaders({ database, folder, store, ledger, first, lines, leaders: { left, right } });
  }

  get store(): Store {
    return this.#parts.store;
  }

  get left(): LeaderProcess {
    return this.#parts.leaders.left;
  }

  get right(): LeaderProcess {
    return this.#parts.leaders.right;
  }

  /** Starts a tree in this process, then hands it over to the two leaders. */
  async tree({ beginnings, names, apart }: SharedTree): Promise<Tree> {
    const { store, first, ledger, lines } = this.#parts;
    lines.clear();
    for (const [name, said] of Object.entries(beginnings)) lines.set(name, [...said]);
    const { id } = await first.start();
    this.#roots.push(id);
    const agents = () => store.agents({ root_id: id });
    const areAtWork = (all: readonly Agent[]) =>
      all.length === names.length + 1 && all.every(({ state }) => isWorking(state.type));
    await until(async () => areAtWork(await agents()), 'they are all at work');
    const isApart = new Set<string>(apart);
    for (const agent of await agents())
      await ledger.lend(agent.id, this[isApart.has(agent.name) ? 'right' : 'left'].worker_id);
    await this.left.act('resume', id);
    await this.right.act('resume', id);
    return Object.fromEntries((await agents()).map((agent) => [agent.name, agent])) as Tree;
  }

  /** Releases held calls and kills the trees so far. */
  async clear(): Promise<void> {
    this.left.go();
    this.right.go();
    for (const id of this.#roots.splice(0)) await this.store.kill(id, 'you', Date.now());
  }

  /** Kills one of them by SIGKILL and starts a new process in its place. */
  async replace(side: Side): Promise<void> {
    const { leaders, database, folder } = this.#parts;
    const next = LeaderProcess.start(database, folder);
    await leaders[side].end('SIGKILL');
    leaders[side] = await next;
  }

  async close(): Promise<void> {
    const { folder, store, ledger, first } = this.#parts;
    await Promise.all([this.left.end(), this.right.end()]);
    await first.close();
    await ledger.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
