import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { LEASE_MS } from '../../src/kernel/ledger/leases.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import { isTerminal, isWorking } from '../../src/records/agent/state.ts';
import { CoppiceError } from '../../src/records/coppice-error.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { CREATION_PERMISSIONS } from '../../src/tools/built-in-permissions.ts';
import { memoryFolder } from '../temporary-folder.ts';
import { type Fault, Faults, RESTARTS } from './faults.ts';
import { brokenAtRest } from './final-laws.ts';
import { People } from './people.ts';
import { planWorkflow } from './planned-workflow.ts';
import { planTerms, planTree, type TreePlan } from './plans.ts';
import { type PromptKind, Promptness } from './promptness.ts';
import { Random } from './random.ts';
import { watchRealIo } from './real-io.ts';
import { enterSharedTree, MEMBERS } from './shared-tree.ts';
import { SimLedger } from './sim-ledger.ts';
import { SimProcess } from './sim-process.ts';
import { SimProvider } from './sim-provider.ts';
import type { Marks } from './sim-tools.ts';
import { storm } from './storm.ts';
import { Trace } from './trace.ts';
import { VirtualTime } from './virtual-time.ts';
import { brokenRuns, type WorkflowTotals } from './workflow-laws.ts';

export interface SimReport {
  readonly seed: number;
  /** Hash of all events, in order. */
  readonly hash: string;
  readonly faults: ReadonlyMap<Fault, number>;
  readonly virtual_ms: number;
  readonly agents: number;
  readonly steps: number;
  readonly answers: number;
  /** Totals of the shared task lists. */
  readonly tasks: { readonly added: number; readonly done: number };
  /** Calls that would create agents: how many were asked about, and how many allowed. */
  readonly creations: { readonly asked: number; readonly allowed: number };
  /** Totals of the workflow runs. */
  readonly workflows: WorkflowTotals;
  /** Number of steps whose epoch was stale. */
  readonly stale_epochs: number;
  /** Failures, each once; empty if none. */
  readonly failures: readonly string[];
  /** With `pauses`. */
  readonly pauses: SimProvider['counts'] | null;
  /** With `prompt`: how many waits continued once they could, by kind. */
  readonly prompt_ends: ReadonlyMap<PromptKind, number>;
}

export interface SimOptions {
  readonly show?: (line: string) => void;
  /**
   * Only faults that delay nothing occur, answers coincide, the steps of a group are written in any order, parks are held until what they wait for has
   * come, and no process polls: then every wait must end as soon as its condition holds in the ledger.
   */
  readonly prompt?: boolean;
  /** Whether rules ask about calls that create agents. */
  readonly asks?: boolean;
  /** Whether agents also share a task list. */
  readonly tasks?: boolean;
  /** Whether trees may be workflow runs, and people start, pause and stop them. */
  readonly workflows?: boolean;
  /** Whether the provider takes no requests now and then, while processes die and start again. */
  readonly pauses?: boolean;
  /** Called with the ledger of a run that kept every law, when all work has ended. */
  readonly onRest?: (store: Store) => Promise<void>;
}

type More = Pick<SimOptions, 'tasks' | 'asks' | 'workflows' | 'pauses' | 'onRest'>;

/** Interval between the moments of a storm, milliseconds. */
const MOMENT_MS = 2_000;
/** Maximum duration of the calm, in which all work must end. */
const CALM_MS = 3_600_000;
/** Upper bound for the rest of a lease, a look for unled agents, and delayed orders. */
const TAKEOVER_MS = LEASE_MS + 25_000;

/** Executes one run: some trees, some processes, a storm, then a calm in which all work must end. The same seed gives the same hash. */
export async function simulate(
  seed: number,
  { show, prompt = false, ...more }: SimOptions = {},
): Promise<SimReport> {
  const folder = memoryFolder('sim');
  const time = new VirtualTime();
  const store = await openStore(`sqlite:${join(folder, 'ledger.db')}`, { now: () => time.now });
  const run = new Simulation(seed, time, store, new Trace(time, show ?? null), prompt, more);
  const onRejection = (error: unknown) => run.fail('a promise was rejected and nobody looked', error);
  process.on('unhandledRejection', onRejection);
  const unwatch = watchRealIo((begun) => run.fail('the run waits for the real world', begun));
  try {
    return await run.play();
  } finally {
    unwatch();
    process.off('unhandledRejection', onRejection);
    run.ledger.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Maximum time after which a satisfied wait must end, plus this many trips to the ledger. */
const PROMPT_MS = 400;
const PROMPT_TRIPS = 20;
/** Toolsets that a shared tree may have in addition to `process`. */
const PROMPT_TOOLSETS = [
  [],
  ['fanout'],
  ['sessions'],
  ['sessions', 'delegate'],
  ['fanout', 'sessions', 'delegate'],
];

class Simulation {
  readonly ledger: SimLedger;
  readonly #seed: number;
  readonly #time: VirtualTime;
  readonly #trace: Trace;
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #marks: Marks = new Map();
  readonly #processes: readonly SimProcess[];
  readonly #people: People;
  readonly #failures = new Set<string>();
  readonly #prompt: Promptness | null;
  readonly #more: More;
  #workflows: WorkflowTotals = { runs: 0, agents: 0, replayed: 0 };
  readonly #provider: SimProvider | undefined;
  #answers = 0;

  constructor(
    seed: number,
    time: VirtualTime,
    store: SimLedger['store'],
    trace: Trace,
    prompt: boolean,
    more: More,
  ) {
    this.#more = more;
    const random = new Random(`coppice ${seed}`);
    this.#seed = seed;
    this.#time = time;
    this.#trace = trace;
    this.#random = random.branch('simulation');
    this.#faults = new Faults(
      random.branch('faults'),
      trace,
      prompt,
      more.pauses === true ? RESTARTS : undefined,
    );
    const faults = this.#faults;
    this.ledger = new SimLedger(store, {
      time,
      trace,
      faults,
      random: random.branch('ledger'),
      adverse: prompt,
    });
    this.#provider =
      more.pauses === true
        ? new SimProvider({ time, trace, ledger: this.ledger, random: random.branch('provider') })
        : undefined;
    const distance = { most_ms: this.#random.pick([0, 0, 3, 20, 200]) };
    // The order of these draws is fixed, so that kept seeds stay reproducible.
    const beat_ms = prompt ? this.#random.pick([1, 100, 1_000]) : 1;
    const rounds = this.#random.between(2, 5);
    const terms = planTerms(this.#random, prompt ? 2 : 4);
    const around = {
      time,
      trace,
      faults,
      ledger: this.ledger,
      marks: this.#marks,
      distance,
      polls: !prompt,
      beat_ms,
      rounds,
      terms,
      provider: this.#provider,
      onAnswer: () => {
        this.#answers += 1;
      },
    };
    this.#processes = Array.from({ length: this.#random.between(1, 4) + (prompt ? 1 : 0) }, (_, index) => {
      const name = `w${index + 1}`;
      return new SimProcess(name, around, random.branch(name));
    });
    this.#prompt = prompt
      ? new Promptness(this.ledger, time, {
          within_ms: PROMPT_MS + PROMPT_TRIPS * distance.most_ms,
          runs_per_tree: terms.subagents.max_concurrent,
        })
      : null;
    this.#people = new People(
      this.ledger,
      this.#processes,
      faults,
      random.branch('people'),
      trace,
      prompt ? 1 : 0.2,
      more.workflows === true ? random.branch('workflows') : null,
    );
  }

  fail(what: string, error: unknown): void {
    this.#failures.add(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }

  async play(): Promise<SimReport> {
    const began_at = this.#time.now;
    try {
      await this.#storm();
      if (await this.#calm()) await this.#rest();
      const { broken, totals } = await brokenRuns(this.ledger.store, this.ledger.removed);
      this.#workflows = totals;
      for (const law of broken) this.#failures.add(law);
      if (this.#failures.size === 0) await this.#more.onRest?.(this.ledger.store);
    } catch (error) {
      this.fail('the simulation itself failed', error);
    }
    for (const broken of this.ledger.broken) this.#failures.add(broken);
    for (const failure of this.#failures) this.#trace.add('law', failure.split('\n', 1)[0] ?? '');
    const agents = this.ledger.database.prepare('SELECT count(*) AS n FROM agents').get() as { n: number };
    const tasks = this.ledger.database
      .prepare('SELECT count(*) AS added, coalesce(sum(done), 0) AS done FROM tasks')
      .get() as SimReport['tasks'];
    const creations = this.ledger.database
      .prepare(
        `SELECT count(*) AS asked, coalesce(sum(verdict = 'allow'), 0) AS allowed FROM asks WHERE subject_kind = 'agents'`,
      )
      .get() as SimReport['creations'];
    return {
      seed: this.#seed,
      hash: this.#trace.digest(),
      faults: this.#faults.counts,
      virtual_ms: this.#time.now - began_at,
      agents: agents.n,
      steps: this.ledger.steps,
      answers: this.#answers,
      tasks,
      creations,
      workflows: this.#workflows,
      stale_epochs: this.ledger.stale_epochs,
      failures: [...this.#failures],
      pauses: this.#provider?.counts ?? null,
      prompt_ends: this.#prompt?.ended ?? new Map(),
    };
  }

  /** Checks promptness after every write, and again when the time limit for what it made possible has passed. */
  #watchWaits(waits: Promptness): void {
    const look = () => {
      for (const broken of waits.look()) this.fail('a wait goes on', broken);
    };
    this.ledger.onWritten = () => {
      look();
      if (waits.areRipe) this.#time.after(waits.limits.within_ms + 1, null, look);
    };
  }

  async #storm(): Promise<void> {
    if (this.#prompt !== null) this.#watchWaits(this.#prompt);
    const [random, time] = [this.#random, this.#time];
    this.#provider?.begin();
    for (const process of this.#processes) process.open(random.between(0, 500));
    for (let trees = this.#prompt === null ? random.between(1, 4) : 2; trees > 0; trees -= 1)
      this.#begin(random.between(1_000, 20_000));
    const moments = this.#prompt === null ? random.between(30, 120) : 20;
    for (let moment = 1; moment <= moments; moment += 1)
      time.after(moment * MOMENT_MS, null, () => {
        storm({ time, random, faults: this.#faults, ledger: this.ledger, processes: this.#processes });
        this.#people.act();
      });
    await this.#pass((moments + 1) * MOMENT_MS);
  }

  #begin(in_ms: number): void {
    const { tasks, asks, workflows } = this.#more;
    const asked = asks === true ? CREATION_PERMISSIONS.map(({ name }) => name) : [];
    const planned = planTree(this.#random, tasks === true ? ['tasks'] : [], asked);
    const workflow =
      workflows === true && this.#random.chance(0.7) ? planWorkflow(this.#random, this.#time.now) : null;
    const plan = workflow === null ? planned : { ...planned, config: { ...planned.config, workflow } };
    if (this.#prompt !== null) return this.#beginShared(in_ms, plan);
    this.#time.after(in_ms, null, () => {
      const process = this.#random.pick(this.#processes);
      const { runtime } = process;
      if (runtime === null) return this.#begin(1_000);
      runtime.start(plan).then(
        (root) => this.#watch(runtime, root.id),
        (error: unknown) => {
          if (error instanceof StoreError) {
            // The tree may exist and be led by that process.
            process.doubt();
            this.#begin(1_000);
          } else if (!isClosed(error)) this.fail('a tree could not begin', error);
        },
      );
    });
  }

  #beginShared(in_ms: number, plan: TreePlan): void {
    const config = { ...plan.config, toolsets: ['process', ...this.#random.pick(PROMPT_TOOLSETS)] };
    const limits = { ...DEFAULT_LIMITS, depth: 2, total: 40 };
    this.#time.after(in_ms, null, () => {
      const { store, created } = this.ledger;
      enterSharedTree(store, { ...plan, config, limits }, this.#random, this.#time.now).then(
        (root_id) => created.set(root_id, MEMBERS),
        (error: unknown) => this.fail('a tree could not begin', error),
      );
    });
  }

  /** Waits for the end of the tree, as `run` does: no fault may make this fail. */
  #watch(runtime: RuntimeFace, root_id: string): void {
    runtime.settled(root_id).catch((error: unknown) => {
      if (!isClosed(error)) this.fail('a watcher was sent away', error);
    });
  }

  /** Returns true once all work has ended. */
  async #calm(): Promise<boolean> {
    this.#faults.active = false;
    this.#provider?.calm();
    this.#trace.add('calm', 'no more faults');
    [this.ledger.down_until, this.ledger.full_until] = [0, 0];
    for (const { actor } of this.#processes) this.#time.awaken(actor);
    const until = this.#time.now + CALM_MS;
    while (this.#time.now < until) {
      await this.#pass(5_000);
      this.#people.answerAll(1);
      this.#people.letAllGoOn();
      if (await this.#isStill()) return true;
      if (this.#failures.size > 0) return false;
    }
    for (const what of this.ledger.busy()) this.fail('no end', what);
    for (const { runtime, name } of this.#processes)
      if (runtime === null) this.fail('no end', `${name} is not open`);
    return false;
  }

  /** Whether nothing is left to do, and nothing more comes within the time that delayed orders may take. */
  async #isStill(): Promise<boolean> {
    const rests = () =>
      this.ledger.busy().length === 0 && this.#processes.every(({ runtime }) => runtime !== null);
    if (!rests()) return false;
    const { steps } = this.ledger;
    await this.#pass(TAKEOVER_MS);
    return rests() && this.ledger.steps === steps;
  }

  /** Checks the ledger at rest: every process must see the end, nothing may start again, and every law must hold. */
  async #rest(): Promise<void> {
    const { steps } = this.ledger;
    const unseen = new Set<string>();
    for (const process of this.#processes) process.looks_at_all = true;
    for (const { runtime, actor } of this.#processes)
      for (const root_id of this.ledger.roots()) {
        const watcher = `${actor.name} of ${root_id}`;
        unseen.add(watcher);
        void this.#seesRest(runtime as RuntimeFace, root_id, actor.name).then(() => unseen.delete(watcher));
      }
    await this.#pass(30_000);
    for (const watcher of unseen) this.fail('no end', `seen by ${watcher}`);
    for (const process of this.#processes) void process.close();
    await this.#pass(TAKEOVER_MS);
    for (const { actor } of this.#processes)
      if (actor.alive) this.fail('no end', `${actor.name} does not close`);
    const held = this.ledger.database
      .prepare('SELECT id FROM agents WHERE worker IN (SELECT id FROM workers WHERE expires_at > ?)')
      .all(this.#time.now);
    if (held.length > 0) this.fail('leases', `${held.length} agents are led by processes that closed`);
    // Law 12: a process that takes over a ledger at rest finds nothing to do.
    this.#processes[0]?.open(0);
    await this.#pass(30_000);
    if (this.ledger.steps !== steps) this.fail('law 12', `${this.ledger.steps - steps} steps after the end`);
    for (const broken of brokenAtRest(this.ledger, this.#marks)) this.#failures.add(broken);
  }

  /** Checks that a process sees the end, and that its view of the agents it leads matches the ledger. */
  async #seesRest(runtime: RuntimeFace, root_id: string, name: string): Promise<void> {
    const { agents } = await runtime.settled(root_id);
    const busy = agents.find((agent) => isWorking(agent.state.type));
    if (busy !== undefined) this.fail('settled early', `${name} has ${busy.id} ${busy.state.type}`);
    for (const known of await runtime.agents(root_id)) {
      const kept = await this.ledger.store.agent(known.id);
      if (kept === null || kept.worker !== runtime.worker_id || isTerminal(kept.state.type)) continue;
      if (
        kept.epoch !== known.epoch ||
        kept.last_seq !== known.last_seq ||
        kept.state.type !== known.state.type
      )
        this.fail('another truth', `${name} takes ${known.id} for ${known.state.type} at ${known.last_seq}`);
    }
  }

  async #pass(ms: number): Promise<void> {
    await this.#time.run(() => false, this.#time.now + ms);
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof CoppiceError && error.code === 'E_CLOSED';
}
