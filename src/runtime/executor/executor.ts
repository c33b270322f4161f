import { hostname } from 'node:os';
import { waitEdges } from '../../kernel/mailbox/wait-edges.ts';
import type { RequestRecord, Step, Verdict } from '../../kernel/step.ts';
import type { AgentEvent } from '../../kernel/transition/event.ts';
import { advance } from '../../kernel/turn/advance.ts';
import type { Advance } from '../../kernel/turn/advance-result.ts';
import { agentAfter, createdAgent, killedAgent, placed } from '../../kernel/turn/agent-after.ts';
import { overrideFor } from '../../kernel/turn/led-agent.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { NewAgent } from '../../records/agent/new-agent.ts';
import { isTerminal, isWorking } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { Prompt, promptOf } from '../../records/conversation/prompt.ts';
import type { Store, Worker } from '../../store/store.ts';
import { AgentIndex } from './agent-index.ts';
import { type Cell, forgetLookUps, newCell, parkedCells, stopCell } from './cell.ts';
import { DeferredCalls } from './deferred-calls.ts';
import type { ExecutorOptions } from './executor-options.ts';
import { type ForkPoints, forkPoints } from './fork-points.ts';
import { retryUntilReachable } from './ledger-retry.ts';
import { LedgerSync } from './ledger-sync.ts';
import { RemoteAgents } from './remote-agents.ts';
import { RunQueue } from './run-queue.ts';
import { type StepViewContext, stepView } from './step-view.ts';
import { WaiterIndex } from './waiter-index.ts';
import { wasApplied } from './was-applied.ts';

interface Pending {
  readonly cell: Cell;
  readonly made: Advance;
  readonly step: Step;
}

/**
 * Leads agents in rounds, and is the only writer of steps: lets the kernel decide the step of every agent that has something to do, commits these steps in
 * one transaction (group commit), then has their effects performed. One round at a time; what arrives meanwhile joins the next.
 */
export class Executor {
  readonly worker: Worker;
  readonly agent_index = new AgentIndex();
  readonly cells = new Map<string, Cell>();
  readonly remote_agents = new RemoteAgents();
  readonly sync: LedgerSync;
  readonly #options: ExecutorOptions;
  readonly #ready = new Set<Cell>();
  /** Cells of the round under way. */
  #stepping: readonly Cell[] = [];
  readonly #waiters = new WaiterIndex();
  readonly #runs: RunQueue;
  readonly #deferred: DeferredCalls;
  readonly #view_context: StepViewContext;
  #round: Promise<void> | null = null;
  #closed = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    const { store, role, labels, catalog, newId } = options;
    this.worker = { id: newId(), host: hostname(), pid: process.pid, role, labels };
    const { subagents, runs } = catalog.terms;
    this.#runs = new RunQueue(
      { per_tree: subagents.max_concurrent, total: runs.max_concurrent, per_source: runs.per_source },
      (agent) => this.agent_index.lineage(agent),
    );
    const { agent_index, cells, remote_agents, worker } = this;
    this.#view_context = {
      ...options,
      agent_index,
      cells,
      remote_agents,
      worker_id: worker.id,
      runs: this.#runs,
    };
    this.sync = new LedgerSync({
      store,
      worker_id: worker.id,
      cells,
      agent_index,
      remote_agents,
      wake: (cell) => this.wake(cell),
      markKilled: (ids, by) => this.markKilled(ids, by),
      queued: () => this.#runs.waiting(),
      learn: (agent) => this.#learn(agent),
      drop: (cell) => this.#drop(cell),
      removed: (ids) => this.#removed(ids),
    });
    this.#deferred = new DeferredCalls({
      ...options,
      learn: (agent) => this.#learn(agent),
      readMail: (cell) => this.sync.checkMail(cell.agent.id),
      retry: (cell, call) => {
        cell.inputs.push({ type: 'toolset-call', call });
        this.wake(cell);
      },
    });
  }

  /** Something happened to an agent led here. */
  happened(cell: Cell, event: AgentEvent, request?: RequestRecord): void {
    if (cell.gone) return;
    cell.inputs.push(request === undefined ? { type: 'event', event } : { type: 'event', event, request });
    this.wake(cell);
  }

  /** Puts the agent into the next round: its mail, a deadline or another agent's state has changed. */
  wake(cell: Cell): void {
    if (cell.gone || this.#closed) return;
    this.#ready.add(cell);
    this.#round ??= this.#options.clock.soon().then(() => this.#rounds());
  }

  /** No round is under way or due, and nothing is being read from the ledger. */
  get isQuiet(): boolean {
    return this.#round === null && !this.sync.isChecking;
  }

  async #rounds(): Promise<void> {
    while (this.#ready.size > 0 && !this.#closed) {
      this.#stepping = [...this.#ready];
      this.#ready.clear();
      const pending = this.#stepping.flatMap((cell) => this.#advance(cell) ?? []);
      if (pending.length > 0) await this.#commit(pending);
      // More events may come from sockets and timers: the next group is then larger.
      if (this.#ready.size > 0) await this.#options.clock.soon();
    }
    this.#stepping = [];
    this.#round = null;
    this.#options.onQuiet();
  }

  #advance(cell: Cell): Pending | null {
    if (cell.gone) return null;
    const made = advance(cell, cell.inputs, stepView(cell.agent, this.#view_context));
    cell.wait_cursors = made.wait_cursors;
    // Counted before the commit: several runs may begin in one round, never more than there are places.
    if (made.run === 'begins') this.#runs.begin(cell.agent);
    if (made.run === 'queues') this.#runs.queue(cell.agent);
    if (made.step !== null) return { cell, made, step: made.step };
    cell.inputs = [];
    this.#after(cell, made);
    return null;
  }

  async #commit(pending: readonly Pending[]): Promise<void> {
    // Inputs that arrive during the commit belong to the next step.
    const taken = pending.map(({ cell }) => cell.inputs.splice(0));
    const steps = pending.map(({ step }) => step);
    const reached = await this.#ask((store) => store.commit(steps));
    if (reached === null) return;
    const refused: Promise<void>[] = [];
    for (const [index, verdict] of reached.answer.entries()) {
      const one = pending[index] as Pending;
      if (verdict.ok) this.#accepted(one, verdict);
      else refused.push(this.#refused(one, verdict, taken[index] ?? []));
    }
    await Promise.all(refused);
  }

  #accepted({ cell, made, step }: Pending, verdict: Extract<Verdict, { ok: true }>): void {
    const { emit } = this.#options;
    this.agent_index.setTree(verdict.tree);
    const before = cell.agent;
    cell.agent = agentAfter(before, step);
    cell.inbox.remove(made.consumed);
    cell.overrides.clear();
    if (cell.agent.state.type !== 'executing') forgetLookUps(cell);
    const points = forkPoints(cell, before, step);
    for (const message of points.messages) emit({ type: 'message', agent_id: cell.agent.id, message });
    // The acknowledgement may be late: the agent may have been taken over again meanwhile.
    if (!this.agent_index.isOld(cell.agent)) this.#setAgent(cell.agent, false);
    for (const child of step.create)
      if (child.agent.worker === this.worker.id) this.#begin(child, points.prompts);
    if (step.waits_for !== null) this.#enterWaits(cell, waitEdges(before.state), step.waits_for, verdict.met);
    for (const mail of verdict.sent) {
      emit({ type: 'mail', mail });
      this.#deliver(mail);
    }
    if (verdict.killed.length > 0) this.markKilled(verdict.killed, cell.agent.name);
    if (step.remove.length > 0) this.#removed(step.remove);
    if (isTerminal(cell.agent.state.type)) this.#drop(cell);
    this.#after(cell, made);
  }

  /**
   * The one place where waits are entered. An agent that comes to rest after the wait was written signals the waiter in its own transaction. One that rested
   * before told nobody: so the waiter is woken to check agents led here, and agents led elsewhere are read that the ledger had at rest (`met`).
   */
  #enterWaits(
    cell: Cell,
    before: readonly string[],
    after: readonly string[],
    met?: readonly string[],
  ): void {
    const added = this.#waiters.set(cell.agent.id, before, after);
    if (added.length > 0) this.wake(cell);
    const remote = (met ?? added).filter((id) => !this.cells.has(id));
    for (const id of remote) void this.sync.checkAgent(id).catch(() => this.sync.requestFullCheck());
  }

  #begin({ agent, messages }: NewAgent, points: ForkPoints['prompts']): void {
    // Taken over from the ledger before its creation was acknowledged.
    if (this.cells.has(agent.id)) return;
    const seq = agent.forked_from?.seq ?? 0;
    const created = createdAgent({ agent, messages });
    const prompt = new Prompt(agent.forked_from === null ? undefined : points.get(seq));
    const cell = newCell(created, prompt, []);
    this.cells.set(agent.id, cell);
    this.#setAgent(created, true);
    for (const message of placed(agent.id, messages, seq, agent.created_at)) {
      prompt.append(message);
      this.#options.emit({ type: 'message', agent_id: agent.id, message });
    }
    if (agent.state.type === 'requesting')
      this.#options.perform(cell, { type: 'request-model', attempt: agent.state.attempt });
    // Other processes may have written to it before the acknowledgement reached this one.
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
    const cell = newCell(agent, promptOf(history), mail);
    this.cells.set(agent.id, cell);
    this.#setAgent(agent, false);
    this.#enterWaits(cell, [], waitEdges(agent.state));
    this.sync.adopted(agent.id);
    const at = this.#options.clock.now();
    this.happened(cell, { type: 'resume', at, deaths: agent.deaths, forgiven });
    return cell;
  }

  /** Performs the effects of a step, and prepares the calls that it deferred. */
  #after(cell: Cell, made: Advance): void {
    for (const effect of made.effects) if (!cell.gone) this.#options.perform(cell, effect);
    this.#deferred.settle(cell, made);
  }

  /** Records an agent of a tree that is being taken over; nothing is emitted or woken yet. */
  know(agent: Agent): void {
    if (this.agent_index.isOld(agent)) return;
    this.agent_index.set(agent);
    this.#runs.see(agent);
  }

  #learn(agent: Agent): void {
    if (this.cells.get(agent.id)?.gone === false) return;
    const known = this.agent_index.agent(agent.id);
    // Mail does not change `last_seq`: of two reads, the one with less mail is older.
    if (this.agent_index.isOld(agent) || agent.mail_count < (known?.mail_count ?? 0)) return;
    if (!isTerminal(agent.state.type) && agent.worker !== this.worker.id)
      this.remote_agents.markShared(agent.root_id);
    this.#setAgent(agent, false);
  }

  async #refused(
    { cell, made, step }: Pending,
    { refusal }: Extract<Verdict, { ok: false }>,
    inputs: Cell['inputs'],
  ): Promise<void> {
    this.#runs.undoBegin(cell.agent);
    cell.inputs = [...inputs, ...cell.inputs];
    if (refusal.reason === 'stale' || refusal.reason === 'consumed')
      return this.#reload({ cell, made, step }, inputs.length);
    if (refusal.reason === 'cycle') {
      const overrides = overrideFor(refusal.path, made.parked, (id) => this.agent_index.agent(id));
      for (const [call_id, override] of overrides) cell.overrides.set(call_id, override);
    } else await this.#ask(() => this.sync.checkTree(cell.agent.root_id));
    this.wake(cell);
  }

  /** Asks until the ledger can be reached; null when the executor was closed meanwhile. */
  #ask<T>(question: (store: Store) => Promise<T>): Promise<{ readonly answer: T } | null> {
    const { store } = this.#options;
    const ask = () => question(store);
    return retryUntilReachable(this.#options, ask, () => this.#closed);
  }

  /** The ledger holds another state: the step was applied before the connection broke, the agent was killed, or another process leads it. */
  async #reload({ cell, made, step }: Pending, taken: number): Promise<void> {
    const { id, root_id } = cell.agent;
    const found = await this.#ask(async (store) => {
      const [agent, tree] = [await store.agent(id), await store.tree(root_id)];
      return { agent, tree, history: await store.history(id), mail: await store.mail(id) };
    });
    if (found === null) return;
    const { agent, tree, history, mail } = found.answer;
    const is_mine = agent !== null && agent.epoch === cell.agent.epoch && !cell.gone;
    if (is_mine && tree !== null && wasApplied(step, cell.agent, agent)) {
      // Inputs that arrived since belong to the next step.
      cell.inputs.splice(0, taken);
      const verdict = { ok: true, killed: [], sent: [], met: step.waits_for ?? [], tree } as const;
      this.#accepted({ cell, made, step }, verdict);
    } else if (is_mine && !isTerminal(agent.state.type)) this.adopt(agent, history, mail);
    else this.#drop(cell);
    // The step may have been applied before another process took over: the agents that it wrote to or killed may be led here.
    await this.#ask(async () => {
      if (agent === null) await this.sync.checkAgent(id);
      if (!is_mine || step.kill.length > 0) await this.sync.checkTree(root_id);
      for (const to of new Set([id, ...step.send.map((one) => one.to_id)])) await this.sync.checkMail(to);
    });
  }

  /** Follows a kill that the ledger holds: stops their work here and wakes agents that wait for them. Idempotent. */
  markKilled(ids: readonly string[], by: string): void {
    const news = ids.filter((id) => !isTerminal(this.agent_index.agent(id)?.state.type ?? 'idle'));
    for (const id of ids) {
      const cell = this.cells.get(id);
      const known = this.agent_index.agent(id);
      if (cell !== undefined) this.#drop(cell);
      if (known === undefined || isTerminal(known.state.type)) continue;
      this.#setAgent(killedAgent(known, by, this.#options.clock.now()), false);
      // The kill wrote mail to a parent that awaits the agent.
      if (known.parent_id !== null && known.origin !== 'fork')
        void this.sync.checkMail(known.parent_id).catch(() => this.sync.requestFullCheck());
    }
    if (news.length > 0) this.#options.emit({ type: 'killed', ids: news, by });
  }

  /** Forgets agents whose conversations were deleted; those with children stay. */
  #removed(ids: readonly string[]): void {
    const known = ids.flatMap((id) => this.agent_index.agent(id) ?? []);
    const gone = ids.filter((id) => this.agent_index.remove(id));
    for (const agent of known) for (const next of this.#runs.leave(agent)) this.#wakeOne(next);
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
   * Forgets a tree in which nothing is left to do here but parked work; returns until when each of these agents is parked (`parkedCells`). Null, and
   * nothing changes, when there is more to do. The next leader reads the tree from the ledger.
   */
  forget(root_id: string): ReadonlyMap<string, number> | null {
    const members = this.agent_index.members(root_id);
    const cells = members.flatMap(({ id }) => this.cells.get(id) ?? []);
    const parked = parkedCells(cells, this.agent_index.tree(root_id)?.limits);
    const stepping = cells.some((cell) => this.#ready.has(cell) || this.#stepping.includes(cell));
    if (parked === null || stepping || this.sync.isChecking) return null;
    for (const cell of cells) this.#drop(cell);
    for (const agent of members) this.#runs.leave(agent);
    this.agent_index.forget(root_id);
    this.remote_agents.forget(root_id, members);
    return parked;
  }

  /** Records the agent's state and wakes agents that wait for it. Not only on a change: a whole turn may have passed between two reads. */
  #setAgent(agent: Agent, created: boolean): void {
    this.agent_index.set(agent);
    this.#options.emit({ type: 'agent', agent, created });
    for (const next of this.#runs.see(agent)) this.#wakeOne(next);
    if (!isWorking(agent.state.type)) for (const waiter of this.#waiters.of(agent.id)) this.#wakeOne(waiter);
  }

  #wakeOne(id: string): void {
    const cell = this.cells.get(id);
    if (cell !== undefined) this.wake(cell);
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

  /** Mail that this process wrote outside of any step: a person's. */
  delivered(mail: Mail): void {
    this.#options.emit({ type: 'mail', mail });
    this.#deliver(mail);
  }

  /** Lets the round under way finish and starts no more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const cell of this.cells.values()) {
      cell.gone = true;
      stopCell(cell);
    }
    await this.#round;
  }
}
