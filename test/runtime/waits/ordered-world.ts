import { randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isWorking } from '../../../src/records/agent/state.ts';
import type { Surroundings } from '../../../src/runtime/surroundings.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Play, type Stage, type StageOptions, setStage } from '../stage.ts';

const NOW = Date.UTC(2026, 0, 1);
/** A look at the ledger that is answered later, while others write to it; all other looks are answered at once. */
const LOOKS: ReadonlySet<string> = new Set(['agent']);

/** Something that can happen now, and can go on to happen until it is chosen. */
export interface Possible {
  /** Unique in one play, and the same in all orders that differ only in what does not concern it. */
  readonly name: string;
  /** In whose memory it happens; null: in nobody's. */
  readonly process: string | null;
  readonly ledger: 'reads' | 'writes' | null;
  readonly happen: () => void;
}

/** One play of a scenario: what can happen next is told, and happens when it is chosen. Time stands still. */
export class World {
  /** One ledger for all plays, each with trees of its own. */
  readonly store: Store;
  readonly #folder: string;
  /** Whether something was written for a worker. */
  readonly #signal: StatementSync;
  readonly #stages: Stage[] = [];
  /** Wakes a process, by its worker. */
  readonly #wakes = new Map<string, { readonly name: string; readonly wake: () => void }>();
  readonly #roots: string[] = [];
  readonly #possible: Possible[] = [];
  readonly #named = new Map<string, number>();
  /** What happened, in order. */
  readonly trace: string[] = [];
  #free = false;
  #isDecided = () => false;
  #alike: readonly string[] = [];
  #held: readonly string[] = [];

  /** `rows`: a connection of its own, to look at the rows as they are. */
  constructor(store: Store, folder: string, rows: DatabaseSync) {
    this.store = store;
    this.#folder = folder;
    this.#signal = rows.prepare('SELECT 1 FROM signals WHERE worker = ?');
  }

  /** A process on the ledger. Its rounds, what it tells and asks the ledger, and the answers of its models are events. */
  async process(name: string, play: Play, options: StageOptions = {}): Promise<Stage> {
    const stage = await setStage(
      async (scene) => {
        await this.#event(`${scene.name} answers`, name, null, scene.request.signal);
        return play(scene);
      },
      {
        ...options,
        ground: { store: this.store, folder: this.#folder },
        surroundings: this.#surroundings(name),
        wrap: (store) => this.#distant(name, store),
      },
    );
    this.#stages.push(stage);
    return stage;
  }

  /** A tree that no process of this world began. */
  owns(root_id: string): void {
    this.#roots.push(root_id);
  }

  #surroundings(name: string): Surroundings {
    return {
      now: () => NOW,
      // Whoever needs time to go on has missed something.
      after: () => () => undefined,
      every: () => () => undefined,
      soon: () => this.#event(`${name} has a moment`, name, null),
      newId: randomUUID,
    };
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
        const call = (...args: unknown[]) =>
          (value as (...all: unknown[]) => Promise<unknown>).apply(target, args);
        if (method === 'createRoot')
          return (...args: Parameters<Store['createRoot']>) => {
            this.owns(args[0].agent.id);
            return call(...args);
          };
        if (LOOKS.has(method) && this.#stages.length > 1)
          return async (...args: unknown[]) => {
            await this.#event(`${name} asks for ${method}`, name, 'reads');
            return call(...args);
          };
        if (method !== 'commit' && method !== 'kill') return call;
        return async (...args: unknown[]) => {
          // What is handed over arrives at one moment, and the answer at another.
          if (method === 'commit') await this.#event(`${name}: ${method}`, null, 'writes');
          const answer = await call(...args);
          if (this.#stages.length > 1) this.#wake();
          await this.#event(`${name} hears of ${method}`, name, this.#stages.length > 1 ? 'reads' : null);
          return answer;
        };
      },
    });
  }

  /** Those for whom something was written. */
  #wake(): void {
    for (const [worker, { name, wake }] of this.#wakes) {
      const event = `${name} is woken`;
      if (this.#signal.get(worker) !== undefined && !this.#possible.some((one) => one.name.startsWith(event)))
        void this.#event(event, name, 'writes').then(wake);
    }
  }

  #event(
    what: string,
    process: string | null,
    ledger: Possible['ledger'],
    signal?: AbortSignal,
  ): Promise<void> {
    const count = (this.#named.get(what) ?? 0) + 1;
    this.#named.set(what, count);
    return new Promise((resolve) => {
      const possible = { name: `${what} (${count})`, process, ledger, happen: resolve };
      this.#possible.push(possible);
      signal?.addEventListener('abort', () => this.#take(possible));
      // Before the orders part, only minds are waited for, and what is held.
      if (!this.#free && !what.endsWith(' answers') && !this.#held.some((held) => what.startsWith(held)))
        this.#take(possible);
    });
  }

  /** What a person may do in this process at any moment, once. */
  may(what: string, process: string, act: () => unknown): void {
    this.#possible.push({ name: what, process, ledger: 'writes', happen: () => void act() });
  }

  #take(possible: Possible): void {
    const at = this.#possible.indexOf(possible);
    if (at < 0) return;
    this.#possible.splice(at, 1);
    possible.happen();
  }

  /** Agents that differ in nothing but their names: that the first answers before the second stands for the other way round. */
  alike(...agents: readonly string[]): void {
    this.#alike = agents.map((agent) => `${agent} answers (1)`);
  }

  /** Events whose names begin so do not happen before the orders part. */
  hold(...names: readonly string[]): void {
    this.#held = names;
  }

  /** From then on the order of what still happens makes no difference to the scenario. */
  decidedWhen(test: () => boolean): void {
    this.#isDecided = test;
  }

  /** Before the orders part: lets the mind of this agent answer as soon as it is asked. */
  async cue(agent: string): Promise<void> {
    for (let tries = 0; tries < 1_000; tries += 1) {
      const found = this.#possible.find(({ name }) => name.startsWith(`${agent} answers`));
      if (found !== undefined) this.#take(found);
      await settled();
      if (found !== undefined) return;
    }
    throw new Error(`${agent} was never asked`);
  }

  /** Everything happens that can; `choose` says what is next, or null when another order stands for this one. */
  async run(choose: (possible: readonly Possible[]) => Possible | null): Promise<'over' | 'known'> {
    this.#free = true;
    for (;;) {
      await settled();
      const first = this.#alike.find((name) => this.#possible.some((one) => one.name === name));
      const open = this.#possible.filter(({ name }) => name === first || !this.#alike.includes(name));
      const [only] = open;
      if (only === undefined) return 'over';
      const next = this.#isDecided() ? only : choose(open);
      if (next === null) return 'known';
      this.trace.push(next.name);
      this.#take(next);
    }
  }

  async assertRest(): Promise<void> {
    const trees = await Promise.all(this.#roots.map((root_id) => this.store.agents({ root_id })));
    const busy = trees.flat().filter((agent) => isWorking(agent.state.type) || agent.unread === true);
    const who = busy.map(({ name, state, doing }) => `${name} (${state.type}, ${doing ?? 'mail'})`);
    if (who.length > 0) throw new Error(`nothing can happen any more, and these go on: ${who.join(', ')}`);
  }

  async close(): Promise<void> {
    this.#free = false;
    for (const possible of this.#possible.splice(0)) possible.happen();
    for (const stage of this.#stages) await stage.close();
  }
}

/** Every promise that is settled has its say. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
