import { isQueuedRun } from '../../records/agent/agent.ts';
import type { TreeLimits } from '../../records/agent/limits.ts';
import { isResting, isTerminal } from '../../records/agent/state.ts';
import type { NewAsk } from '../../records/conversation/ask.ts';
import { completionInLetter } from '../../records/conversation/facts/old-facts.ts';
import { type Mail, type NewMail, WAKING_MAIL } from '../../records/conversation/mail.ts';
import { keptIn } from '../../records/kept-in.ts';
import { ChangeSet, type Changes } from './change-set.ts';
import type {
  AgentFacts,
  AskFacts,
  FactKeys,
  Facts,
  MailFacts,
  PendingMail,
  RunFacts,
  TreeFacts,
} from './facts.ts';
import type { Row } from './tables.ts';
import type { WaitEdge } from './wait-cycle.ts';

/**
 * One transaction of the ledger: the facts that the database holds, overlaid with the changes of this transaction's decisions, so that a later decision sees
 * what an earlier one wrote. Its only output is the rows to write (`changes`).
 */
export class UnitOfWork {
  readonly facts: Facts;
  readonly rows = new ChangeSet();
  readonly #agents = new Map<string, AgentFacts>();
  /** States of changed agents, as JSON. */
  readonly #states = new Map<string, string>();
  readonly #trees = new Map<string, TreeFacts>();
  /** Limits by their JSON, which is parsed once for all steps of a commit. */
  readonly #limits = new Map<string, TreeLimits>();
  readonly #runs = new Map<string, RunFacts>();
  readonly #edges = new Map<string, readonly WaitEdge[]>();
  readonly #posted = new Map<string, PendingMail[]>();
  readonly #mail = new Map<string, MailFacts>();
  readonly #asks = new Map<string, AskFacts>();
  readonly #consumed = new Set<string>();
  readonly #made = new Set<string>();
  readonly #removed = new Set<string>();

  constructor(facts: Facts) {
    this.facts = facts;
  }

  changes(): Changes {
    return this.rows.done();
  }

  prefetch(keys: FactKeys): void {
    this.facts.prefetch(keys);
  }

  agent(id: string): AgentFacts | null {
    if (this.#removed.has(id)) return null;
    return this.#agents.get(id) ?? this.facts.get('agent', id);
  }

  /** The state of an agent, as JSON. */
  state(id: string): string | null {
    return this.#states.get(id) ?? this.facts.get('state', id);
  }

  isAlive(id: string): boolean {
    const agent = this.agent(id);
    return agent !== null && !isTerminal(agent.status);
  }

  /** `texts`: columns that are not part of `AgentFacts`. */
  setAgent(agent: AgentFacts, change: Partial<AgentFacts>, texts: Row = {}): AgentFacts {
    const after = { ...agent, ...change };
    this.#agents.set(agent.id, after);
    if (typeof texts.state === 'string') this.#states.set(agent.id, texts.state);
    this.rows.update('agents', { id: agent.id, ...(change as Row), ...texts });
    return after;
  }

  addAgent(agent: AgentFacts, row: Row): void {
    this.#agents.set(agent.id, agent);
    this.#made.add(agent.id);
    this.#states.set(agent.id, row.state as string);
    this.rows.insert('agents', row);
  }

  /** Removes the agent with its conversation and mailbox. */
  removeAgent({ id, root_id }: Pick<AgentFacts, 'id' | 'root_id'>): void {
    this.#removed.add(id);
    this.#agents.delete(id);
    this.rows.wipe('messages', 'agent_id', id);
    this.rows.wipe('mail', 'to_id', id);
    this.rows.wipe('requests', 'agent_id', id);
    this.rows.delete('unled', { root_id, agent_id: id });
    this.rows.delete('agents', { id });
  }

  tree(root_id: string): TreeFacts | null {
    return this.#trees.get(root_id) ?? this.facts.get('tree', root_id);
  }

  limits({ limits: text }: TreeFacts): TreeLimits {
    return keptIn(this.#limits, text, () => JSON.parse(text) as TreeLimits);
  }

  setTree(tree: TreeFacts, change: Partial<TreeFacts>): TreeFacts {
    const after = { ...tree, ...change };
    this.#trees.set(tree.root_id, after);
    this.rows.update('trees', { root_id: tree.root_id, ...(change as Row) });
    return after;
  }

  addTree(tree: TreeFacts, row: Row): void {
    this.#trees.set(tree.root_id, tree);
    this.rows.insert('trees', row);
  }

  run(agent_id: string): RunFacts | null {
    return this.#runs.get(agent_id) ?? this.facts.get('run', agent_id);
  }

  setRun(run: RunFacts, change: Partial<RunFacts>, texts: Row = {}): void {
    this.#runs.set(run.agent_id, { ...run, ...change });
    this.rows.update('subagent_runs', { agent_id: run.agent_id, ...(change as Row), ...texts });
  }

  addRun(run: RunFacts, row: Row): void {
    this.#runs.set(run.agent_id, run);
    this.rows.insert('subagent_runs', row);
  }

  ask(id: string): AskFacts | null {
    return this.#asks.get(id) ?? this.facts.get('ask', id);
  }

  openAsks(agent_id: string): readonly string[] {
    const before = this.#made.has(agent_id) ? [] : this.facts.get('open_asks', agent_id);
    const now = [...this.#asks.values()].filter((ask) => ask.agent_id === agent_id && ask.verdict === null);
    return [...before.filter((id) => !this.#asks.has(id)), ...now.map(({ id }) => id)];
  }

  addAsk(ask: NewAsk): void {
    const open = { verdict: null, scope: null, note: null, answered_by: null, answered_at: null };
    this.#asks.set(ask.id, { ...ask, ...open });
    this.rows.insert('asks', { ...ask, ...open, granted: null, revoked_at: null });
  }

  answerAsk(ask: AskFacts, answer: Partial<AskFacts>, texts: Row = {}): void {
    this.#asks.set(ask.id, { ...ask, ...answer });
    this.rows.update('asks', { id: ask.id, ...(answer as Row), ...texts });
  }

  /** Returns mail by its id, consumed or not. */
  mail(mail_id: string): MailFacts | null {
    return this.#mail.get(mail_id) ?? this.facts.get('mail', mail_id);
  }

  isPending(mail_id: string, to_id: string): boolean {
    const mail = this.#consumed.has(mail_id) ? null : this.mail(mail_id);
    return mail !== null && mail.to_id === to_id && mail.consumed_seq === null;
  }

  pending(agent_id: string): readonly PendingMail[] {
    const before = this.#made.has(agent_id) ? [] : this.facts.get('pending', agent_id);
    const all = [...before, ...(this.#posted.get(agent_id) ?? [])];
    return this.#consumed.size === 0 ? all : all.filter(({ id }) => !this.#consumed.has(id));
  }

  hasMail(agent_id: string): boolean {
    return this.hasNewMail(agent_id) || this.pending(agent_id).length > 0;
  }

  /** Whether mail sent in this transaction is unconsumed. */
  hasNewMail(agent_id: string): boolean {
    return this.#posted.get(agent_id)?.some(({ id }) => !this.#consumed.has(id)) ?? false;
  }

  consume(mail_id: string, seq: number): void {
    this.#consumed.add(mail_id);
    this.rows.update('mail', { id: mail_id, consumed_seq: seq });
  }

  addMail(mail: NewMail, number: number, sent_seq: number | null): Mail {
    const stored = { ...mail, ...completionInLetter(mail), number, consumed_seq: null };
    const box = this.#posted.get(mail.to_id);
    const one = { id: mail.id, kind: mail.kind, number };
    this.#mail.set(mail.id, stored);
    if (box === undefined) this.#posted.set(mail.to_id, [one]);
    else box.push(one);
    const { images, did = null, attached, completion, ...columns } = stored;
    this.rows.insert('mail', {
      ...columns,
      images: images === undefined ? null : JSON.stringify(images),
      did,
      facts: JSON.stringify({ attached, completion }),
      sent_seq,
    });
    return stored;
  }

  /**
   * Whether the agent is alive, has no turn and no mail that would begin one, so that it does not count towards limits on busy agents (law 7), as little as a
   * queued run. The same rules in SQL: store/ledger/sql-conditions.ts.
   */
  isAtRest(agent: AgentFacts): boolean {
    return isAtRest(agent, this.pending(agent.id));
  }

  restingChildren(parent_id: string): number {
    const resting = this.facts.get('resting_children', parent_id);
    return resting + this.#moreResting((agent) => agent.parent_id === parent_id);
  }

  restingInTree(root_id: string): number {
    const resting = this.facts.get('resting_in_tree', root_id);
    return resting + this.#moreResting((agent) => agent.root_id === root_id);
  }

  scriptedInTree(root_id: string): number {
    const made = [...this.#made].flatMap((id) => this.agent(id) ?? []);
    const more = made.filter((agent) => agent.root_id === root_id && isOfWorkflow(agent));
    return this.facts.get('scripted_in_tree', root_id) + more.length;
  }

  /** Change of the number of agents at rest in this transaction; may be negative. */
  #moreResting(counts: (agent: AgentFacts) => boolean): number {
    const touched = [...new Set([...this.#agents.keys(), ...this.#posted.keys()])];
    const known = touched.filter((id) => !this.#made.has(id));
    this.prefetch({ agent: known, pending: known });
    let more = 0;
    for (const id of touched) {
      const now = this.agent(id);
      if (now === null || !counts(now)) continue;
      if (isNotBusy(now, this.pending(id))) more += 1;
      const before = this.#made.has(id) ? null : this.facts.get('agent', id);
      if (before === null) continue;
      if (isNotBusy(before, this.facts.get('pending', id))) more -= 1;
    }
    return more;
  }

  edges(waiter: string): readonly WaitEdge[] {
    return this.#edges.get(waiter) ?? (this.#made.has(waiter) ? [] : this.facts.get('edges', waiter));
  }

  setEdges(waiter: string, edges: readonly WaitEdge[]): void {
    const before = new Map(this.edges(waiter).map(({ target, until }) => [target, until]));
    for (const { target, until } of edges) {
      if (before.get(target) !== until) this.rows.replace('wait_edges', { waiter, target, until });
      before.delete(target);
    }
    for (const target of before.keys()) this.rows.delete('wait_edges', { waiter, target });
    this.#edges.set(waiter, edges);
  }

  waiters(target: string): readonly string[] {
    const before = this.#made.has(target) ? [] : this.facts.get('waiters', target);
    if (this.#edges.size === 0) return before;
    const now = [...this.#edges].filter(([, edges]) => edges.some((edge) => edge.target === target));
    return [...before.filter((id) => !this.#edges.has(id)), ...now.map(([waiter]) => waiter)];
  }

  /** A living agent and its living descendants, parents first. */
  below(id: string): readonly AgentFacts[] {
    const before = this.#made.has(id) ? [id] : this.facts.get('below', id);
    this.prefetch({ agent: before });
    const found = new Set(before);
    // Parents are created before their children.
    for (const made of this.#made) if (found.has(this.agent(made)?.parent_id ?? '')) found.add(made);
    if (!this.isAlive(id)) return [];
    return [...found].flatMap((one) => (this.isAlive(one) ? (this.agent(one) ?? []) : []));
  }

  hasChildren(id: string): boolean {
    if ([...this.#made].some((made) => this.agent(made)?.parent_id === id)) return true;
    return this.facts.get('children', id).some((child) => !this.#removed.has(child));
  }
}

/** The same rule in SQL: store/ledger/sql-conditions.ts. */
function isNotBusy(agent: AgentFacts, pending: readonly PendingMail[]): boolean {
  return isQueuedRun(agent) || isAtRest(agent, pending) || (isOfWorkflow(agent) && !isTerminal(agent.status));
}

/** As `isScripted`, on facts. */
function isOfWorkflow({ session_key }: AgentFacts): boolean {
  return /^agent:.*:workflow:/s.test(session_key);
}

function isAtRest({ status, noticed }: AgentFacts, pending: readonly PendingMail[]): boolean {
  return isResting(status) && !pending.some((mail) => WAKING_MAIL.has(mail.kind) && mail.number > noticed);
}
