import { agentJson } from '../../documents/agent-json.ts';
import { askJson } from '../../documents/approval-json.ts';
import type { EventDocument } from '../../documents/shapes/event-documents.ts';
import { workersJson } from '../../documents/worker-json.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import type { AskMark } from '../../store/read-records.ts';
import { rowsOf } from '../../trees/answers/tree-list-rows.ts';
import type { ReadSources } from '../../trees/find-agent.ts';
import { type Unled, unledOf } from '../../trees/leaders/unled-reason.ts';
import type { EventScope } from './event-ring.ts';

export type Tell = (event: Omit<EventDocument, 'schema'>, scope: EventScope) => void;

/** Emits changed agents, trees, approvals and workers as events with the newest document of each; several changes are coalesced into one event. */
export class ChangedRows {
  readonly #sources: ReadSources;
  readonly #tell: Tell;
  /** Changed agents; null: must be read from the ledger. */
  readonly #agents = new Map<string, Agent | null>();
  readonly #roots = new Set<string>();
  #asks: ReadonlySet<string> | null = null;
  #workers: string | null = null;

  constructor(sources: ReadSources, tell: Tell) {
    this.#sources = sources;
    this.#tell = tell;
  }

  agent(agent: Agent): void {
    this.#agents.set(agent.id, agent);
    this.#roots.add(agent.root_id);
  }

  removed(agent_ids: readonly string[]): void {
    for (const id of agent_ids) this.#agents.delete(id);
  }

  unread(agent_id: string): void {
    this.#agents.set(agent_id, null);
  }

  /** Emits changed approvals, then changed agents. */
  async tellAgents(): Promise<void> {
    const { store, unled } = this.#sources;
    const agents = [...this.#agents];
    const unled_trees = new Map<string, Unled | null>();
    const asks = await store.askMarks();
    await this.#tellAsks(asks);
    for (const [id, known] of agents) {
      const agent = known ?? (await store.agent(id));
      if (agent === null) this.#tell({ type: 'removed', ids: [id] }, { root_id: null, agent_id: id });
      else {
        const { root_id, worker, state } = agent;
        const rests = worker === null && !isTerminal(state.type);
        if (rests && !unled_trees.has(root_id))
          unled_trees.set(root_id, await unledOf(unled, store, root_id));
        const why = rests ? (unled_trees.get(root_id) ?? null) : null;
        if (known === null) this.#roots.add(root_id);
        this.#tell({ type: 'agent', agent: agentJson(agent, asks, why) }, { root_id, agent_id: id });
      }
      if (this.#agents.get(id) === known) this.#agents.delete(id);
    }
  }

  async #tellAsks(asks: readonly AskMark[]): Promise<void> {
    const now = new Set(asks.map(({ id }) => id));
    const before = this.#asks ?? now;
    for (const id of now.symmetricDifference(before))
      for (const ask of await this.#sources.store.findAsks(id)) this.#approval(ask);
    this.#asks = now;
  }

  #approval(ask: Ask): void {
    const { root_id, agent_id } = ask;
    this.#roots.add(root_id);
    this.#tell({ type: 'approval', approval: askJson(ask) }, { root_id, agent_id });
  }

  async tellTrees(): Promise<void> {
    const ids = [...this.#roots];
    // Cleared before reading, so that a change during the read is emitted again.
    this.#roots.clear();
    try {
      const roots = await Promise.all(ids.map((id) => this.#sources.store.agent(id)));
      const rows = await rowsOf(
        this.#sources,
        roots.filter((root) => root !== null),
      );
      for (const tree of rows) this.#tell({ type: 'tree', tree }, { root_id: tree.root_id, agent_id: null });
    } catch (error) {
      for (const id of ids) this.#roots.add(id);
      throw error;
    }
  }

  async tellWorkers(): Promise<void> {
    const workers = await workersJson(this.#sources.store);
    // Ignores the lease, which is renewed all the time.
    const text = JSON.stringify(workers.map((worker) => ({ ...worker, expires_at: '' })));
    if (this.#workers !== null && this.#workers !== text)
      this.#tell({ type: 'workers', workers }, { root_id: null, agent_id: null });
    this.#workers = text;
  }

  forget(): void {
    this.#agents.clear();
    this.#roots.clear();
    this.#asks = null;
    this.#workers = null;
  }
}
