import { waitEdges } from '../../kernel/mailbox/wait-edges.ts';
import { type Agent, type Meant, meant, type Tree } from '../../records/agent/agent.ts';
import type { AgentBudget } from '../../records/agent/budget.ts';
import { isTerminal, isWorking, waitsOf } from '../../records/agent/state.ts';
import type { FileUse } from '../../records/conversation/message.ts';
import type { UseNoted } from '../../records/conversation/seen-files.ts';
import { keptIn } from '../../records/kept-in.ts';
import { RequestsInFlight } from './requests-in-flight.ts';

/**
 * Index of all agents that this process knows of, led here or not, by id, tree, name and parent.
 * Look-ups on the hot path are by id, and their cost does not depend on the number of idle agents.
 */
export class AgentIndex {
  readonly in_flight = new RequestsInFlight();
  /** Questions to the person whether a limit is raised, by tree and limit. */
  readonly raises = new Map<string, Promise<boolean | null>>();
  readonly #agents = new Map<string, Agent>();
  readonly #trees = new Map<string, Tree>();
  /** The agents of a tree, and the children of an agent, by id. */
  readonly #members = new Map<string, Map<string, Agent>>();
  /** Ids by tree and name. */
  readonly #named = new Map<string, Set<string>>();
  readonly #children = new Map<string, Map<string, Agent>>();
  readonly #living_children = new Map<string, number>();
  readonly #working = new Map<string, number>();
  readonly #removed = new Map<string, string>();
  /** Ids of agents that used a file, by tree, and by use and path; one that reads and changes it has both. */
  readonly #users = new Map<string, Map<string, Set<string>>>();
  readonly #budgets = new Map<string, AgentBudget>();

  /** Whether its conversation was deleted; a stale read of the ledger may still return it. */
  wasRemoved(id: string): boolean {
    return this.#removed.has(id);
  }

  agent(id: string): Agent | undefined {
    return this.#agents.get(id);
  }

  /** Whether a newer state is known: two reads of the ledger may return in the wrong order. */
  isOld({ id, epoch, last_seq }: Agent): boolean {
    const known = this.#agents.get(id);
    if (known === undefined) return this.wasRemoved(id);
    return epoch < known.epoch || last_seq < known.last_seq;
  }

  tree(root_id: string): Tree | undefined {
    return this.#trees.get(root_id);
  }

  setTree(tree: Tree, budgets?: ReadonlyMap<string, AgentBudget>): void {
    const known = this.#trees.get(tree.root_id);
    // Sums only grow: one that is smaller was read before a commit of this process was answered.
    const is_old = known !== undefined && (tree.tokens < known.tokens || tree.total < known.total);
    if (!is_old) this.#trees.set(tree.root_id, tree);
    if (budgets !== undefined) this.setBudgets(budgets);
  }

  /** Sums of an agent's budget, as of this process's newest commit for the agent or one below it. */
  budget(id: string): AgentBudget | undefined {
    return this.#budgets.get(id);
  }

  setBudgets(budgets: ReadonlyMap<string, AgentBudget>): void {
    for (const [id, budget] of budgets) this.#budgets.set(id, budget);
  }

  /** Sums that were read: they only grow, so others are from before a commit of this process. */
  readBudget({ id, budget }: Agent): void {
    const { tokens = -1, usd = -1 } = this.#budgets.get(id)?.spent ?? {};
    if (budget && (budget.spent.tokens > tokens || budget.spent.usd > usd)) this.#budgets.set(id, budget);
  }

  /** Replaces what is known of an agent. */
  set(agent: Agent): void {
    const before = this.#agents.get(agent.id);
    this.#agents.set(agent.id, agent);
    this.readBudget(agent);
    keptIn(this.#members, agent.root_id, () => new Map()).set(agent.id, agent);
    if (agent.parent_id !== null)
      keptIn(this.#children, agent.parent_id, () => new Map()).set(agent.id, agent);
    if (before === undefined) entry(this.#named, nameKey(agent.root_id, agent.name)).add(agent.id);
    this.#count(this.#working, agent.root_id, weight(before, isWorking), weight(agent, isWorking));
    this.#count(this.#living_children, agent.parent_id, weight(before, isAlive), weight(agent, isAlive));
  }

  /** Forgets an agent whose conversation was deleted; false if it is unknown or has children. */
  remove(id: string): boolean {
    const agent = this.#agents.get(id);
    if (agent === undefined || (this.#children.get(id)?.size ?? 0) > 0) return false;
    this.#agents.delete(id);
    this.#budgets.delete(id);
    this.#members.get(agent.root_id)?.delete(id);
    this.#named.get(nameKey(agent.root_id, agent.name))?.delete(id);
    if (agent.parent_id !== null) this.#children.get(agent.parent_id)?.delete(id);
    this.#count(this.#working, agent.root_id, weight(agent, isWorking), 0);
    this.#count(this.#living_children, agent.parent_id, weight(agent, isAlive), 0);
    this.#removed.set(id, agent.root_id);
    return true;
  }

  /** Forgets a whole tree. */
  forget(root_id: string): void {
    for (const agent of this.members(root_id)) {
      this.#agents.delete(agent.id);
      this.#named.delete(nameKey(root_id, agent.name));
      this.#children.delete(agent.id);
      this.#living_children.delete(agent.id);
      this.#budgets.delete(agent.id);
    }
    for (const [id, root] of this.#removed) if (root === root_id) this.#removed.delete(id);
    this.#members.delete(root_id);
    this.#trees.delete(root_id);
    this.#users.delete(root_id);
    this.in_flight.forget(root_id);
    this.#working.delete(root_id);
  }

  #count(counts: Map<string, number>, key: string | null, before: number, after: number): void {
    if (key !== null && before !== after) counts.set(key, (counts.get(key) ?? 0) + after - before);
  }

  members(root_id: string): Agent[] {
    return [...(this.#members.get(root_id)?.values() ?? [])];
  }

  /** Records uses of files by the agent. */
  usesOf({ id, root_id }: Agent): UseNoted {
    return (path, use) =>
      entry(
        keptIn(this.#users, root_id, () => new Map()),
        `${use} ${path}`,
      ).add(id);
  }

  /** Ids of the agents of the tree that used the file so, as far as this process has led them. */
  users(root_id: string, use: FileUse, path: string): readonly string[] {
    return [...(this.#users.get(root_id)?.get(`${use} ${path}`) ?? [])];
  }

  livingChildren(id: string): number {
    return this.#living_children.get(id) ?? 0;
  }

  children(id: string): Agent[] {
    return [...(this.#children.get(id)?.values() ?? [])];
  }

  /** Number of agents of the tree in the middle of a turn. */
  working(root_id: string): number {
    return this.#working.get(root_id) ?? 0;
  }

  lineage(agent: Agent): Agent[] {
    const line = [agent];
    for (const { parent_id } of line) {
      const parent = parent_id === null ? undefined : this.#agents.get(parent_id);
      if (parent !== undefined) line.push(parent);
    }
    return line;
  }

  /** The agent itself, then its living descendants. */
  subtree(agent: Agent): Agent[] {
    const found = [agent];
    for (const at of found) {
      for (const child of this.children(at.id)) if (isAlive(child.state.type)) found.push(child);
    }
    return found;
  }

  /** Resolves a uuid, a uuid prefix (≥ 4 characters) or a name; among several matches, a single living one wins. Ids from before a cut count, too. */
  resolve(text: string, root_id: string): Meant {
    const exact = this.#agents.get(text);
    if (exact !== undefined && exact.root_id === root_id) return { found: 'one', agent: exact };
    const [named, spelt] = [this.#matching(text, root_id), text.replace(BESIDE, '$1')];
    return meant(named.length > 0 || spelt === text ? named : this.#matching(spelt, root_id));
  }

  /** Scans all agents of the tree only for text that may be a uuid prefix; names are indexed. */
  #matching(text: string, root_id: string): Agent[] {
    if (ID_PREFIX.test(text))
      return this.members(root_id).filter(({ id, name, was = [] }) =>
        [id, ...was].some((one) => name === text || one.startsWith(text)),
      );
    const named = this.#named.get(nameKey(root_id, text)) ?? [];
    return [...named].flatMap((id) => this.#agents.get(id) ?? []);
  }
}

/** What stands around an id or a name: the name and state of an agent, as results and errors show it, or signs. */
const BESIDE = /^.*\(([\da-f-]{4,36})(?:, \w+)?\)$|^[@#]|[:;,.]+$/s;
const ID_PREFIX = /^[\da-f-]{4,36}$/;

function nameKey(root_id: string, name: string): string {
  return `${root_id} ${name}`;
}

function isAlive(type: Agent['state']['type']): boolean {
  return !isTerminal(type);
}

function weight(agent: Agent | undefined, test: (type: Agent['state']['type']) => boolean): number {
  return agent !== undefined && test(agent.state.type) ? 1 : 0;
}

function entry(map: Map<string, Set<string>>, key: string): Set<string> {
  return keptIn(map, key, () => new Set());
}

/** The target of waits for the next message. */
export const ANYONE = 'anyone';

/** Index of wait-for edges between the agents known here: when a target comes to rest, its waiters are woken. */
export class WaiterIndex {
  readonly #waiters = new Map<string, Set<string>>();
  readonly #targets = new Map<string, readonly string[]>();

  /** Replaces the targets of one waiter; returns those that were added. A wait for the next message is one for `ANYONE`. */
  set({ id: waiter, state }: Agent): readonly string[] {
    const before = this.#targets.get(waiter) ?? [];
    const edges = waitEdges(state);
    const after = waitsOf(state).some(({ from }) => !from?.length) ? [...edges, ANYONE] : edges;
    if (after.length > 0) this.#targets.set(waiter, after);
    else this.#targets.delete(waiter);
    for (const target of before) {
      const waiters = this.#waiters.get(target);
      waiters?.delete(waiter);
      if (waiters?.size === 0) this.#waiters.delete(target);
    }
    for (const target of after) entry(this.#waiters, target).add(waiter);
    const known = new Set(before);
    return after.filter((target) => !known.has(target));
  }

  of(target: string): Iterable<string> {
    return this.#waiters.get(target) ?? [];
  }

  /** The agent, and all for which it waits, directly or not. */
  along(id: string): Iterable<string> {
    const found = new Set([id]);
    for (const one of found) for (const target of this.#targets.get(one) ?? []) found.add(target);
    return found;
  }
}
