import type { Agent } from '../../records/agent/agent.ts';
import type { Store } from '../../store/store.ts';
import type { Cell } from './cell.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { Forest } from './forest.ts';

export interface LedgerNewsOptions {
  readonly store: Store;
  /** Agents led here. */
  readonly cells: ReadonlyMap<string, Cell>;
  readonly forest: Forest;
  readonly elsewhere: Elsewhere;
  readonly wake: (cell: Cell) => void;
  readonly markKilled: (ids: readonly string[], by: string) => void;
  /** Runs that wait for their turn. */
  readonly queued: () => readonly string[];
  /** Takes over what the ledger says of an agent led elsewhere. */
  readonly learn: (agent: Agent) => void;
  /** It is not led here any more. */
  readonly drop: (cell: Cell) => void;
  /** Their conversations were deleted. */
  readonly removed: (ids: readonly string[]) => void;
}

/** What the ledger has to tell that no step of this process brought about: mail from outside, kills, what became of agents led elsewhere. */
export class LedgerNews {
  readonly #options: LedgerNewsOptions;
  /** Agents not led here for whom mail came: they may be about to be. */
  readonly #early_mail = new Set<string>();
  #in_doubt = false;
  /** Looks into mailboxes and at single agents that are under way. */
  #looking = 0;

  constructor(options: LedgerNewsOptions) {
    this.#options = options;
  }

  get isLooking(): boolean {
    return this.#looking > 0;
  }

  /** Mail came for an agent that is not led here: it may be about to be taken over, with what its mailbox held before. */
  early(agent_id: string): void {
    this.#early_mail.add(agent_id);
  }

  /** The agent is led here from now on. */
  adopted(agent_id: string): void {
    if (this.#early_mail.delete(agent_id)) void this.checkMail(agent_id).catch(() => this.doubt());
  }

  /** Looks for mail that came from outside this process. */
  async checkMail(agent_id: string): Promise<void> {
    const { store, cells, wake } = this.#options;
    const cell = cells.get(agent_id);
    if (cell === undefined) return this.early(agent_id);
    this.#looking += 1;
    try {
      const pending = await store.mail(agent_id);
      // Reloaded meanwhile: what was pending then may be taken now.
      if (cells.get(agent_id) !== cell) return this.checkMail(agent_id);
      for (const mail of pending) cell.inbox.add(mail);
    } finally {
      this.#looking -= 1;
    }
    wake(cell);
  }

  /** Looks for what became of an agent led elsewhere, or killed from outside. */
  async checkAgent(agent_id: string): Promise<void> {
    const { store, cells, drop, removed } = this.#options;
    this.#looking += 1;
    const agent = await store.agent(agent_id).finally(() => {
      this.#looking -= 1;
    });
    if (agent !== null) return this.#check(agent);
    // Another process delivered its outcome, and its conversation went with that.
    const cell = cells.get(agent_id);
    if (cell !== undefined) drop(cell);
    removed([agent_id]);
  }

  #check(agent: Agent): void {
    const { cells, drop, learn, markKilled } = this.#options;
    if (agent.state.type === 'killed') markKilled([agent.id], agent.state.by);
    const cell = cells.get(agent.id);
    if (cell !== undefined && agent.epoch > cell.agent.epoch) drop(cell);
    learn(agent);
  }

  /** Looks for what became of everybody in a tree. */
  async checkTree(root_id: string): Promise<void> {
    const { store, forest } = this.#options;
    const tree = await store.tree(root_id);
    if (tree !== null) forest.setTree(tree);
    const agents = await store.agents({ root_id });
    for (const agent of agents) this.#check(agent);
    await this.checkMissing(root_id, agents);
  }

  /** Looks for those of a tree whom a look did not find: their conversations may be deleted. */
  async checkMissing(root_id: string, agents: readonly Agent[]): Promise<void> {
    const found = new Set(agents.map(({ id }) => id));
    for (const { id } of this.#options.forest.members(root_id)) if (!found.has(id)) await this.checkAgent(id);
  }

  /** Something that the ledger had to tell was not heard, or may not have been: the next look is at everybody. */
  doubt(): void {
    this.#in_doubt = true;
  }

  /** Looks at what no signal tells of: the end of runs led elsewhere, whose places others wait for; and at all trees, if there is a doubt. */
  async lookAtAll(): Promise<void> {
    const { cells, elsewhere } = this.#options;
    const queued = new Set(this.#options.queued().map((id) => cells.get(id)?.agent.root_id));
    for (const root_id of queued)
      if (root_id !== undefined && elsewhere.isShared(root_id)) await this.checkTree(root_id);
    if (!this.#in_doubt) return;
    this.#in_doubt = false;
    for (const root_id of new Set([...cells.values()].map((cell) => cell.agent.root_id)))
      await this.checkTree(root_id);
    for (const id of [...cells.keys()]) await this.checkMail(id);
  }
}
