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
 * The one place where steps are written: lets what happened to each agent be decided, commits all agents that are ready in one transaction (group commit),
 * and only then lets effects be performed. One round at a time; what arrives meanwhile joins the next.
 */
export class Executor {
  readonly worker: Worker;
  readonly agent_index = new AgentIndex();
  readonly cells = new Map<string, Cell>();
  readonly remote_agents = new RemoteAgents();
  readonly sync: LedgerSync;
  readonly #options: ExecutorOptions;
  readonly #ready = new Set<Cell>();
  /** Those of the round under way. */
  #stepping: readonly Cell[] = [];
  readonly #waiters = new WaiterIndex();
  readonly #runs: RunQueue;
  readonly #deferred: DeferredCalls;
  readonly #around: StepViewContext;
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
    this.#around = { ...options, agent_index, cells, remote_agents, worker_id: worker.id, runs: this.#runs };
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
      again: (cell, call) => {
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

  /** Something changed that may concern the agent: mail, a deadline, another agent's state. */
  wake(cell: Cell): void {
    if (cell.gone || this.#closed) return;
    this.#ready.add(cell);
    this.#round ??= this.#options.clock.soon().then(() => this.#rounds());
  }

  /** True when no step is under way, none is due, and no mail is being looked for. */
  get isQuiet(): boolean {
    return this.#round === null && !this.sync.isChecking;
  }

  async #rounds(): Promise<void> {
    while (this.#ready.size > 0 && !this.#closed) {
      this.#stepping = [...this.#ready];
      this.#ready.clear();
      const pending = this.#stepping.flatMap((cell) => this.#advance(cell) ?? []);
      if (pending.length > 0) await this.#commit(pending);
      // Sockets and timers get their turn, so that the next group is as large as it can be.
      if (this.#ready.size > 0) await this.#options.clock.soon();
    }
    this.#stepping = [];
    this.#round = null;
    this.#options.onQuiet();
  }

  #advance(cell: Cell): Pending | null {
    if (cell.gone) return null;
    const made = advance(cell, cell.inputs, stepView(cell.agent, this.#around));
    cell.wait_cursors = made.wait_cursors;
    // Counted before it is written: of those that step in this round, no more may begin than there are places.
    if (made.run === 'begins') this.#runs.begin(cell.agent);
    if (made.run === 'queues') this.#runs.queue(cell.agent);
    if (made.step !== null) return { cell, made, step: made.step };
    cell.inputs = [];
    this.#after(cell, made);
    return null;
  }

  async #commit(pending: readonly Pending[]): Promise<void> {
    // What arrives while the commit is under way belongs to the next step.
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
    // Its answer was slow: the agent may have been taken over anew meanwhile.
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
   * Every join passes here. Who comes to rest from now on tells the waiter, in the transaction that says so; who did before the ledger knew of the wait told
   * nobody, so all that are led here are looked at once more, and of the others those that the ledger had at rest (`met`).
   */
  #enterWaits(
    cell: Cell,
    before: readonly string[],
    after: readonly string[],
    met?: readonly string[],
  ): void {
    const added = this.#waiters.set(cell.agent.id, before, after);
    if (added.length > 0) this.wake(cell);
    const silent = (met ?? added).filter((id) => !this.cells.has(id));
    for (const id of silent) void this.sync.checkAgent(id).catch(() => this.sync.requestFullCheck());
  }

  #begin({ agent, messages }: NewAgent, points: ForkPoints['prompts']): void {
    // Found in the ledger and taken over before its creation was acknowledged.
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
    // Others may have written to it before this process was told that it is there.
    this.sync.adopted(agent.id);
  }

  /** A new root, just written to the ledger. */
  beginRoot(root: NewAgent): Cell {
    this.#begin(root, new Map());
    return this.cells.get(root.agent.id) as Cell;
  }

  /** An agent taken over from the ledger: it goes on from its state (law 12). */
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

  /** What follows a step: its effects, and calls that waited for it. */
  #after(cell: Cell, made: Advance): void {
    for (const effect of made.effects) if (!cell.gone) this.#options.perform(cell, effect);
    this.#deferred.settle(cell, made);
  }

  /** An agent that the ledger tells of, before anything of its tree goes on here. */
  know(agent: Agent): void {
    if (this.agent_index.isOld(agent)) return;
    this.agent_index.set(agent);
    this.#runs.see(agent);
  }

  #learn(agent: Agent): void {
    if (this.cells.get(agent.id)?.gone === false) return;
    const known = this.agent_index.agent(agent.id);
    // A letter does not change its place: of two looks the one that saw fewer letters is the older one.
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
    this.#runs.notBegun(cell.agent);
    cell.inputs = [...inputs, ...cell.inputs];
    if (refusal.reason === 'stale' || refusal.reason === 'consumed')
      return this.#reload({ cell, made, step }, inputs.length);
    if (refusal.reason === 'cycle') {
      for (const [call_id, override] of overrideFor(refusal.path, made.parked, (id) =>
        this.agent_index.agent(id),
      )) {
        cell.overrides.set(call_id, override);
      }
    } else await this.#ask(() => this.sync.checkTree(cell.agent.root_id));
    this.wake(cell);
  }

  /** What the ledger says, whenever it can be reached; null when this process was closed meanwhile. */
  #ask<T>(question: (store: Store) => Promise<T>): Promise<{ readonly answer: T } | null> {
    const { store } = this.#options;
    return retryUntilReachable(
      this.#options,
      () => question(store),
      () => this.#closed,
    );
  }

  /** The ledger knows better: the step was applied before the connection broke, the agent was killed, or it is led elsewhere now. */
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
      // What arrived since belongs to the next step.
      cell.inputs.splice(0, taken);
      this.#accepted(
        { cell, made, step },
        { ok: true, killed: [], sent: [], met: step.waits_for ?? [], tree },
      );
    } else if (is_mine && !isTerminal(agent.state.type)) this.adopt(agent, history, mail);
    else this.#drop(cell);
    // Whether or not the step was applied before others took over: who it wrote to, and whom it killed, may be led here.
    await this.#ask(async () => {
      if (agent === null) await this.sync.checkAgent(id);
      if (!is_mine || step.kill.length > 0) await this.sync.checkTree(root_id);
      for (const to of new Set([id, ...step.send.map((one) => one.to_id)])) await this.sync.checkMail(to);
    });
  }

  /** They are dead in the ledger: stop what runs for them here and tell who waits for them; a kill that is known is no news. */
  markKilled(ids: readonly string[], by: string): void {
    const news = ids.filter((id) => !isTerminal(this.agent_index.agent(id)?.state.type ?? 'idle'));
    for (const id of ids) {
      const cell = this.cells.get(id);
      const known = this.agent_index.agent(id);
      if (cell !== undefined) this.#drop(cell);
      if (known === undefined || isTerminal(known.state.type)) continue;
      this.#setAgent(killedAgent(known, by, this.#options.clock.now()), false);
      // The kill told a parent that awaits it: in the ledger, whoever led the agent. A look that fails is made up for by the signal.
      if (known.parent_id !== null && known.origin !== 'fork')
        void this.sync.checkMail(known.parent_id).catch(() => this.sync.requestFullCheck());
    }
    if (news.length > 0) this.#options.emit({ type: 'killed', ids: news, by });
  }

  /** Their conversations went with the step; an agent that others build on stayed. */
  #removed(ids: readonly string[]): void {
    const known = ids.flatMap((id) => this.agent_index.agent(id) ?? []);
    const gone = ids.filter((id) => this.agent_index.remove(id));
    for (const agent of known) for (const next of this.#runs.leave(agent)) this.#wakeOne(next);
    if (gone.length > 0) this.#options.emit({ type: 'removed', ids: gone });
  }

  /** Nothing that still comes for it counts. */
  #drop(cell: Cell): void {
    stopCell(cell);
    cell.gone = true;
    if (this.cells.get(cell.agent.id) !== cell) return;
    this.cells.delete(cell.agent.id);
    for (const next of this.#runs.leave(cell.agent)) this.#wakeOne(next);
  }

  /**
   * Forgets a tree in which nothing is to be done here: no step, no mail, no work but what is parked; tells until when that is (`parkedCells`). Null when
   * something is to be done; then nothing changes. Whoever leads the tree next reads all of it from the ledger.
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

  /** Takes over what is true now, and wakes those whose wait may end by it: whatever came before, its whole turn may have passed unheard. */
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

  /** A letter that this process wrote outside of any step: the human's. */
  delivered(mail: Mail): void {
    this.#options.emit({ type: 'mail', mail });
    this.#deliver(mail);
  }

  /** Lets the round under way finish and starts no other. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const cell of this.cells.values()) {
      cell.gone = true;
      stopCell(cell);
    }
    await this.#round;
  }
}
