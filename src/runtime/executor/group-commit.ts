import { isDeepStrictEqual } from 'node:util';
import type { Step, Verdict } from '../../kernel/step.ts';
import { advance } from '../../kernel/turn/advance.ts';
import type { Advance } from '../../kernel/turn/advance-result.ts';
import { overrideFor } from '../../kernel/turn/led-agent.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Store } from '../../store/store.ts';
import { isInvalidData } from '../../store/store-error.ts';
import type { Cell } from './cell.ts';
import type { ExecutorOptions } from './executor-options.ts';
import { ForeignForks } from './foreign-forks.ts';
import { retryUntilReachable } from './ledger-retry.ts';
import type { LedgerSync } from './ledger-sync.ts';
import { type StepViewContext, stepView } from './step-view.ts';
import { TreeShares } from './tree-shares.ts';

/** Tries of a step, half a minute, where a program's own ledger fails in words that do not say whether it can be reached. */
const TRIES_MAX = 10;
/** Plain ASCII, and too short to be cut anywhere: what the database says may be what it cannot store. */
const UNSTORABLE = 'a fault in Coppice: the ledger cannot store the next step';
const HINT = 'Its agent is led no more: once the ledger stores it, resume the tree in a new process';

/** A step that is decided but not committed yet. */
export interface PendingStep {
  readonly cell: Cell;
  readonly made: Advance;
  readonly step: Step;
}

export interface GroupCommitOptions
  extends StepViewContext,
    Pick<ExecutorOptions, 'store' | 'emit' | 'onRound' | 'onStuck'> {
  readonly sync: LedgerSync;
  /** Called when the ledger has accepted the step. */
  readonly accepted: (pending: PendingStep, verdict: Extract<Verdict, { ok: true }>) => void;
  /** Performs effects and prepares deferred calls; called if there is no step to commit. */
  readonly follow: (cell: Cell, made: Advance) => void;
  /** Leads the agent again, from its state in the ledger. */
  readonly adopt: (agent: Agent, history: readonly PlacedMessage[], mail: readonly Mail[]) => void;
  /** Stops leading the agent. */
  readonly drop: (cell: Cell) => void;
}

/**
 * The only writer of steps. Works in rounds: lets the kernel decide the step of every agent that is ready, and commits these steps in one
 * transaction. One round at a time; what arrives meanwhile joins the next. Trees that work at the same time share the thread (`TreeShares`).
 */
export class GroupCommit {
  readonly foreign = new ForeignForks();
  readonly #options: GroupCommitOptions;
  readonly #ready = new Set<Cell>();
  /** Agents that decide nothing before this has ended. */
  readonly #held = new Map<Cell, Promise<void>>();
  /** Cells of the round under way. */
  #stepping: readonly Cell[] = [];
  /** Trees in which a run was queued in this round. */
  readonly #newly_queued = new Set<string>();
  readonly #shares: TreeShares;
  #round: Promise<void> | null = null;
  /** Ends the pause of a round in which every tree is ahead of its share. */
  #resume: (() => void) | null = null;
  #closed = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    const isAtWork = (root_id: string) => options.agent_index.working(root_id) > 0;
    this.#shares = new TreeShares(options.clock.lap, isAtWork);
  }

  /** Puts the agent into the next round. */
  add(cell: Cell): void {
    if (cell.gone || this.#closed || this.#held.has(cell)) return;
    this.#ready.add(cell);
    this.#resume?.();
    this.#round ??= this.#options.clock.soon().then(() => this.#rounds());
  }

  /** Keeps the agent out of rounds until this has ended. */
  hold(cell: Cell, until: Promise<void>): void {
    this.#held.set(cell, until);
    this.#ready.delete(cell);
    const release = () => {
      if (this.#held.get(cell) === until && this.#held.delete(cell)) this.add(cell);
    };
    until.then(release, release);
  }

  /** Follows a step of the clock, before anything else that the agents have to do. Not while steps with the time from before are under way. */
  followClock(): void {
    const { clock, cells } = this.#options;
    const by_ms = this.#stepping.length > 0 ? 0 : (clock.catchUp?.() ?? 0);
    if (by_ms === 0) return;
    const event = { type: 'clock-moved', at: clock.now(), by_ms } as const;
    for (const cell of cells.values()) {
      cell.inputs.unshift({ type: 'event', event });
      this.add(cell);
    }
  }

  /** Whether a step of an agent of this tree is under way or due. */
  isBusyWith(root_id: string): boolean {
    const isOfTree = ({ agent }: Cell) => agent.root_id === root_id;
    return [this.#stepping.values(), this.#ready.values(), this.#held.keys()].some((cells) =>
      cells.some(isOfTree),
    );
  }

  /** Whether no more rounds are started; the last one may still be under way. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Whether a step of the agent is under way or due. */
  has(cell: Cell): boolean {
    return this.#ready.has(cell) || this.#stepping.includes(cell);
  }

  /** Lets the round under way finish and starts no more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#resume?.();
    await this.#round;
  }

  async #rounds(): Promise<void> {
    const { clock } = this.#options;
    while (this.#ready.size > 0 && !this.#closed) {
      this.followClock();
      const wait_ms = this.#take();
      if (wait_ms > 0) await this.#pause(wait_ms);
      else {
        const began_ms = clock.lap();
        const decided = this.#stepping.map((cell) => ({ cell, pending: this.#decide(cell) }));
        this.#checkPlaces();
        const pending = decided.flatMap((one) => one.pending ?? []);
        if (pending.length > 0) await this.#commit(pending);
        const round = decided.map(({ cell: { agent }, pending: one }) => ({
          root_id: agent.root_id,
          step: one?.step ?? null,
        }));
        this.#shares.charge(round, clock.lap() - began_ms);
        this.#stepping = [];
        this.#options.onRound(new Set(round.map(({ root_id }) => root_id)));
      }
      // Lets pending events of sockets and timers join: the next group is then larger.
      if (this.#ready.size > 0) await clock.soon();
    }
    this.#round = null;
    this.#options.onRound();
  }

  /** Takes for this round as many agents of each tree as its share admits, oldest first. Returns how long to wait (ms) if none is admitted, otherwise 0. */
  #take(): number {
    const by_tree = Map.groupBy(this.#ready, ({ agent }) => agent.root_id);
    const { steps, wait_ms } = this.#shares.admit([...by_tree.keys()]);
    this.#stepping = [...by_tree].flatMap(([root_id, cells]) => cells.slice(0, steps.get(root_id) ?? 0));
    for (const cell of this.#stepping) this.#ready.delete(cell);
    return wait_ms;
  }

  /** Waits until the time is over, another agent is ready, or no more rounds are started. */
  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resume = resolve;
    const stop = this.#options.clock.after(ms, resolve);
    await promise;
    stop();
    this.#resume = null;
  }

  /**
   * Reads shared trees in which a run was queued: a run that ended elsewhere before the
   * ledger had the queued one has signalled nobody that its place is free.
   */
  #checkPlaces(): void {
    const { sync, remote_agents } = this.#options;
    for (const root_id of this.#newly_queued)
      if (remote_agents.isShared(root_id)) void sync.checkTree(root_id).catch(() => sync.requestFullCheck());
    this.#newly_queued.clear();
  }

  #decide(cell: Cell): PendingStep | null {
    if (cell.gone) return null;
    const { runs, follow } = this.#options;
    const made = advance(cell, cell.inputs, stepView(cell.agent, this.#options));
    cell.wait_cursors = made.wait_cursors;
    // Counted before the commit: several runs may begin in one round, never more than there are places.
    if (made.run === 'begins') runs.begin(cell.agent);
    if (made.run === 'queues' && runs.queue(cell.agent)) this.#newly_queued.add(cell.agent.root_id);
    if (made.step !== null) return { cell, made, step: made.step };
    cell.inputs = [];
    follow(cell, made);
    return null;
  }

  async #commit(pending: readonly PendingStep[]): Promise<void> {
    // Inputs that arrive during the commit belong to the next step.
    await this.#write(
      pending,
      pending.map(({ cell }) => cell.inputs.splice(0)),
    );
  }

  async #write(pending: readonly PendingStep[], taken: readonly Cell['inputs'][]): Promise<void> {
    const steps = pending.map(({ step }) => step);
    let tries = 0;
    const reached = await this.#ask(async (store) => {
      await this.foreign.read(store, steps);
      return store.commit(steps).catch((error: unknown) => {
        tries += 1;
        if (isInvalidData(error)) return error;
        if (Object(error).code === undefined && tries === TRIES_MAX)
          return new Error(`${Object(error).message}`);
        throw error;
      });
    });
    if (reached === null) return;
    if (reached.answer instanceof Error) return this.#contain(pending, taken, reached.answer);
    const refused: Promise<void>[] = [];
    for (const [index, verdict] of reached.answer.entries()) {
      const one = pending[index] as PendingStep;
      if (verdict.ok) this.#options.accepted(one, verdict);
      else refused.push(this.#refused(one, verdict, taken[index] ?? []));
    }
    await Promise.all(refused);
  }

  /**
   * Finds the step that the ledger cannot store, so that the others are not held up. Its turn ends: told in the words of the database, else in words
   * that every database can store, else without the request; if even that cannot be stored, the agent is led no more.
   */
  async #contain(
    pending: readonly PendingStep[],
    taken: readonly Cell['inputs'][],
    error: Error,
  ): Promise<void> {
    const [{ cell }, ...others] = pending as [PendingStep, ...PendingStep[]];
    if (others.length > 0) {
      for (const [index, one] of pending.entries()) await this.#write([one], [taken[index] ?? []]);
      return;
    }
    const { clock, drop, emit, onStuck, runs } = this.#options;
    const text = `a fault in Coppice: the ledger cannot store the next step: ${error.message}`;
    runs.undoBegin(cell.agent);
    const events = (taken[0] ?? []).flatMap((input) => (input.type === 'event' ? [input] : []));
    const request = events.find((one) => one.request !== undefined)?.request;
    const told = events.map(({ event }) => event).find((event) => event.type === 'fault')?.failure.error;
    if (told !== undefined) emit({ type: 'notice', agent_id: cell.agent.id, text });
    if (told === UNSTORABLE && request === undefined) {
      emit({ type: 'notice', agent_id: cell.agent.id, text: 'this process leads it no more' });
      drop(cell);
      return onStuck(cell.agent.root_id, new CoppiceError('E_DATABASE', text, { hint: HINT }));
    }
    const error_text = told === undefined ? text : UNSTORABLE;
    const failure = { kind: 'internal', error: error_text, retryable: true } as const;
    const fault = { type: 'event', event: { type: 'fault', at: clock.now(), failure } } as const;
    // What the request has cost still counts, unless it is the cause.
    cell.inputs.unshift(told === UNSTORABLE || request === undefined ? fault : { ...fault, request });
    this.add(cell);
  }

  async #refused(
    pending: PendingStep,
    { refusal }: Extract<Verdict, { ok: false }>,
    inputs: Cell['inputs'],
  ): Promise<void> {
    const { runs, agent_index, sync } = this.#options;
    const { cell, made } = pending;
    runs.undoBegin(cell.agent);
    cell.inputs = [...inputs, ...cell.inputs];
    if (refusal.reason === 'stale') return this.#reload(pending, inputs.length);
    if (refusal.reason === 'budget') agent_index.setBudgets(refusal.budgets);
    // The step was not stale, so no other process has read the mail: the person took it back.
    if (refusal.reason === 'consumed') cell.inbox.remove(new Set([refusal.mail_id]));
    else if (refusal.reason === 'cycle') {
      const overrides = overrideFor(refusal.path, made.parked, (id) => agent_index.agent(id));
      for (const [call_id, override] of overrides) cell.overrides.set(call_id, override);
    } else await this.#ask(() => sync.checkTree(cell.agent.root_id));
    this.add(cell);
  }

  /** The ledger holds another state: the step was applied before the connection broke, the agent was killed, or another process leads it. */
  async #reload({ cell, made, step }: PendingStep, taken: number): Promise<void> {
    const { accepted, adopt, drop, sync } = this.#options;
    const { id, root_id } = cell.agent;
    const found = await this.#ask(async (store) => {
      const [agent, tree] = [await store.agent(id), await store.tree(root_id)];
      return { agent, tree, conversation: (await store.conversations([id])).get(id) };
    });
    if (found === null) return;
    const { agent, tree, conversation } = found.answer;
    const is_mine = agent !== null && agent.epoch === cell.agent.epoch && !cell.gone;
    if (is_mine && tree !== null && wasApplied(step, cell.agent, agent)) {
      // Removes the inputs of the applied step; those that arrived since belong to the next one.
      cell.inputs.splice(0, taken);
      const verdict = {
        ok: true,
        killed: [],
        sent: [],
        met: step.waits_for ?? [],
        budgets: new Map(),
        tree,
      } as const;
      accepted({ cell, made, step }, verdict);
    } else if (is_mine && conversation !== undefined && !isTerminal(agent.state.type))
      adopt(agent, conversation.messages, conversation.mail);
    else drop(cell);
    // The step may have been applied before another process took over: the agents that it wrote to or killed may be led here.
    await this.#ask(async () => {
      if (agent === null) await sync.checkAgent(id);
      if (!is_mine || step.kill.length > 0) await sync.checkTree(root_id);
      for (const to of new Set([id, ...step.send.map((one) => one.to_id)])) await sync.checkMail(to);
    });
  }

  /** Retries until the ledger can be reached; null if closed meanwhile. */
  #ask<T>(question: (store: Store) => Promise<T>): Promise<{ readonly answer: T } | null> {
    const { store } = this.#options;
    const ask = () => question(store);
    return retryUntilReachable(this.#options, ask, () => this.#closed);
  }
}

/**
 * Whether a step whose acknowledgement was lost is in the ledger. A step without messages does not change
 * `last_seq`, so its state is compared; if it does not change the state either, it counts as not applied.
 */
export function wasApplied(step: Step, before: Agent, now: Agent): boolean {
  if (now.last_seq !== step.base_seq + step.messages.length) return false;
  if (step.messages.length > 0) return true;
  return !sameData(step.state, before.state) && sameData(step.state, now.state);
}

/** Compares as JSON, because the ledger stores states so. */
function sameData(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
}
