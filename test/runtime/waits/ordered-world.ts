import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { isTerminal, isWorking } from '../../../src/records/agent/state.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Play, type Scene, type Stage, type StageOptions, setStage } from '../stage.ts';
import { LedgerCalls, type Touch } from './ledger-calls.ts';
import { stillClock, type Timer } from './still-clock.ts';
import type { ToldLedger } from './told-ledger.ts';

const NOW = Date.UTC(2026, 0, 1);
/** Reads of the ledger whose answer is an event of its own, while others may write; all other reads are answered at once. */
const LOOKS: ReadonlySet<string> = new Set(['agent']);

type Method = (...args: unknown[]) => Promise<unknown>;

/** One process of a world. */
interface Actor {
  readonly stage: Stage;
  readonly timers: Set<Timer>;
  /** Whether the process has died; nothing that it still does has an effect. */
  gone: boolean;
}

/** An event that is possible now and stays possible until it is chosen. */
export interface Possible {
  /** Unique in one play, and equal in all orders that differ only in unrelated events. */
  readonly name: string;
  /** Process whose memory the event changes; null: none. */
  readonly process: string | null;
  /** Who continues by this event: a process, a model or a person. */
  readonly owner: string;
  /** How the event accessed the ledger, once it has happened; before that, how it may. */
  ledger: Touch;
  readonly happen: () => void;
}

/** One play of a scenario: lists the events that are possible next and performs the chosen one. Time stands still unless the scenario advances it. */
export class World {
  /** The store as seen from outside all processes. All plays share one ledger, each with its own trees. */
  readonly store: Store;
  readonly #ledger: ToldLedger;
  readonly #folder: string;
  readonly #actors = new Map<string, Actor>();
  /** Functions that wake processes, by worker id. */
  readonly #wakes = new Map<string, { readonly name: string; readonly wake: () => void }>();
  readonly #roots: string[] = [];
  readonly #possible: Possible[] = [];
  /** Events of processes that have died; they never happen. */
  readonly #never: Possible[] = [];
  readonly #named = new Map<string, number>();
  readonly trace: string[] = [];
  #now = NOW;
  #free = false;
  #isDecided = () => false;
  #alike: readonly string[] = [];
  #held: readonly string[] = [];
  #server: Stage | null = null;
  readonly #calls = new LedgerCalls();

  constructor(ledger: ToldLedger, folder: string) {
    this.#ledger = ledger;
    this.#folder = folder;
    this.store = this.#calls.all(ledger.store((worker) => this.#tell(null, worker)));
  }

  /** Adds a process on the ledger. Its rounds, its commits, kills and delayed reads, and the answers of its models are events. */
  async process(name: string, play: Play, options: StageOptions = {}): Promise<Stage> {
    const timers = new Set<Timer>();
    const store = this.#calls.all(this.#ledger.store((worker) => this.#tell(name, worker)));
    const stage = await setStage(
      async (scene) => {
        await this.#event(`${scene.name} answers ${name}`, name, null, scene);
        return play(scene);
      },
      {
        ...options,
        ground: { store, folder: this.#folder },
        clock: stillClock(timers, {
          now: () => this.#now,
          soon: () => this.#event(`${name} has a moment`, name, null),
        }),
        wrap: (one) => this.#distant(name, one),
      },
    );
    this.#actors.set(name, { stage, timers, gone: false });
    return stage;
  }

  /** Adds a tree that no process of this world began. */
  owns(root_id: string): void {
    this.#roots.push(root_id);
  }

  #distant(name: string, store: Store): Store {
    return new Proxy(store, {
      get: (target, method: string) => {
        const value = (target as unknown as Record<string, unknown>)[method];
        if (method === 'listen')
          return async (worker: string, wake: () => void) => {
            this.#wakes.set(worker, { name, wake });
            return async () => undefined;
          };
        if (typeof value !== 'function') return value;
        const call: Method = (...args) => (value as Method).apply(target, args);
        if (method === 'createRoot')
          return (...args: Parameters<Store['createRoot']>) => {
            this.owns(args[0].agent.id);
            return call(...args);
          };
        if (LOOKS.has(method) && this.#actors.size > 1)
          return async (...args: unknown[]) => {
            await this.#event(`${name} asks for ${method}`, name, 'reads');
            return call(...args);
          };
        if (method !== 'commit' && method !== 'kill') return call;
        return async (...args: unknown[]) => {
          // The arrival of a commit and its acknowledgement are separate events.
          if (method === 'commit') await this.#event(`${name}: ${method}`, null, 'writes');
          const answer = await call(...args);
          await this.#event(`${name} hears of ${method}`, name, this.#actors.size > 1 ? 'reads' : null);
          return answer;
        };
      },
    });
  }

  /** Wakes the process of a worker, except the writer itself, because not every database wakes that one. */
  #tell(writer: string | null, worker: string): void {
    const listener = this.#wakes.get(worker);
    if (listener === undefined || listener.name === writer) return;
    const event = `${listener.name} is woken`;
    if (!this.#possible.some(({ name }) => name.startsWith(event)))
      void this.#event(event, listener.name, 'writes').then(listener.wake);
  }

  #event(what: string, process: string | null, ledger: Possible['ledger'], scene?: Scene): Promise<void> {
    const count = (this.#named.get(what) ?? 0) + 1;
    this.#named.set(what, count);
    return new Promise((resolve) => {
      const owner = scene === undefined ? (process ?? what.replace(/:.*/, '')) : `the model of ${scene.name}`;
      const possible = { name: `${what} (${count})`, process, owner, ledger, happen: resolve };
      if (process !== null && this.#actors.get(process)?.gone === true)
        return void this.#never.push(possible);
      this.#possible.push(possible);
      scene?.request.signal.addEventListener('abort', () => this.#take(possible));
      // Until orders vary, only answers of models and held events wait to be chosen.
      if (!this.#free && !what.includes(' answers ') && !this.#held.some((held) => what.startsWith(held)))
        this.#take(possible);
    });
  }

  /** Adds an action of a person in this process that is possible at any moment, once. */
  may(what: string, process: string, act: () => unknown): void {
    this.#possible.push({
      name: what,
      process,
      owner: 'a person',
      ledger: 'writes',
      happen: () => void act(),
    });
  }

  /** Lets `ms` pass in this process at any moment, once: timers that are due by then fire in order. */
  mayPass(process: string, ms: number): void {
    this.may(`${ms / 1_000} s pass for ${process}`, process, () => {
      this.#now += ms;
      const { timers } = this.#actor(process);
      const due = [...timers].filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at);
      for (const timer of due) if (timers.delete(timer)) timer.ring();
    });
  }

  /** The process dies with everything in memory: its pending events never happen. Its leases are released. */
  async dies(name: string): Promise<void> {
    const actor = this.#actor(name);
    actor.gone = true;
    const its = this.#possible.filter(({ process }) => process === name);
    this.#never.push(...its.filter((possible) => this.#forget(possible)));
    await this.store.release(actor.stage.runtime.worker_id);
  }

  /** Lets this process take over unled trees of this world whenever no other event is possible. */
  serves(stage: Stage): void {
    this.#server = stage;
  }

  /** From now on `right` leads these agents, and `left` the rest of their tree, which no process led. */
  async share([agent, ...more]: readonly [Agent, ...Agent[]], left: Stage, right: Stage): Promise<void> {
    const holder = { id: randomUUID(), host: 'elsewhere', pid: 1 };
    await this.store.heartbeat(holder);
    for (const { id } of [agent, ...more]) await this.#ledger.lend(id, holder.id);
    await left.runtime.resume(agent.root_id);
    await this.store.release(holder.id);
    await right.runtime.resume(agent.root_id);
  }

  /** The agent with this name in the tree. */
  async agent(name: string, root_id: string): Promise<Agent> {
    const [found] = await this.store.find(name, root_id);
    if (found === undefined) throw new Error(`nobody is called ${name}`);
    return found;
  }

  #actor(name: string): Actor {
    const actor = this.#actors.get(name);
    if (actor === undefined) throw new Error(`there is no process ${name}`);
    return actor;
  }

  #forget(possible: Possible): boolean {
    const at = this.#possible.indexOf(possible);
    if (at >= 0) this.#possible.splice(at, 1);
    return at >= 0;
  }

  #take(possible: Possible): void {
    if (this.#forget(possible)) possible.happen();
  }

  /** Agents that differ only in their names: orders in which the first one answers first also cover the reverse. */
  alike(...agents: readonly string[]): void {
    this.#alike = agents;
  }

  /** Delays events whose names have one of these prefixes until orders vary. */
  hold(...names: readonly string[]): void {
    this.#held = names;
  }

  /** From the moment at which `test` holds, the order of events makes no difference to the scenario. */
  decidedWhen(test: () => boolean): void {
    this.#isDecided = test;
  }

  /** Before orders vary: lets the model of this agent answer as soon as it is asked. */
  async cue(agent: string): Promise<void> {
    for (let tries = 0; tries < 1_000; tries += 1) {
      const found = this.#possible.find(({ name }) => name.startsWith(`${agent} answers `));
      if (found !== undefined) this.#take(found);
      await this.#calls.settled();
      if (found !== undefined) return;
    }
    throw new Error(`${agent} was never asked`);
  }

  /** Performs events until none is possible; `choose` returns the next one, or null if an equivalent order covers this one. */
  async run(choose: (possible: readonly Possible[]) => Possible | null): Promise<'over' | 'known'> {
    await this.#calls.settled();
    this.#free = true;
    for (;;) {
      await this.#calls.settled();
      const first = this.#possible.find(({ name }) => this.#isAlike(name));
      const open = this.#possible.filter((one) => one === first || !this.#isAlike(one.name));
      const [only] = open;
      if (only === undefined && (await this.#takesOver())) continue;
      if (only === undefined) return 'over';
      const next = this.#isDecided() ? only : choose(open);
      if (next === null) return 'known';
      this.trace.push(next.name);
      this.#calls.touched = null;
      this.#take(next);
      await this.#calls.settled();
      next.ledger = this.#calls.touched;
    }
  }

  #isAlike(name: string): boolean {
    return this.#alike.some((agent) => name.startsWith(`${agent} answers `) && name.endsWith('(1)'));
  }

  async #takesOver(): Promise<boolean> {
    const unled = this.#server === null ? [] : await this.store.unledTrees(1_000);
    const own = this.#roots.filter((root_id) => unled.includes(root_id));
    for (const root_id of own) {
      this.trace.push('what nobody leads is taken over');
      void this.#server?.runtime.resume(root_id, { unattended: true });
    }
    return own.length > 0;
  }

  async assertRest(): Promise<void> {
    const trees = await Promise.all(this.#roots.map((root_id) => this.store.agents({ root_id })));
    const busy = trees
      .flat()
      .filter(({ state, unread }) => isWorking(state.type) || (unread === true && !isTerminal(state.type)));
    const who = busy.map(({ name, state, doing }) => `${name} (${state.type}, ${doing ?? 'mail'})`);
    assert.deepEqual(who, [], 'nothing can happen any more, and these go on');
  }

  async close(): Promise<void> {
    this.#free = false;
    for (const actor of this.#actors.values()) actor.gone = false;
    for (const possible of [...this.#possible.splice(0), ...this.#never.splice(0)]) possible.happen();
    await this.#calls.settled();
    for (const { stage } of this.#actors.values()) await stage.close();
    // The next world must not find work of this one.
    if (this.#server !== null) for (const root_id of this.#roots) await this.store.kill(root_id, 'you', NOW);
  }
}
