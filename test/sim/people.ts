import { CoppiceError } from '../../src/records/coppice-error.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { Faults } from './faults.ts';
import { planWorkflow } from './planned-workflow.ts';
import type { Random } from './random.ts';
import type { SimLedger } from './sim-ledger.ts';
import type { SimProcess } from './sim-process.ts';
import type { Trace } from './trace.ts';

/** Letter from a person that makes an agent start new work. */
const MORE_WORK = 'more work for you';

/** Error codes that a person may get from a correct runtime. */
const EXPECTED: ReadonlySet<string> = new Set([
  'E_AGENT_DEAD',
  'E_AGENT_NOT_FOUND',
  'E_ASK_ANSWERED',
  'E_REFUSED',
  'E_CLOSED',
]);

/** People at terminals: they send to, interrupt, kill, fork and answer agents through any process. */
export class People {
  readonly #ledger: SimLedger;
  readonly #processes: readonly SimProcess[];
  readonly #faults: Faults;
  readonly #random: Random;
  readonly #trace: Trace;
  /** Probability that somebody writes at a given moment. */
  readonly #writes: number;
  /** What they do with workflows is drawn from this; null: nothing. */
  readonly #workflows: Random | null;

  constructor(
    ledger: SimLedger,
    processes: readonly SimProcess[],
    faults: Faults,
    random: Random,
    trace: Trace,
    writes: number,
    workflows: Random | null,
  ) {
    this.#ledger = ledger;
    this.#processes = processes;
    this.#faults = faults;
    this.#random = random;
    this.#trace = trace;
    this.#writes = writes;
    this.#workflows = workflows;
  }

  /** Performs the random actions of one moment. */
  act(): void {
    const random = this.#random;
    if (this.#faults.strikes('human-kill', 'you'))
      this.#order('kill', (runtime) => runtime.kill(this.#somebody(random.chance(0.9))));
    if (this.#faults.strikes('human-interrupt', 'you'))
      this.#order('interrupt', (runtime) => runtime.interrupt(this.#somebody(), 'enough'));
    if (random.chance(this.#writes))
      this.#order('send', (runtime) => runtime.send(this.#somebody(), MORE_WORK));
    if (random.chance(0.02)) this.#order('capture', (runtime) => runtime.capture(this.#somebody(), 'a note'));
    if (random.chance(0.02)) this.#order('fork', (runtime) => this.#fork(runtime));
    if (random.chance(0.02)) this.#order('wait', (runtime) => this.#wait(runtime));
    if (random.chance(0.3)) this.#order('release', (_, process) => this.#release(process));
    if (random.chance(0.3)) this.answerAll(0.5);
    if (this.#workflows !== null) this.#steer(this.#workflows);
  }

  /** Starts, pauses, stops and lets go on workflow runs, and skips agents of them. */
  #steer(random: Random): void {
    const [run, agent] = [this.#run(random), this.#somebody()];
    if (run !== null && random.chance(0.15)) {
      const how = random.pick(['pause', 'stop', 'resume'] as const);
      this.#order(how, (runtime) => runtime.steerWorkflow(run, how));
    }
    if (run !== null && random.chance(0.05)) {
      const rows = this.#ledger.database
        .prepare('SELECT id FROM agents WHERE parent_id = ? ORDER BY rowid')
        .all(run);
      if (rows.length > 0) {
        const { id } = random.pick(rows);
        this.#order('skip', (runtime) => runtime.kill(id as string));
      }
    }
    if (!random.chance(0.05)) return;
    const workflow = planWorkflow(random, 0);
    const order = { id: random.uuid(), run_id: random.uuid(), workflow, by: 'you' };
    this.#order('workflow', (runtime) => runtime.startWorkflow(agent, order));
  }

  #run(random: Random): string | null {
    const rows = this.#ledger.database
      .prepare('SELECT id FROM agents WHERE config LIKE \'%"workflow":{"name"%\' ORDER BY rowid')
      .all();
    return rows.length === 0 ? null : (random.pick(rows).id as string);
  }

  /** Lets every workflow run that was paused go on. */
  letAllGoOn(): void {
    if (this.#workflows === null) return;
    for (const { id } of this.#ledger.database
      .prepare(
        "SELECT id FROM agents WHERE config LIKE '%\"paused\":{%' AND status NOT IN ('completed', 'failed', 'killed')",
      )
      .all())
      this.#order('resume', (runtime) => runtime.steerWorkflow(id as string, 'resume'));
  }

  /** Answers each open question with this probability. */
  answerAll(probability: number): void {
    for (const { id } of this.#ledger.database
      .prepare('SELECT id FROM asks WHERE verdict IS NULL ORDER BY rowid')
      .all()) {
      if (!this.#random.chance(probability)) continue;
      const verdict = this.#random.pick(['allow', 'deny'] as const);
      const scope = this.#random.pick(['once', 'agent'] as const);
      this.#order('answer', (runtime) => runtime.answer(id as string, { verdict, scope, note: '' }));
    }
  }

  #fork(runtime: RuntimeFace): Promise<unknown> {
    const prompt = this.#random.chance(0.5) ? null : 'do this beside';
    return runtime.fork(this.#somebody(), 'by-hand', prompt);
  }

  async #release(process: SimProcess): Promise<unknown> {
    const roots = this.#ledger.roots();
    return roots.length === 0 ? null : process.release(this.#random.pick(roots));
  }

  #wait(runtime: RuntimeFace): Promise<unknown> {
    const from = this.#random.chance(0.5) ? null : [this.#somebody(), this.#somebody()];
    return runtime.wait(this.#somebody(), this.#random.between(0, 60_000), from);
  }

  #somebody(below_root = false): string {
    const where = below_root ? 'WHERE parent_id IS NOT NULL' : '';
    const ids = this.#ledger.database.prepare(`SELECT id FROM agents ${where} ORDER BY rowid`).all();
    return ids.length === 0 ? 'nobody' : (this.#random.pick(ids).id as string);
  }

  #order(what: string, give: (runtime: RuntimeFace, process: SimProcess) => Promise<unknown>): void {
    const open = this.#processes.flatMap((process) => {
      const { runtime, actor } = process;
      return runtime === null ? [] : [{ runtime, actor, process }];
    });
    if (open.length === 0) return;
    const { runtime, actor, process } = this.#random.pick(open);
    give(runtime, process).then(
      () => this.#trace.add(actor.name, `order ${what}: done`),
      (error: unknown) => {
        this.#trace.add(
          actor.name,
          `order ${what}: ${error instanceof Error ? error.message : String(error)}`,
        );
        const known = error instanceof CoppiceError && EXPECTED.has(error.code);
        if (!known && !(error instanceof StoreError))
          this.#ledger.broken.push(
            `the order ${what} failed: ${error instanceof Error ? error.stack : error}`,
          );
      },
    );
  }
}
