import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal, onlyWaits } from '../../records/agent/state.ts';
import type { Signal, Store } from '../../store/store.ts';
import type { AgentIndex } from './agent-index.ts';
import type { Cell } from './cell.ts';
import type { RemoteAgents } from './remote-agents.ts';

export interface LedgerSyncOptions {
  readonly store: Store;
  readonly worker_id: string;
  /** Agents led by this process. */
  readonly cells: ReadonlyMap<string, Cell>;
  readonly agent_index: AgentIndex;
  readonly remote_agents: RemoteAgents;
  readonly wake: (cell: Cell) => void;
  readonly markKilled: (ids: readonly string[], by: string) => void;
  /** Ids of agents that wait for what no signal tells: runs for a place, and waits for the next message. */
  readonly unsignalled: () => readonly string[];
  /** Reads the mail of agents whose waits these agents, as they were just read, may end. */
  readonly readFirst: (agents: readonly Agent[]) => Promise<void>;
  /** Updates what is known of an agent from a read of the ledger, unless it is led here. */
  readonly learn: (agent: Agent) => void;
  /** Stops leading the agent. */
  readonly drop: (cell: Cell) => void;
  /** Forgets agents whose conversations were deleted. */
  readonly removed: (ids: readonly string[]) => void;
}

/** Reads what other processes wrote to the ledger: mail, kills, and the state of agents that they lead. */
export class LedgerSync {
  readonly #options: LedgerSyncOptions;
  /** Agents that got mail while they were not led here; this process may be about to lead them. */
  readonly #early_mail = new Set<string>();
  #needs_full_check = false;
  #checks_under_way = 0;

  constructor(options: LedgerSyncOptions) {
    this.#options = options;
  }

  get isChecking(): boolean {
    return this.#checks_under_way > 0;
  }

  /** Whether a change may have been missed and the full check that would find it has not ended. */
  get isBehind(): boolean {
    return this.#needs_full_check || this.isChecking;
  }

  /** Notes mail for an agent that is not led here: its mailbox may have been read just before, for a take-over. */
  noteEarlyMail(agent_id: string): void {
    this.#early_mail.add(agent_id);
  }

  /** Called when this process begins to lead the agent; reads mail noted before. */
  adopted(agent_id: string): void {
    if (this.#early_mail.delete(agent_id)) void this.checkMail(agent_id).catch(() => this.requestFullCheck());
  }

  /** Follows the signals of this worker, and polls what signals do not cover. */
  async followSignals(): Promise<void> {
    const { store, worker_id } = this.#options;
    try {
      await this.#poll();
      const signals = await store.signals(worker_id);
      const isMail = ({ kind }: Signal) => kind === 'mail';
      // One read for each agent, however many signals it got.
      for (const id of new Set(signals.filter(isMail).map(({ agent_id }) => agent_id)))
        await this.checkMail(id);
      const others = signals.filter((signal) => !isMail(signal));
      for (const id of new Set(others.map((one) => (one.kind === 'killed' ? one.agent_id : one.about))))
        if (id !== null) await this.checkAgent(id);
    } catch (error) {
      // Reading signals consumes them: those not followed yet are not delivered again.
      this.requestFullCheck();
      throw error;
    }
  }

  /** Reads the agent's mail that came from outside this process. */
  async checkMail(agent_id: string): Promise<void> {
    const { store, cells, wake } = this.#options;
    const cell = cells.get(agent_id);
    if (cell === undefined) return this.noteEarlyMail(agent_id);
    this.#checks_under_way += 1;
    try {
      const pending = await store.mail(agent_id, false, cell.inbox.read_through);
      if (pending.length > 0) await this.readSpending(cell.agent);
      // The agent was reloaded meanwhile: the mail that was pending then may have been consumed.
      if (cells.get(agent_id) !== cell) return this.checkMail(agent_id);
      for (const mail of pending) cell.inbox.add(mail, true);
      // Waits for this agent last as long as its runs: that these have ended is told to nobody else here.
      for (const { kind, from_id } of pending)
        if (kind === 'announce' && from_id !== null && !cells.has(from_id))
          this.look(this.checkAgent(from_id));
    } finally {
      this.#checks_under_way -= 1;
    }
    wake(cell);
  }

  /** What a script's agents have spent in other processes: told with their ends, so it is read after these. */
  async readSpending({ root_id, config }: Agent): Promise<void> {
    const { store, agent_index } = this.#options;
    if (config.workflow === undefined) return;
    const tree = await store.tree(root_id);
    if (tree !== null) agent_index.setTree(tree);
    for (const { agent_id } of config.budgets ?? []) {
      const payer = await store.agent(agent_id);
      if (payer !== null) agent_index.readBudget(payer);
    }
  }

  /** Reads the state of an agent that another process leads, or that was killed from outside. */
  async checkAgent(agent_id: string): Promise<void> {
    const { store, agent_index, cells, drop, remote_agents, removed } = this.#options;
    const read = async () => {
      const found = await store.agent(agent_id);
      // Whether it waits for one that has written to it already.
      if (found?.unread && onlyWaits(found.state)) remote_agents.heard(found, await store.mail(agent_id));
      return found;
    };
    this.#checks_under_way += 1;
    const agent = await read().finally(() => {
      this.#checks_under_way -= 1;
    });
    if (agent !== null) {
      await this.#options.readFirst([agent]);
      this.#apply(agent);
      // Whoever waits for it waits for its runs, too; their ends were told to it alone.
      const mayHaveEnded = (one: Agent) =>
        one.origin === 'session' && !isTerminal(one.state.type) && !cells.has(one.id);
      if (agent_index.children(agent_id).some(mayHaveEnded)) await this.checkTree(agent.root_id);
      return;
    }
    // Another process delivered its outcome and deleted its conversation in the same transaction.
    const cell = cells.get(agent_id);
    if (cell !== undefined) drop(cell);
    removed([agent_id]);
  }

  #apply(agent: Agent): void {
    const { cells, drop, learn, markKilled } = this.#options;
    if (agent.state.type === 'killed') markKilled([agent.id], agent.state.by);
    const cell = cells.get(agent.id);
    if (cell !== undefined && agent.epoch > cell.agent.epoch) drop(cell);
    learn(agent);
  }

  async checkTree(root_id: string): Promise<void> {
    const { store, agent_index } = this.#options;
    const tree = await store.tree(root_id);
    if (tree !== null) agent_index.setTree(tree);
    const agents = await store.agents({ root_id });
    await this.#options.readFirst(agents);
    for (const agent of agents) this.#apply(agent);
    await this.checkMissing(root_id, agents);
  }

  /** Checks the known agents of a tree that the ledger did not return: their conversations may be deleted. */
  async checkMissing(root_id: string, agents: readonly Agent[]): Promise<void> {
    const found = new Set(agents.map(({ id }) => id));
    for (const { id } of this.#options.agent_index.members(root_id))
      if (!found.has(id)) await this.checkAgent(id);
  }

  /** Lets a check go on by itself; if it fails, the next poll checks everything. */
  look(check: Promise<void>): void {
    void check.catch(() => this.requestFullCheck());
  }

  /** Makes the next poll check every tree, because a change may have been missed. */
  requestFullCheck(): void {
    this.#needs_full_check = true;
  }

  /**
   * Reads shared trees in which runs are queued here (a signal reports one run that ended elsewhere, but which places are free depends on all of them), or
   * agents wait for the next message. Then does the full check, if one was requested.
   */
  async #poll(): Promise<void> {
    const { cells, remote_agents } = this.#options;
    const roots = new Set(this.#options.unsignalled().map((id) => cells.get(id)?.agent.root_id));
    for (const root_id of roots)
      if (root_id !== undefined && remote_agents.isShared(root_id)) await this.checkTree(root_id);
    if (!this.#needs_full_check) return;
    this.#needs_full_check = false;
    this.#checks_under_way += 1;
    try {
      for (const root_id of new Set([...cells.values()].map((cell) => cell.agent.root_id)))
        await this.checkTree(root_id);
      for (const id of [...cells.keys()]) await this.checkMail(id);
    } finally {
      this.#checks_under_way -= 1;
    }
  }
}
