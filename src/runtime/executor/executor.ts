import { hostname } from 'node:os';
import type { RequestRecord, Step, Verdict } from '../../kernel/step.ts';
import type { AgentEvent } from '../../kernel/transition/event.ts';
import type { Advance, WorldEffect } from '../../kernel/turn/advance-result.ts';
import { createdAgent, killedAgent, placed } from '../../kernel/turn/agent-after.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { warningsOf } from '../../records/agent/spending.ts';
import { awaitsAnyone, isTerminal, isWorking, onlyWaits, waitsOf } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { pauseOf } from '../../records/conversation/parked.ts';
import { Prompt, promptOf } from '../../records/conversation/prompt.ts';
import { SeenFiles, seenIn } from '../../records/conversation/seen-files.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import type { Worker } from '../../store/store.ts';
import { AgentIndex, ANYONE, WaiterIndex } from './agent-index.ts';
import { isOverspent, noteSpending, wasWarned } from './budget-state.ts';
import { type Cell, type ForkPoint, newCell, parkedCells, stepTaken, stopCell } from './cell.ts';
import { DeferredCalls } from './deferred-calls.ts';
import type { ExecutorOptions } from './executor-options.ts';
import { GroupCommit, type PendingStep } from './group-commit.ts';
import { LedgerSync } from './ledger-sync.ts';
import { RemoteAgents } from './remote-agents.ts';
import { RunQueue } from './run-queue.ts';

/** Leads agents: keeps their committed state, passes what happens to them to the group commit, and has the effects of committed steps performed. */
export class Executor {
  readonly worker: Worker;
  readonly agent_index = new AgentIndex();
  readonly cells = new Map<string, Cell>();
  readonly remote_agents = new RemoteAgents();
  readonly sync: LedgerSync;
  readonly #options: ExecutorOptions;
  readonly #waiters = new WaiterIndex();
  readonly #runs: RunQueue;
  readonly #deferred: DeferredCalls;
  readonly #commits: GroupCommit;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    const { store, role, labels, catalog, newId } = options;
    this.worker = { id: newId(), host: hostname(), pid: process.pid, role, labels };
    const { subagents, runs } = catalog.terms;
    this.#runs = new RunQueue(
      { per_tree: subagents.max_concurrent, total: runs.max_concurrent, per_source: runs.per_source },
      this.worker.id,
      (agent) => this.agent_index.lineage(agent),
    );
    const { agent_index, cells, remote_agents, worker } = this;
    this.sync = new LedgerSync({
      store,
      worker_id: worker.id,
      cells,
      agent_index,
      remote_agents,
      wake: (cell) => this.wake(cell),
      markKilled: (ids, by) => this.markKilled(ids, by),
      unsignalled: () => [...this.#runs.waiting(), ...this.#waiters.of(ANYONE)],
      readFirst: (agents) => this.#readFirst(agents),
      learn: (agent) => this.#learn(agent),
      drop: (cell) => this.#drop(cell),
      removed: (ids) => this.#removed(ids),
    });
    this.#commits = new GroupCommit({
      ...options,
      ...{ agent_index, cells, remote_agents, worker_id: worker.id, runs: this.#runs, sync: this.sync },
      waiters: this.#waiters,
      accepted: (pending, verdict) => this.#accepted(pending, verdict),
      follow: (cell, made) => this.#follow(cell, made),
      adopt: (agent, history, mail) => this.adopt(agent, history, mail),
      drop: (cell) => this.#drop(cell),
    });
    this.#deferred = new DeferredCalls({
      ...options,
      learn: async (agents) => {
        await this.#readFirst(agents);
        for (const agent of agents) this.#learn(agent);
      },
      readMail: (cell) => this.sync.checkMail(cell.agent.id),
      retry: (cell, call) => {
        cell.inputs.push({ type: 'toolset-call', call });
        this.wake(cell);
      },
    });
  }

  /** Queues an event for an agent led here and wakes it. */
  happened(cell: Cell, event: AgentEvent, request?: RequestRecord): void {
    if (cell.gone) return;
    cell.inputs.push(request === undefined ? { type: 'event', event } : { type: 'event', event, request });
    this.wake(cell);
  }

  /** Puts the agent into the next round: its mail, a deadline or another agent's state has changed. */
  wake(cell: Cell): void {
    this.#commits.add(cell);
  }

  readonly followClock = (): void => this.#commits.followClock();

  /** Whether a step of the agent is under way or due, which may move its deadlines. */
  isStepping(cell: Cell): boolean {
    return this.#commits.has(cell);
  }

  /** Whether a step of the tree is under way or due, or something is being read from the ledger. */
  isBusyWith(root_id: string): boolean {
    return this.sync.isChecking || this.#commits.isBusyWith(root_id);
  }

  #accepted({ cell, made, step }: PendingStep, verdict: Extract<Verdict, { ok: true }>): void {
    const { emit } = this.#options;
    this.agent_index.setTree(verdict.tree, verdict.budgets);
    const before = cell.agent;
    stepTaken(cell, step, made.consumed);
    if (step.requests.length > 0) noteSpending(cell, this.cells, this.agent_index);
    for (const text of warningsOf(step, before, verdict.tree))
      this.happened(cell, { type: 'warn', at: step.at, text });
    const forks = forkPoints(cell, before, step);
    for (const message of forks.messages) emit({ type: 'message', agent_id: cell.agent.id, message });
    // The acknowledgement may be late: the agent may have been taken over again meanwhile.
    if (!this.agent_index.isOld(cell.agent)) this.#setAgent(cell.agent, false);
    for (const child of step.create)
      if (child.agent.worker === this.worker.id) this.#begin(child, forks.points);
    if (cell.agent.state !== before.state) this.#enterWaits(cell, verdict.met);
    for (const mail of verdict.sent) {
      emit({ type: 'mail', mail });
      this.#deliver(mail);
    }
    if (verdict.killed.length > 0) this.markKilled(verdict.killed, cell.agent.name);
    if (step.remove.length > 0) this.#removed(step.remove);
    if (isTerminal(cell.agent.state.type)) this.#drop(cell);
    this.#follow(cell, made);
  }

  // The only place where waits are entered; an awaited agent may wait for this one, too, directly or not. One that comes to rest later signals the waiter in its own
  // transaction. One that rested before signals nobody: so the waiter checks agents led here, and those led elsewhere that the ledger had at rest are read.
  #enterWaits(cell: Cell, met?: readonly string[]): void {
    const added = this.#setWaits(cell.agent);
    // Further along a circle, only one with unread letters is uncertain.
    const isOpen = (id: string) => added.includes(id) || this.agent_index.agent(id)?.unread === true;
    const near = met ?? [...this.#waiters.along(cell.agent.id)].filter(isOpen);
    const remote = near.filter((id) => !this.cells.has(id));
    for (const id of remote) if (id !== ANYONE) this.sync.look(this.sync.checkAgent(id));
    const isApart = this.remote_agents.isShared(cell.agent.root_id);
    if (isApart && added.includes(ANYONE)) this.sync.look(this.sync.checkTree(cell.agent.root_id));
  }

  #setWaits(agent: Agent): readonly string[] {
    const added = this.#waiters.set(agent);
    if (added.length > 0 || onlyWaits(agent.state))
      for (const id of this.#waiters.along(agent.id)) this.#wakeOne(id);
    return added;
  }

  #begin({ agent, messages }: NewAgent, points: ForkPoints['points']): void {
    // Already taken over from the ledger, before its creation was acknowledged.
    if (this.cells.has(agent.id)) return;
    const { forked_from: from, parent_id } = agent;
    const seq = from?.seq ?? 0;
    const created = createdAgent({ agent, messages });
    const is_own = from === null || from.agent_id === parent_id;
    const point = is_own ? from && points.get(seq) : this.#commits.foreign.at(from);
    const seen = new SeenFiles(point?.seen, this.agent_index.usesOf(created));
    const cell = newCell(created, new Prompt(point?.prompt), [], seen);
    const { profile: begun_with } = this.agent_index.agent(agent.parent_id ?? '')?.config ?? agent.config;
    if (begun_with === agent.config.profile) cell.asked = point?.asked;
    // Created by the last round before the close: its next leader starts its work.
    cell.gone = this.#commits.isClosed;
    this.cells.set(agent.id, cell);
    this.#setAgent(created, true);
    for (const message of placed(agent.id, messages, seq, agent.created_at)) {
      cell.prompt.append(message);
      this.#options.emit({ type: 'message', agent_id: agent.id, message });
    }
    if (agent.state.type === 'requesting')
      this.#perform(cell, { type: 'request-model', attempt: agent.state.attempt });
    // Other processes may have sent it mail before the acknowledgement reached this one.
    this.sync.adopted(agent.id);
  }

  /** Leads a root that was just written to the ledger. */
  beginRoot(root: NewAgent): Cell {
    this.#begin(root, new Map());
    return this.cells.get(root.agent.id) as Cell;
  }

  /** Leads an agent taken over from the ledger, from the state that it has there (law 12). */
  adopt(agent: Agent, history: readonly PlacedMessage[], mail: readonly Mail[], forgiven = false): Cell {
    const before = this.cells.get(agent.id);
    if (before) this.#drop(before);
    const seen = seenIn(history, this.agent_index.usesOf(agent));
    const cell = newCell(agent, promptOf(history), mail, seen, wasWarned(agent.id, history));
    this.cells.set(agent.id, cell);
    this.#setAgent(agent, false);
    cell.overspent = isOverspent(agent, this.agent_index);
    // Its first step tries the provider, or looks whether it is open.
    cell.reopened = pauseOf(agent.state);
    this.#enterWaits(cell);
    this.sync.adopted(agent.id);
    const at = this.#options.clock.now();
    this.happened(cell, { type: 'resume', at, deaths: agent.deaths, forgiven });
    return cell;
  }

  /** Performs the effects of a step, and prepares the calls that it deferred. */
  #follow(cell: Cell, made: Advance): void {
    for (const effect of made.effects) this.#perform(cell, effect);
    this.#deferred.settle(cell, made);
  }

  #perform(cell: Cell, effect: WorldEffect): void {
    if (!cell.gone) this.#options.perform(cell, effect);
  }

  /** Records an agent of a tree that is being taken over; nothing is emitted or woken yet. */
  know(agent: Agent): void {
    if (this.agent_index.isOld(agent)) return;
    this.agent_index.set(agent);
    if (agent.worker !== this.worker.id) this.#waiters.set(agent);
    this.#runs.see(agent);
  }

  #learn(agent: Agent): void {
    if (this.cells.get(agent.id)?.gone === false) return;
    // Mail does not change `last_seq`: of two reads, the one with less mail is older.
    const mail_count = this.agent_index.agent(agent.id)?.mail_count ?? 0;
    if (this.agent_index.isOld(agent) || agent.mail_count < mail_count) return;
    if (!isTerminal(agent.state.type) && agent.worker !== this.worker.id)
      this.remote_agents.markShared(agent.root_id);
    this.#setWaits(agent);
    this.#setAgent(agent, false);
  }

  /**
   * Reads the mail of agents whose waits these agents, as they were just read, may end: one that rests or waits now may have written before, and a wait counts
   * both or neither.
   */
  async #readFirst(agents: readonly Agent[]): Promise<void> {
    const read = new Set<Cell>();
    const quiet = agents.filter(({ state }) => !isWorking(state.type) || onlyWaits(state));
    const roots = new Set(quiet.map(({ root_id }) => root_id));
    for (let is_new = quiet.length > 0; is_new; ) {
      is_new = false;
      const ids = quiet.flatMap((agent) => {
        const near = [agent.id, ...waitsOf(agent.state).flatMap(({ from }) => from ?? [])];
        const awaited = startersToo(agent).flatMap((id) => [...this.#waiters.of(id)]);
        return [...awaited, ...near.flatMap((id) => [...this.#waiters.along(id)])];
      });
      for (const id of new Set([...ids, ...this.#waiters.of(ANYONE)])) {
        const cell = this.cells.get(id);
        if (cell === undefined || read.has(cell) || !roots.has(cell.agent.root_id)) continue;
        if (waitsOf(cell.agent.state).length === 0) continue;
        read.add(cell);
        is_new = true;
        await this.sync.checkMail(id);
      }
    }
  }

  /** Applies a kill that is in the ledger: stops the agents' work here and wakes agents that wait for them. Idempotent. */
  markKilled(ids: readonly string[], by: string): void {
    const news = ids.filter((id) => !isTerminal(this.agent_index.agent(id)?.state.type ?? 'idle'));
    // The kill wrote mail to a parent that awaits an agent or its report: read before the death, which ends a wait.
    const parents = new Set(news.flatMap((id) => this.agent_index.agent(id)?.parent_id ?? []));
    for (const id of parents.difference(new Set(ids))) {
      const [cell, read] = [this.cells.get(id), this.sync.checkMail(id)];
      this.sync.look(read);
      if (cell !== undefined) this.#commits.hold(cell, read);
    }
    for (const id of ids) {
      const [cell, known] = [this.cells.get(id), this.agent_index.agent(id)];
      if (cell !== undefined) this.#drop(cell);
      if (known === undefined || isTerminal(known.state.type)) continue;
      this.#setAgent(killedAgent(known, by, this.#options.clock.now()), false);
    }
    if (news.length > 0) this.#options.emit({ type: 'killed', ids: news, by });
  }

  /** Forgets agents whose conversations were deleted; those with children stay. */
  #removed(ids: readonly string[]): void {
    const known = ids.flatMap((id) => this.agent_index.agent(id) ?? []);
    const gone = ids.filter((id) => this.agent_index.remove(id));
    for (const agent of known) for (const next of this.#runs.leave(agent)) this.#wakeOne(next);
    for (const agent of known) this.#wakeWaitersOf(agent);
    if (gone.length > 0) this.#options.emit({ type: 'removed', ids: gone });
  }

  /** Stops leading the agent: its work ends, and late outcomes of it are ignored. */
  #drop(cell: Cell): void {
    stopCell(cell);
    cell.gone = true;
    if (this.cells.get(cell.agent.id) !== cell) return;
    this.cells.delete(cell.agent.id);
    for (const next of this.#runs.leave(cell.agent)) this.#wakeOne(next);
  }

  /**
   * Forgets a tree in which only parked work is left here; returns until when each of these agents is parked (`parkedCells`).
   * Returns null and changes nothing if there is more to do. The next leader reads the tree from the ledger.
   */
  forget(root_id: string): ReadonlyMap<string, number> | null {
    const members = this.agent_index.members(root_id);
    const cells = members.flatMap(({ id }) => this.cells.get(id) ?? []);
    const parked = parkedCells(cells, this.agent_index.tree(root_id)?.limits);
    const stepping = cells.some((cell) => this.#commits.has(cell));
    if (parked === null || stepping || this.sync.isBehind) return null;
    for (const cell of cells) this.#drop(cell);
    for (const agent of members) this.#runs.leave(agent);
    this.agent_index.forget(root_id);
    this.remote_agents.forget(root_id, members);
    return parked;
  }

  /** Records the agent's state and wakes agents that wait for it, even without a change: a whole turn may have passed between two reads. */
  #setAgent(agent: Agent, created: boolean): void {
    this.agent_index.set(agent);
    this.#options.emit({ type: 'agent', agent, created });
    for (const next of this.#runs.see(agent)) this.#wakeOne(next);
    if (!isWorking(agent.state.type) || awaitsAnyone(agent.state)) this.#wakeWaitersOf(agent);
    if (isWorking(agent.state.type) && !onlyWaits(agent.state)) return;
    for (const id of this.#waiters.of(ANYONE)) this.#wakeOne(id, agent.root_id);
  }

  #wakeWaitersOf(agent: Agent): void {
    for (const awaited of startersToo(agent))
      for (const waiter of this.#waiters.of(awaited)) this.#wakeOne(waiter);
  }

  #wakeOne(id: string, root_id?: string): void {
    const cell = this.cells.get(id);
    if (cell !== undefined && cell.agent.root_id === (root_id ?? cell.agent.root_id)) this.wake(cell);
  }

  #deliver(mail: Mail): void {
    const cell = this.cells.get(mail.to_id);
    if (cell === undefined) {
      this.sync.noteEarlyMail(mail.to_id);
      return this.remote_agents.sentTo(mail);
    }
    cell.inbox.add(mail);
    this.wake(cell);
  }

  /** Delivers mail that this process wrote outside of any step, for a person. */
  delivered(mail: Mail): void {
    this.#options.emit({ type: 'mail', mail });
    this.#deliver(mail);
  }

  /** Lets the round under way finish and starts no more. */
  async close(): Promise<void> {
    const closed = this.#commits.close();
    for (const cell of this.cells.values()) {
      cell.gone = true;
      stopCell(cell);
    }
    await closed;
  }
}

/** The agent, and who started it as a run: waits for whoever did last until the run has ended, too. */
function startersToo({ id, origin, parent_id }: Agent): readonly string[] {
  return origin === 'session' && parent_id !== null ? [id, parent_id] : [id];
}

interface ForkPoints {
  readonly messages: readonly PlacedMessage[];
  /** State that a fork inherits, by the seq at which the step forks. */
  readonly points: ReadonlyMap<number, ForkPoint>;
}

/** Appends the messages of a step to the prompt, and keeps what forks inherit at each fork point, before later messages are appended. */
function forkPoints(cell: Cell, before: Agent, step: Step): ForkPoints {
  const points = new Map<number, ForkPoint>();
  const keep = (seq: number) =>
    points.set(seq, { prompt: cell.prompt.forked(), seen: cell.seen.forked(), asked: cell.asked });
  const wanted = new Set(step.create.map((child) => child.agent.forked_from?.seq));
  if (wanted.size > 0 && before.last_seq > 0) {
    for (const seq of wanted) if (seq !== undefined && seq <= before.last_seq) keep(seq);
  }
  const messages = placed(cell.agent.id, step.messages, before.last_seq, step.at);
  for (const message of messages) {
    cell.prompt.append(message);
    cell.seen.append(message);
    if (wanted.has(message.seq)) keep(message.seq);
  }
  return { messages, points };
}
