import type { ToolsetTerms } from '../../src/kernel/toolsets/toolset-terms.ts';
import type { Model, ModelRequest } from '../../src/models/model.ts';
import type { Tool } from '../../src/records/tool.ts';
import { openRuntime } from '../../src/runtime/open-runtime.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import type { Store } from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { Faults } from './faults.ts';
import { type Distance, faultyStore } from './faulty-store.ts';
import { PLANNED_WORKFLOWS } from './planned-workflow.ts';
import { promptFault } from './prompt-fault.ts';
import type { Random } from './random.ts';
import type { SimLedger } from './sim-ledger.ts';
import { simModel } from './sim-model.ts';
import type { SimProvider } from './sim-provider.ts';
import { type Marks, simTools } from './sim-tools.ts';
import type { Trace } from './trace.ts';
import { type Skewed, virtualClock } from './virtual-clock.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface ProcessSurroundings {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly faults: Faults;
  readonly ledger: SimLedger;
  readonly marks: Marks;
  readonly distance: Distance;
  readonly terms: Partial<ToolsetTerms>;
  readonly rounds: number;
  readonly beat_ms: number;
  /** Whether the process also polls for writes by others, instead of relying on wake-ups alone. */
  readonly polls: boolean;
  readonly onAnswer: () => void;
  readonly provider: SimProvider | undefined;
}

/** Interval at which a process looks for unled agents, milliseconds. */
const LOOK_MS = 2_000;
const REOPEN_MS = 1_000;
const MANY = 1_000;

/** One simulated process: a real runtime on the shared ledger, reopened after each of its deaths. */
export class SimProcess {
  readonly name: string;
  readonly #around: ProcessSurroundings;
  readonly #random: Random;
  #lives = 0;
  actor: Skewed = { name: '', alive: false, paused_until: 0, skew_ms: 0 };
  /** Null while the process is dead or about to open. */
  runtime: RuntimeFace | null = null;
  /** Trees that it may have claimed, or not released, by a call that was never acknowledged. */
  readonly #unsure = new Set<string>();
  /** Whether to look at every tree, instead of only at those that nobody leads. */
  looks_at_all = false;

  constructor(name: string, around: ProcessSurroundings, random: Random) {
    this.name = name;
    this.#around = around;
    this.#random = random;
  }

  /** Begins a new life `in_ms` from now. */
  open(in_ms: number): void {
    this.#lives += 1;
    const actor: Skewed = {
      ...this.actor,
      name: `${this.name}.${this.#lives}`,
      alive: true,
      paused_until: 0,
    };
    this.actor = actor;
    this.#unsure.clear();
    this.#around.time.after(in_ms, actor, () => void this.#begin(actor));
  }

  async #begin(actor: Skewed): Promise<void> {
    const {
      time,
      trace,
      faults,
      ledger,
      marks,
      rounds,
      beat_ms,
      polls,
      onAnswer,
      terms,
      distance,
      provider,
    } = this.#around;
    const random = this.#random.branch(actor.name);
    const clock_random = random.branch('surroundings');
    const clock = virtualClock(time, actor, clock_random, polls);
    const store = faultyStore({ ledger, actor, time, faults, distance, random: random.branch('store') });
    const model_random = random.branch('model');
    trace.add(actor.name, 'opens');
    try {
      const runtime = await openRuntime({
        store,
        openModel: async (id): Promise<Model> =>
          simModel(id, {
            actor,
            time,
            faults,
            rounds,
            beat_ms,
            patient: !polls,
            onAnswer,
            provider,
            random: model_random,
            onRequest: (request) => void this.#check(request),
          }),
        tools: simTools({ actor, time, faults, marks, random: random.branch('tools') }) as Tool[],
        terms,
        workflows: PLANNED_WORKFLOWS,
        spill_dir: '/nowhere',
        env_allow: [],
        can_ask: true,
        clock,
        newId: () => clock_random.uuid(),
      });
      provider?.lives(actor);
      runtime.subscribe((event) => {
        if (event.type === 'agent') provider?.saw(actor, event.agent);
      });
      this.runtime = runtime;
      let looking = false;
      clock.every(LOOK_MS + random.between(0, 500), () => {
        if (looking || this.runtime !== runtime) return;
        looking = true;
        void this.#takeOver(runtime, store).finally(() => {
          looking = false;
        });
      });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      trace.add(actor.name, `could not open: ${error.message}`);
      actor.alive = false;
      this.open(REOPEN_MS);
    }
  }

  async #check(request: ModelRequest): Promise<void> {
    const { ledger } = this.#around;
    const fault = this.runtime === null ? null : await promptFault(request, this.runtime.worker_id, ledger);
    if (fault !== null) ledger.broken.push(fault);
  }

  /** Takes over unled trees, as a server does. */
  async #takeOver(runtime: RuntimeFace, store: Store): Promise<void> {
    // If the ledger is unreachable, the next look tries again.
    const found = await store.unledTrees(MANY).catch((error: unknown) => {
      this.#expected(error);
      return [];
    });
    if (this.looks_at_all) this.doubt();
    const all = [...this.#unsure, ...found];
    for (const root_id of new Set(all)) {
      this.#unsure.delete(root_id);
      const sure = await runtime.resume(root_id, { unattended: true }).then(
        ({ broken }) => broken.length === 0,
        (error: unknown) => this.#expected(error),
      );
      if (sure !== true && this.runtime === runtime) this.#unsure.add(root_id);
    }
  }

  /** Makes the next look include every tree. */
  doubt(): void {
    for (const root_id of this.#around.ledger.roots()) this.#unsure.add(root_id);
  }

  /** Releases a tree, as a server does when nothing is left to do in it. */
  async release(root_id: string): Promise<void> {
    const { runtime } = this;
    await runtime?.release(root_id).catch((error: unknown) => {
      if (this.runtime === runtime) this.#unsure.add(root_id);
      throw error;
    });
  }

  #expected(error: unknown): void {
    const known = error instanceof StoreError || (error as { code?: unknown }).code === 'E_CLOSED';
    if (!known)
      this.#around.ledger.broken.push(`resume failed: ${error instanceof Error ? error.stack : error}`);
  }

  /** Kills the process with everything in memory. */
  crash(): void {
    this.actor.alive = false;
    this.runtime = null;
  }

  /** Closes the process in order; nothing of it may remain alive. */
  async close(): Promise<void> {
    const { runtime, actor } = this;
    this.runtime = null;
    await runtime?.close();
    actor.alive = false;
  }
}
