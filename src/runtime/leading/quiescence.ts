import { type Agent, descendantsOf, isActive } from '../../records/agent/agent.ts';
import { interruptionOf, isWorking } from '../../records/agent/state.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { outcomeOf, outcomeOfTree } from '../../records/run/outcome.ts';
import type { Store } from '../../store/store.ts';
import { StoreError } from '../../store/store-error.ts';
import type { Executor } from '../executor/executor.ts';
import type { RuntimeClock, Stop } from '../runtime-clock.ts';
import type { TreeOutcome } from '../runtime-face.ts';
import type { OpenOptions } from '../runtime-options.ts';

/** Poll interval for trees that other processes work on too; the timer also keeps the process alive while somebody waits. */
const POLL_MS = 250;

interface Waiting {
  readonly agent_id: string;
  readonly root_id: string;
  readonly until: 'tree' | 'root';
  readonly resolve: (outcome: TreeOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Detects that no agent of a tree works and no mail waits for a living one. */
export class Quiescence {
  readonly #executor: Executor;
  readonly #store: Store;
  /** By root id. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  /** Why trees never come to rest here. */
  readonly #stuck = new Map<string, CoppiceError>();
  #timer: Stop | null = null;
  /** Why nothing is waited for any more. */
  readonly #closed = new AbortController();
  readonly #clock: RuntimeClock;

  constructor(executor: Executor, { store, clock }: Pick<OpenOptions, 'store' | 'clock'>) {
    this.#executor = executor;
    this.#store = store;
    this.#clock = clock;
  }

  async settled(agent_id: string, until: 'tree' | 'root', signal?: AbortSignal): Promise<TreeOutcome> {
    const agent = this.#executor.agent_index.agent(agent_id) ?? (await this.#store.agent(agent_id));
    const root_id = agent?.root_id ?? agent_id;
    this.#closed.signal.throwIfAborted();
    const stuck = this.#stuck.get(root_id);
    if (stuck !== undefined) throw stuck;
    return new Promise((resolve, reject) => {
      const waiting = { agent_id, root_id, until, resolve, reject };
      const all = this.#waiting.get(root_id) ?? new Set();
      this.#waiting.set(root_id, all.add(waiting));
      const stop = () => this.#end(waiting, () => reject(signal?.reason));
      signal?.addEventListener('abort', stop, { once: true });
      if (signal?.aborted) return stop();
      this.#timer ??= this.#clock.every(POLL_MS, () => this.check());
      void this.#clock.soon().then(() => this.check([root_id]));
    });
  }

  /** Checks the trees that are waited for. Cheap while agents work here: reads one counter per tree. Work of other trees delays nobody. */
  check(root_ids: Iterable<string> = this.#waiting.keys()): void {
    for (const root_id of root_ids)
      for (const waiting of this.#waiting.get(root_id) ?? [])
        if (!this.#seemsBusy(waiting) && !this.#executor.isBusyWith(root_id)) void this.#confirm(waiting);
  }

  /** Ends the waits for a tree that never comes to rest here, now and later. */
  fail(root_id: string, why: CoppiceError): void {
    this.#stuck.set(root_id, why);
    for (const waiting of this.#waiting.get(root_id) ?? []) this.#end(waiting, () => waiting.reject(why));
  }

  #seemsBusy({ agent_id, root_id, until }: Waiting): boolean {
    const { agent_index, cells } = this.#executor;
    // Knowledge of agents led elsewhere may be stale: in a shared tree, only agents led here count.
    if (this.#executor.remote_agents.isShared(root_id)) {
      const own = until === 'root' || agent_id !== root_id ? [cells.get(agent_id)] : [...cells.values()];
      return own.some((cell) => cell?.agent.root_id === root_id && isWorking(cell.agent.state.type));
    }
    if (until === 'tree' && agent_id === root_id) return agent_index.working(root_id) > 0;
    const agent = agent_index.agent(agent_id);
    return agent !== undefined && isWorking(agent.state.type);
  }

  /** Confirms what the counters say; from the ledger if other processes lead agents of the tree too. */
  async #confirm(waiting: Waiting): Promise<void> {
    const { agent_id, root_id, until } = waiting;
    try {
      const { agent_index, remote_agents } = this.#executor;
      // A tree that this process has forgotten is only in the ledger.
      const knows_all = agent_index.agent(root_id) !== undefined && !remote_agents.isShared(root_id);
      const all = knows_all ? agent_index.members(root_id) : await this.#store.agents({ root_id });
      const root = all.find(({ id }) => id === agent_id);
      if (this.#waiting.get(root_id)?.has(waiting) !== true) return;
      if (root === undefined)
        return this.#end(waiting, () =>
          waiting.reject(new CoppiceError('E_AGENT_NOT_FOUND', `no agent ${agent_id}`)),
        );
      const agents = agent_id === root_id ? all : [root, ...descendantsOf(agent_id, all)];
      const concerned = until === 'root' ? [root] : agents;
      if (concerned.some((agent) => this.#isActive(agent))) return;
      const failure = interruptionOf(root.state);
      const outcome = until === 'root' ? outcomeOf(root) : outcomeOfTree(agent_id, agents);
      this.#end(waiting, () =>
        waiting.resolve({ root, reply: root.reply ?? '', ...outcome, failure, agents }),
      );
    } catch (error) {
      // The ledger cannot be reached: retried at the next check.
      if (error instanceof StoreError && error.retryable) return;
      this.#end(waiting, () => waiting.reject(error));
    }
  }

  /** Inputs and mail of an agent that this process leads need not be in the ledger yet. */
  #isActive(agent: Agent): boolean {
    const cell = this.#executor.cells.get(agent.id);
    if (cell === undefined) return isActive(agent);
    return isActive({ ...agent, unread: cell.inputs.length > 0 || cell.inbox.hasNews(cell.agent.noticed) });
  }

  #end(waiting: Waiting, tell: () => void): void {
    const of_tree = this.#waiting.get(waiting.root_id);
    of_tree?.delete(waiting);
    if (of_tree?.size === 0) this.#waiting.delete(waiting.root_id);
    if (this.#waiting.size === 0) this.#stop();
    tell();
  }

  #stop(): void {
    this.#timer?.();
    this.#timer = null;
  }

  close(reason: unknown = new CoppiceError('E_CLOSED', 'the runtime was closed')): void {
    this.#stop();
    this.#closed.abort(reason);
    const left = [...this.#waiting.values()].flatMap((of_tree) => [...of_tree]);
    this.#waiting.clear();
    for (const waiting of left) waiting.reject(reason);
  }
}
