import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { Refusal, Step, Verdict } from '../../src/kernel/step.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import type { Store } from '../../src/store/store.ts';
import type { Faults } from './faults.ts';
import { HeldParks } from './held-parks.ts';
import { brokenNow } from './moment-laws.ts';
import type { Random } from './random.ts';
import { ClaimWatch } from './task-laws.ts';
import type { Trace } from './trace.ts';
import type { Actor, VirtualTime } from './virtual-time.ts';

/** Methods of the store that write. */
export const WRITES: ReadonlySet<string> = new Set([
  'createRoot',
  'commit',
  'send',
  'kill',
  'setLimits',
  'answer',
  'reap',
  'heartbeat',
  'release',
  'claim',
  'signals',
  'releaseTree',
  'unledTrees',
  'serveTree',
  'changeTasks',
]);
/** Methods after each of which the laws are checked. */
const WATCHED: ReadonlySet<string> = new Set([
  'createRoot',
  'commit',
  'send',
  'kill',
  'answer',
  'claim',
  'changeTasks',
]);
/** Maximum delay until another process notices a write, milliseconds. */
const POLL_MS = 20;

type Method = (...args: unknown[]) => Promise<unknown>;

/** A message of a step whose commit was acknowledged to its writer. */
export interface Promised {
  readonly agent_id: string;
  readonly seq: number;
  readonly content: string;
}

export interface LedgerSurroundings {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly faults: Faults;
  readonly random: Random;
  /** Whether the steps of a group are written in any order, parks are held back (`HeldParks`), and only workers with signals are woken. */
  readonly adverse: boolean;
}

/**
 * The one real ledger of a simulation. Executes the calls of the processes, keeps an independent record of what was written and acknowledged, checks
 * after every write the laws that must hold at any moment, and wakes the other processes.
 */
export class SimLedger {
  readonly store: Store;
  /** A separate connection, to read the rows as they are. */
  readonly database: DatabaseSync;
  readonly #around: LedgerSurroundings;
  readonly #listeners = new Map<Actor, { readonly worker: string; readonly wake: () => void }>();
  readonly #waking = new Set<Actor>();
  readonly refusals = new Map<Refusal['reason'], number>();
  readonly promised: Promised[] = [];
  readonly promised_mail = new Set<string>();
  /** How often each letter was consumed. */
  readonly consumed = new Map<string, number>();
  /** Number of agents ever created, by tree. */
  readonly created = new Map<string, number>();
  readonly removed = new Set<string>();
  readonly broken: string[] = [];
  readonly held_parks: HeldParks;
  /** Called after every write. */
  onWritten: () => void = () => undefined;
  steps = 0;
  commits = 0;
  /** Number of steps whose epoch was stale. */
  stale_epochs = 0;
  /** Virtual times, in milliseconds, until which the ledger is unreachable, and until which its disk is full. */
  down_until = 0;
  full_until = 0;

  readonly #claims = new ClaimWatch();

  constructor(store: Store, around: LedgerSurroundings) {
    this.store = store;
    this.database = new DatabaseSync(store.location);
    // Durability against power failure is not needed here.
    this.database.exec('PRAGMA synchronous = OFF');
    this.#around = around;
    this.held_parks = new HeldParks(this.database, around.time, around.random);
  }

  listen(actor: Actor, worker: string, wake: () => void): () => Promise<void> {
    this.#listeners.set(actor, { worker, wake });
    return async () => void this.#listeners.delete(actor);
  }

  async execute(actor: Actor, method: string, args: unknown[]): Promise<unknown> {
    if (method === 'commit' && this.#around.adverse) await this.held_parks.hold(args[0] as Step[]);
    const epochs = method === 'commit' ? this.#epochs(args[0] as Step[]) : [];
    const before = this.#dataVersion();
    const run = (this.store as unknown as Record<string, Method>)[method] as Method;
    let value =
      method === 'commit' ? await this.#commit(args[0] as Step[]) : await run.apply(this.store, args);
    if (method === 'commit') this.#record(actor, args[0] as Step[], value as Verdict[], epochs);
    else if (method === 'createRoot') await this.#begun((args[0] as Step['create'][number]).agent.root_id);
    else if (method === 'claim') value = this.#split(actor, value as Agent[]);
    if (method !== 'commit' && WATCHED.has(method)) this.#tell(actor, method, args, value);
    if (WATCHED.has(method)) this.broken.push(...brokenNow(this.database));
    if (method === 'changeTasks') this.broken.push(...this.#claims.look(this.database));
    this.onWritten();
    if (WRITES.has(method) && this.#dataVersion() !== before) this.#wakeOthers(actor);
    return value;
  }

  async #commit(steps: readonly Step[]): Promise<Verdict[]> {
    const { adverse, random } = this.#around;
    const order = steps.map((_, index) => index);
    if (adverse) random.shuffle(order);
    const verdicts = await this.store.commit(order.map((index) => steps[index] as Step));
    return steps.map((_, index) => verdicts[order.indexOf(index)] as Verdict);
  }

  /** Records what was acknowledged to the writer. */
  acknowledged(method: string, args: unknown[], value: unknown): void {
    if (method === 'send') {
      const sent = value as Awaited<ReturnType<Store['send']>>;
      if (sent.ok) this.promised_mail.add(sent.mail.id);
    }
    if (method !== 'commit') return;
    for (const [index, step] of (args[0] as Step[]).entries()) {
      if ((value as Verdict[])[index]?.ok !== true) continue;
      for (const mail of step.send) this.promised_mail.add(mail.id);
      for (const [place, message] of step.messages.entries())
        this.promised.push({
          agent_id: step.agent_id,
          seq: step.base_seq + 1 + place,
          content: JSON.stringify(message.content),
        });
    }
  }

  #dataVersion(): unknown {
    return (this.database.prepare('PRAGMA data_version').get() as { data_version: number }).data_version;
  }

  #epochs(steps: readonly Step[]): (number | undefined)[] {
    const select = this.database.prepare('SELECT epoch FROM agents WHERE id = ?');
    return steps.map((step) => (select.get(step.agent_id) as { epoch: number } | undefined)?.epoch);
  }

  #record(
    actor: Actor,
    steps: readonly Step[],
    verdicts: readonly Verdict[],
    epochs: readonly (number | undefined)[],
  ): void {
    this.commits += 1;
    for (const [index, step] of steps.entries()) {
      const verdict = verdicts[index] as Verdict;
      this.#around.trace.add(actor.name, stepLine(step, verdict));
      // An earlier step in the same commit may have ended this agent, which also increments its epoch.
      const is_stale = epochs[index] !== step.epoch;
      if (is_stale) this.stale_epochs += 1;
      if (!verdict.ok) {
        const { reason } = verdict.refusal;
        this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1);
        continue;
      }
      this.steps += 1;
      if (is_stale) this.broken.push(`law 8: a step of ${step.agent_id} with a stale epoch was taken`);
      this.#created(verdict.tree.root_id, step.create.length);
      for (const id of step.remove) this.removed.add(id);
      for (const { mail_id } of step.consume) {
        const times = (this.consumed.get(mail_id) ?? 0) + 1;
        this.consumed.set(mail_id, times);
        if (times > 1) this.broken.push(`law 6: the letter ${mail_id} was consumed ${times} times`);
      }
    }
  }

  /** Marks the tree as served: any process may lead it. */
  async #begun(root_id: string): Promise<void> {
    this.#created(root_id, 1);
    await this.store.serveTree(root_id);
  }

  #created(root_id: string, agents: number): void {
    this.created.set(root_id, (this.created.get(root_id) ?? 0) + agents);
  }

  /** Simulates another process that claimed some of the agents at the same time and then died. */
  #split(actor: Actor, agents: readonly Agent[]): Agent[] {
    const { faults, random } = this.#around;
    if (agents.length < 2 || !faults.strikes('claim-split', actor.name)) return [...agents];
    const free = this.database.prepare('UPDATE agents SET worker = NULL WHERE id = ?');
    return agents.filter((agent) => {
      const mine = random.chance(0.5);
      if (!mine) {
        free.run(agent.id);
        this.#isUnled(agent.id);
      }
      return mine;
    });
  }

  /** Simulates all leases expiring at once, and another process claiming some agents and releasing them again. */
  loseLeases(): void {
    this.database.prepare('UPDATE workers SET expires_at = ?').run(this.#around.time.now);
    const lose = this.database.prepare('UPDATE agents SET worker = NULL, epoch = epoch + 1 WHERE id = ?');
    const living = this.database
      .prepare("SELECT id FROM agents WHERE status NOT IN ('completed', 'failed', 'killed') ORDER BY rowid")
      .all();
    for (const { id } of living)
      if (this.#around.random.chance(0.4)) {
        lose.run(id as string);
        this.#isUnled(id as string);
      }
  }

  /** Lists the agent as unled and due, as a releasing process does, even if it has nothing to do. */
  #isUnled(id: string): void {
    this.database
      .prepare(
        `INSERT INTO unled (root_id, agent_id) SELECT root_id, id FROM agents WHERE id = ?
          ON CONFLICT DO UPDATE SET due_at = 0`,
      )
      .run(id);
  }

  #tell(actor: Actor, method: string, args: unknown[], value: unknown): void {
    const short =
      method === 'claim' ? (value as Agent[]).map(({ id, epoch }) => `${short8(id)}@${epoch}`) : '';
    if (method === 'claim' && short.length === 0) return;
    this.#around.trace.add(actor.name, `${method} ${short} ${digest([args.slice(0, 1), value])}`);
  }

  #wakeOthers(writer: Actor): void {
    const { time, faults, random, adverse } = this.#around;
    const signalled = adverse ? this.database.prepare('SELECT worker FROM signals').all() : [];
    const told = new Set(signalled.map((row) => row.worker));
    for (const [actor, { worker, wake }] of this.#listeners) {
      if (actor === writer || !actor.alive || this.#waking.has(actor)) continue;
      if (adverse && !told.has(worker)) continue;
      if (faults.strikes('wake-lost', actor.name)) continue;
      this.#waking.add(actor);
      time.after(random.between(1, POLL_MS), actor, () => {
        this.#waking.delete(actor);
        wake();
        if (faults.strikes('wake-doubled', actor.name)) wake();
      });
    }
  }

  /** Root ids, oldest first. */
  roots(): string[] {
    const rows = this.database.prepare('SELECT id FROM agents WHERE parent_id IS NULL ORDER BY rowid').all();
    return rows.map((row) => row.id as string);
  }

  /** Working agents, and unread mail of living agents; in words. */
  busy(): string[] {
    const working = this.database
      .prepare(
        "SELECT id, status, worker FROM agents WHERE status IN ('requesting', 'executing', 'awaiting', 'cancelling', 'waiting')",
      )
      .all();
    // Under the slash vocabulary an agent may leave letters unread once it was notified of them.
    const unread = this.database
      .prepare(
        `SELECT mail.kind, mail.number, agents.id, agents.status, agents.worker FROM mail JOIN agents ON agents.id = mail.to_id
          WHERE consumed_seq IS NULL AND agents.status NOT IN ('completed', 'failed', 'killed')
          AND NOT (mail.kind IN ('letter', 'report') AND mail.number <= agents.noticed)`,
      )
      .all();
    return [
      ...working.map((row) => `${row.id} is ${row.status}, led by ${row.worker}`),
      ...unread.map(
        (row) => `${row.kind} ${row.number} waits for ${row.id} (${row.status}), led by ${row.worker}`,
      ),
    ];
  }

  close(): void {
    this.database.close();
  }
}

function short8(id: string): string {
  return id.slice(0, 8);
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12);
}

function stepLine(step: Step, verdict: Verdict): string {
  const kinds = step.messages
    .map(({ kind, content }) => (kind === 'event' ? content.event : kind[0]))
    .join('');
  const extra = [
    step.create.length > 0 ? `create:${step.create.map(({ agent }) => short8(agent.id))}` : '',
    step.send.length > 0 ? `send:${step.send.map((mail) => `${mail.kind}>${short8(mail.to_id)}`)}` : '',
    step.consume.length > 0 ? `take:${step.consume.length}` : '',
    step.kill.length > 0 ? `kill:${step.kill.map(short8)}` : '',
  ].filter((text) => text !== '');
  const told = verdict.ok ? 'ok' : `REFUSED ${verdict.refusal.reason}`;
  return `step ${short8(step.agent_id)}@${step.epoch} ${step.base_seq}+${kinds} ${step.state.type} ${extra.join(' ')} ${digest(step)} ${told}`;
}
