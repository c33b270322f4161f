import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Line } from '../../stage.ts';
import type { Act, Asked, LedgerCall, Order, Point, Report } from './leader.ts';

/** Timeout in milliseconds. A signalled event arrives at once and a lost one never does; only a busy machine takes seconds. */
const LOST_MS = 30_000;

/** A call to the ledger that is held back. */
export interface Held {
  /** Resolves when the call is held. */
  readonly reached: Promise<void>;
  readonly go: () => void;
}

/** Handle for a process that leads agents (`leader.ts`). */
export class LeaderProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<never>;
  readonly #asked = new Map<string, Asked>();
  readonly #acts: PromiseWithResolvers<void>[] = [];
  #worker_id = '';
  #reached = Promise.withResolvers<void>();
  #news = Promise.withResolvers<void>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#gone = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`the leader has ended (${signal ?? code})`);
    });
    this.#gone.catch(() => undefined);
    child.on('message', (report: Report) => this.#take(report));
  }

  static async start(database: string, folder: string): Promise<LeaderProcess> {
    const child = fork(join(import.meta.dirname, 'leader.ts'), [database, folder], { execArgv: [] });
    const leader = new LeaderProcess(child);
    await leader.#until(() => leader.#worker_id !== '', 'it leads');
    return leader;
  }

  get worker_id(): string {
    return this.#worker_id;
  }

  #take(report: Report): void {
    if (report.type === 'leads') this.#worker_id = report.worker_id;
    else if (report.type === 'asked') this.#asked.set(report.asked.agent_id, report.asked);
    else if (report.type === 'held') this.#reached.resolve();
    else if (report.error === null) this.#acts[report.act]?.resolve();
    else this.#acts[report.act]?.reject(new Error(report.error));
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  #order(order: Order): void {
    if (this.#child.connected) this.#child.send(order);
  }

  /** Resolves when this agent's model has a request, in any turn, that is not answered yet. */
  async asked(agent_id: string): Promise<Asked> {
    await this.#until(() => this.isAsked(agent_id), 'a model is asked');
    return this.#asked.get(agent_id) as Asked;
  }

  isAsked(agent_id: string): boolean {
    return this.#asked.has(agent_id);
  }

  /** Gives this answer to the agent's model as soon as it has a request. */
  async answer(agent_id: string, said: Line): Promise<void> {
    const { ask } = await this.asked(agent_id);
    this.#asked.delete(agent_id);
    this.#order({ type: 'answer', ask, said });
  }

  /** Holds the next call that matches. */
  hold(call: LedgerCall, point: Point): Held {
    this.#reached = Promise.withResolvers();
    this.#order({ type: 'hold', call, point });
    return {
      reached: this.#promptly(this.#reached.promise, `the call is held (${call.what})`),
      go: () => this.go(),
    };
  }

  /** Releases the held call. */
  go(): void {
    this.#order({ type: 'go' });
  }

  act(method: Act, ...args: readonly unknown[]): Promise<void> {
    const acted = Promise.withResolvers<void>();
    const act = this.#acts.push(acted) - 1;
    this.#order({ type: 'act', act, method, args });
    return this.#promptly(acted.promise, method);
  }

  async end(signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM'): Promise<void> {
    this.#child.kill(signal);
    await this.#gone.catch(() => undefined);
  }

  async #until(test: () => boolean, what: string): Promise<void> {
    while (!test()) await this.#promptly(this.#news.promise, what);
  }

  async #promptly<T>(promise: Promise<T>, what: string): Promise<T> {
    const lost = Promise.withResolvers<never>();
    const timer = setTimeout(() => lost.reject(new Error(`it never came to this: ${what}`)), LOST_MS);
    return Promise.race([promise, lost.promise, this.#gone]).finally(() => clearTimeout(timer));
  }
}
