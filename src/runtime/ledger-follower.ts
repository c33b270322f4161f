import { randomUUID } from 'node:crypto';
import type { Agent } from '../records/agent/agent.ts';
import type { Store } from '../store/store.ts';
import type { RuntimeEvent } from './runtime-event.ts';

/** Poll interval, because wake-ups may be lost. */
const POLL_MS = 1_000;

/** Emits runtime events for what other processes do in a tree, read from the ledger. */
export class LedgerFollower {
  readonly #store: Store;
  readonly #root_id: string;
  readonly #emit: (event: RuntimeEvent) => void;
  readonly #seen = new Map<string, Pick<Agent, 'updated_at' | 'last_seq' | 'reaped_at'>>();
  #stop: (() => Promise<void>) | null = null;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;

  constructor(store: Store, root_id: string, emit: (event: RuntimeEvent) => void) {
    this.#store = store;
    this.#root_id = root_id;
    this.#emit = emit;
  }

  /** Marks the state of an agent as known, so that no event is emitted for it. */
  know(agent: Agent): void {
    const { updated_at, last_seq, reaped_at } = agent;
    this.#seen.set(agent.id, { updated_at, last_seq, reaped_at });
  }

  async start(): Promise<void> {
    this.#stop = await this.#store.listen(`follower-${randomUUID()}`, () => this.poll());
    this.#timer = setInterval(() => this.poll(), POLL_MS).unref();
  }

  poll(): void {
    this.#polling ??= this.#compare()
      .catch(() => undefined)
      .finally(() => {
        this.#polling = null;
      });
  }

  async #compare(): Promise<void> {
    const agents = (await this.#store.agents({ root_id: this.#root_id })).toReversed();
    for (const agent of agents) {
      const before = this.#seen.get(agent.id);
      if (before !== undefined && !isNews(before, agent)) continue;
      this.know(agent);
      this.#emit({ type: 'agent', agent, created: before === undefined });
      const after = before?.last_seq ?? agent.forked_from?.seq ?? 0;
      if (agent.last_seq <= after) continue;
      for (const message of await this.#store.history(agent.id, after))
        this.#emit({ type: 'message', agent_id: agent.id, message });
    }
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#stop?.().catch(() => undefined);
    await this.#polling;
  }
}

/** Whether the agent has changed; reaping changes `reaped_at` only. */
function isNews(before: Pick<Agent, 'updated_at' | 'last_seq' | 'reaped_at'>, agent: Agent): boolean {
  const { last_seq, updated_at, reaped_at } = before;
  return last_seq < agent.last_seq || updated_at < agent.updated_at || reaped_at !== agent.reaped_at;
}
