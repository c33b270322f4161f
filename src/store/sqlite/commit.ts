import type { Origin, Tree } from '../../core/agent.ts';
import { killEvent } from '../../core/kill-event.ts';
import type { Mail, NewMail } from '../../core/mail.ts';
import type { Message } from '../../core/message.ts';
import type { NewAgent } from '../../core/new-agent.ts';
import { type AgentState, isTerminal, isWorking } from '../../core/state.ts';
import type { Step, Verdict } from '../../core/step.ts';
import type { WaitEdge } from '../../core/wait-cycle.ts';
import { mailOf, type Row, treeOf } from '../rows.ts';
import { stepToken } from '../step-token.ts';
import type { RootTerms } from '../store.ts';
import { enterAsk } from './asks.ts';
import { enterDelivery } from './deliveries.ts';
import type { GuardRow } from './guard-row.ts';
import { outcomeOf } from './killed-outcome.ts';
import { removeAgent } from './remove-agent.ts';
import { enterRun, finishRun, isTask } from './run-history.ts';
import type { Statements } from './statements.ts';
import { isThere, refusalOf, waitEdgesOf } from './step-guards.ts';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * The writes of one transaction. Every guard of a step is checked before its first write, so a refused step needs no savepoint.
 * Tree counters are read once and written once per transaction.
 */
export class Commit {
  readonly #sql: Statements;
  readonly #trees = new Map<string, Writable<Tree>>();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Writes the tree counters; the last thing before COMMIT. */
  finish(): void {
    for (const tree of this.#trees.values()) {
      this.#sql.updateTree.run(tree.live, tree.total, tree.tokens, tree.cost_usd, tree.root_id);
    }
  }

  apply(step: Step): Verdict {
    const guard = this.#sql.guard.get(step.agent_id) as unknown as GuardRow | undefined;
    const token = stepToken(step);
    // Law 8: the epoch fences out everybody but the lease holder; the place, or the token or what it makes, what was applied before.
    if (
      guard === undefined ||
      guard.epoch !== step.epoch ||
      guard.last_seq !== step.base_seq ||
      isTerminal(guard.status) ||
      guard.closed === 1 ||
      (token !== null && (guard.last_write === token || isThere(this.#sql, step)))
    ) {
      return { ok: false, refusal: { reason: 'stale' } };
    }
    const refusal = refusalOf(this.#sql, step, guard, () => this.tree(guard.root_id));
    if (refusal !== null) return { ok: false, refusal };
    return this.#write(step, guard, token);
  }

  tree(root_id: string): Writable<Tree> {
    let tree = this.#trees.get(root_id);
    if (tree === undefined) {
      tree = treeOf(this.#sql.tree.get(root_id) as Row);
      this.#trees.set(root_id, tree);
    }
    return tree;
  }

  #write(step: Step, guard: GuardRow, token: string | null): Verdict {
    const sql = this.#sql;
    const { agent_id, at, state } = step;
    const tree = this.tree(guard.root_id);
    const last_seq = this.#append(agent_id, step.base_seq, step.messages, at);
    sql.advance.run(
      state.type,
      JSON.stringify(state),
      last_seq,
      step.doing,
      step.reply,
      step.sent_this_turn ? 1 : 0,
      step.noticed,
      step.calls,
      at,
      token,
      isWorking(state.type) ? 1 : 0,
      step.config === undefined ? null : JSON.stringify(step.config),
      agent_id,
    );
    for (const request of step.requests) this.#request(agent_id, tree, request);
    for (const child of step.create) this.#create(child);
    if (step.create.length > 0) sql.addLivingChildren.run(step.create.length, agent_id);
    tree.live += step.create.length;
    tree.total += step.create.length;
    for (const { mail_id, seq } of step.consume) sql.consume.run(seq, mail_id);
    const sent = step.send.map((mail) => this.post(mail, guard.worker));
    if (step.waits_for !== null) this.#edges(agent_id, waitEdgesOf(step));
    const ended = isTerminal(state.type);
    if (ended) this.#end(agent_id, guard, state, tree, at);
    else if (guard.status === 'idle' && isTask(guard.origin) && isWorking(state.type))
      sql.startRun.run(at, agent_id);
    if (!isWorking(state.type)) this.#tellWaiters(agent_id, guard.worker);
    const killed = step.kill.flatMap((id) => this.kill(id, guard.name, at, guard.worker));
    for (const id of step.remove) removeAgent(sql, id, agent_id, at);
    for (const ask of step.asks) enterAsk(sql, ask);
    for (const id of step.void_asks) sql.voidAsk.run(at, id);
    for (const delivery of step.deliver) enterDelivery(sql, delivery);
    if (guard.worker === null) {
      sql.leaveUnled.run(agent_id);
      this.seekLeader([agent_id]);
    }
    return { ok: true, killed, sent, tree: { ...tree } };
  }

  #append(agent_id: string, base_seq: number, messages: readonly Message[], at: number): number {
    let seq = base_seq;
    for (const { kind, content } of messages) {
      seq += 1;
      this.#sql.insertMessage.run(agent_id, seq, kind, JSON.stringify(content), at);
    }
    return seq;
  }

  #request(
    agent_id: string,
    tree: Writable<Tree>,
    { model, usage, started_at, duration_ms }: Step['requests'][number],
  ): void {
    const { input, output, cached, reasoning, cost_usd } = usage;
    this.#sql.insertRequest.run(
      agent_id,
      model,
      input,
      output,
      cached,
      reasoning,
      cost_usd,
      started_at,
      duration_ms,
    );
    this.#sql.addUsage.run(input, output, cached, reasoning, cost_usd, cost_usd, agent_id);
    tree.tokens += input + output;
    tree.cost_usd += cost_usd ?? 0;
  }

  #create(created: NewAgent): void {
    const { agent, messages } = created;
    const from = agent.forked_from;
    const last_seq = this.#append(agent.id, from?.seq ?? 0, messages, agent.created_at);
    this.#sql.insertAgent.run(
      agent.id,
      agent.root_id,
      agent.parent_id,
      agent.name,
      agent.session_key,
      agent.origin,
      agent.depth,
      JSON.stringify(agent.config),
      agent.state.type,
      JSON.stringify(agent.state),
      last_seq,
      from?.agent_id ?? null,
      from?.seq ?? null,
      agent.worker,
      agent.created_at,
      agent.created_at,
    );
    if (agent.worker === null && isWorking(agent.state.type)) this.seekLeader([agent.id]);
    if (created.run !== undefined) enterRun(this.#sql, agent, created.run);
  }

  /** Those of them that have something to do and no worker wait for a leader, if their tree is served; who is parked, from that time on. */
  seekLeader(ids: readonly string[], parked?: ReadonlyMap<string, number>): void {
    // Infinity becomes null in JSON: not before there is mail.
    this.#sql.enterUnled.run(JSON.stringify(ids.map((id) => [id, Math.ceil(parked?.get(id) ?? 0)])));
  }

  /** From now on the tree is served. */
  serve(root_id: string): void {
    if (this.#sql.serveTree.run(root_id).changes === 0) return;
    this.seekLeader((this.#sql.claimable.all(root_id) as Row[]).map(({ id }) => id as string));
  }

  createRoot(root: NewAgent, limits: Tree['limits'], { served = false, placement = [] }: RootTerms): Tree {
    const { changes } = this.#sql.insertTree.run(
      root.agent.id,
      JSON.stringify(limits),
      served ? 1 : 0,
      JSON.stringify(placement),
    );
    if (changes > 0) this.#create(root);
    return { ...this.tree(root.agent.id) };
  }

  /** The recipient is known to be alive. `worker` wrote it: whoever else leads the recipient gets a signal. */
  post(mail: NewMail, worker: string | null): Mail {
    const sql = this.#sql;
    const number = (sql.recipient.get(mail.to_id) as Row).mail_count as number;
    sql.insertMail.run(
      mail.id,
      mail.root_id,
      mail.to_id,
      mail.from_id,
      mail.from_name,
      mail.kind,
      mail.body,
      number,
      mail.sent_at,
    );
    const holder = (sql.guard.get(mail.to_id) as unknown as GuardRow).worker;
    if (holder === null) this.seekLeader([mail.to_id]);
    else if (holder !== worker) sql.insertSignal.run(holder, mail.to_id, 'mail', null);
    return mailOf({ ...mail, number, consumed_seq: null } as unknown as Row);
  }

  #edges(waiter: string, edges: readonly WaitEdge[]): void {
    const wanted = new Map(edges.map(({ target, until }) => [target, until]));
    for (const row of this.#sql.edgesOf.all(waiter) as Row[]) {
      const target = row.target as string;
      if (!wanted.has(target)) this.#sql.deleteEdge.run(waiter, target);
      else if (wanted.get(target) === row.until) wanted.delete(target);
    }
    for (const [target, until] of wanted) this.#sql.insertEdge.run(waiter, target, until);
  }

  #end(agent_id: string, guard: GuardRow, state: AgentState, tree: Writable<Tree>, at: number): void {
    this.#sql.end.run(at, agent_id);
    if (isTask(guard.origin)) finishRun(this.#sql, agent_id, state, at);
    this.#sql.deleteEdges.run(agent_id);
    if (guard.parent_id !== null) this.#sql.addLivingChildren.run(-1, guard.parent_id);
    tree.live -= 1;
  }

  #tellWaiters(about: string, worker: string | null): void {
    for (const row of this.#sql.waitingWorkers.all(about, worker) as Row[]) {
      this.#sql.insertSignal.run(row.worker as string, row.waiter as string, 'status', about);
    }
    const unled = this.#sql.unledWaiters.all(about) as Row[];
    if (unled.length > 0) this.seekLeader(unled.map(({ waiter }) => waiter as string));
  }

  /** Law 9: the agent and every living descendant, in this one transaction. */
  kill(agent_id: string, by: string, at: number, worker: string | null): string[] {
    const sql = this.#sql;
    const doomed = sql.livingSubtree.all(agent_id) as Row[];
    const target = doomed.find((row) => row.id === agent_id);
    if (target === undefined) return [];
    const content = JSON.stringify(
      killEvent(by, { id: agent_id, name: target.name as string }, doomed.length - 1),
    );
    const state = JSON.stringify({ type: 'killed', by });
    const dead = new Set(doomed.map((row) => row.id));
    this.tree(target.root_id as string).live -= doomed.length;
    for (const row of doomed) {
      const id = row.id as string;
      sql.insertMessage.run(id, (row.last_seq as number) + 1, 'event', content, at);
      sql.kill.run(state, at, at, id);
      if (row.worker === null) sql.leaveUnled.run(id);
      sql.voidAsksOf.run(at, id);
      if (isTask(row.origin as Origin)) finishRun(sql, id, { type: 'killed', by }, at);
      sql.deleteEdges.run(id);
      if (row.parent_id !== null) sql.addLivingChildren.run(-1, row.parent_id as string);
      if (row.worker !== null && row.worker !== worker)
        sql.insertSignal.run(row.worker as string, id, 'killed', null);
      this.#tellWaiters(id, worker);
    }
    for (const row of doomed) {
      const mail = outcomeOf(row, dead, by, at);
      // The verdict does not show it, so its reader gets a signal also from its own worker.
      if (mail !== null && this.#isAlive(mail.to_id)) this.post(mail, null);
    }
    return [...dead] as string[];
  }

  #isAlive(id: string): boolean {
    return !isTerminal((this.#sql.guard.get(id) as unknown as GuardRow).status);
  }
}
