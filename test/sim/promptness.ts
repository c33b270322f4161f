import type { Agent } from '../../src/records/agent/agent.ts';
import { isTerminal, type WaitSpec } from '../../src/records/agent/state.ts';
import { isNeeded } from '../../src/records/conversation/wait.ts';
import { agentOf, mailOf, type Row } from '../../src/store/ledger/rows.ts';
import { hasUnread, isAtRest, WORKING } from '../../src/store/ledger/sql-conditions.ts';
import type { SimLedger } from './sim-ledger.ts';
import type { VirtualTime } from './virtual-time.ts';

export const PROMPT_KINDS = [
  'wait',
  'fan-in',
  'delegated call',
  'letter',
  'announcement',
  'queued run',
] as const;
export type PromptKind = (typeof PROMPT_KINDS)[number];

/** Something that could continue according to the ledger. */
interface Ripe {
  readonly kind: PromptKind;
  /** Which agent waits for what, in words. */
  readonly what: string;
  readonly agent: Agent;
}

export interface PromptLimits {
  readonly within_ms: number;
  /** Maximum background runs of one tree at once. */
  readonly runs_per_tree: number;
}

/**
 * The law of promptness: a parked wait whose condition holds in the ledger, an agent at rest with mail, and a queued run for which there is a free place
 * continue within `within_ms`, without a timeout and without a poll.
 */
export class Promptness {
  readonly #ledger: Pick<SimLedger, 'database' | 'held_parks'>;
  readonly #time: VirtualTime;
  readonly limits: PromptLimits;
  readonly #since = new Map<string, { readonly at: number; readonly kind: PromptKind }>();
  /** Number of waits that continued once they could, by kind. */
  readonly ended = new Map<PromptKind, number>();

  constructor(ledger: Pick<SimLedger, 'database' | 'held_parks'>, time: VirtualTime, limits: PromptLimits) {
    this.#ledger = ledger;
    this.#time = time;
    this.limits = limits;
  }

  /** Whether anything could continue. */
  get areRipe(): boolean {
    return this.#since.size > 0;
  }

  /** Checks the ledger; returns what could have continued for too long but has not, in words. */
  look(): string[] {
    const ripe = this.#ripe();
    const keys = new Set(ripe.map(keyOf));
    for (const [key, { kind }] of this.#since)
      if (!keys.has(key)) {
        this.#since.delete(key);
        this.ended.set(kind, (this.ended.get(kind) ?? 0) + 1);
      }
    return ripe.flatMap((one) => {
      const { worker } = one.agent;
      const known = this.#since.get(keyOf(one));
      const { held_parks } = this.#ledger;
      const at =
        known === undefined || held_parks.isHeld(worker)
          ? this.#time.now
          : Math.max(known.at, held_parks.releasedAt(worker));
      this.#since.set(keyOf(one), { at, kind: one.kind });
      if (worker === null && !this.#isCalledFor(one.agent)) return [`nobody is called for: ${one.what}`];
      return worker !== null && this.#time.now - at > this.limits.within_ms
        ? [`promptness: ${one.what}, and it held for more than ${this.limits.within_ms} ms`]
        : [];
    });
  }

  #ripe(): Ripe[] {
    const parked = this.#agents("status IN ('executing', 'awaiting', 'cancelling', 'waiting')");
    const told = this.#agents(`status IN ('idle', 'errored') AND ${hasUnread('agents')}`);
    return [...parked.flatMap((agent) => this.#met(agent)), ...told.flatMap((agent) => this.#news(agent))];
  }

  /** Waits of a parked agent whose condition holds. */
  #met(agent: Agent): Ripe[] {
    const { state, id } = agent;
    const ripe = (kind: PromptKind, what: string): Ripe => ({ kind, what: `${id} ${what}`, agent });
    const mail = this.#rows('SELECT kind, from_id FROM mail WHERE to_id = ? AND consumed_seq IS NULL', id);
    const letters = mail.filter(({ kind }) => kind === 'letter' || kind === 'report');
    const hasOutcome = (child: string) => mail.some((one) => one.kind === 'outcome' && one.from_id === child);
    const isAnswered = (target: string) =>
      letters.some(({ kind, from_id }) => kind === 'letter' && from_id === target) || this.#rests(target);
    const met = (from: readonly string[] | null, heard: readonly Row[]) => {
      if (from === null)
        return heard.length > 0 ? [ripe('wait', 'waits for a letter, and one is there')] : [];
      return from.every(isAnswered)
        ? [ripe('wait', `waits for ${from}, who rest, have ended or have written`)]
        : [];
    };
    switch (state.type) {
      case 'awaiting':
      case 'cancelling':
        return state.pending
          .filter(hasOutcome)
          .map((child) => ripe('fan-in', `awaits ${child}, whose outcome is there`));
      case 'waiting':
        return met(
          state.wait.from,
          letters.filter(({ from_id }) => from_id !== null),
        );
      case 'executing':
        return state.running.flatMap(({ wait, child }) => {
          if (wait !== undefined) return [...met(wait.from, letters), ...this.#needed(agent, wait)];
          return child !== undefined && hasOutcome(child)
            ? [ripe('delegated call', `calls ${child}, whose outcome is there`)]
            : [];
        });
      default:
        return [];
    }
  }

  /** Whether the ledger says that somebody needs the waiter: a circle of waits, a question, a stranger's letter. */
  #needed(agent: Agent, wait: WaitSpec): Ripe[] {
    const mail = (to: string) =>
      this.#rows('SELECT * FROM mail WHERE to_id = ? AND consumed_seq IS NULL', to).map(mailOf);
    const heard = (to: string, from: string) =>
      mail(to).some((one) => one.kind === 'letter' && one.from_id === from);
    const waiters = this.#rows('SELECT waiter FROM wait_edges WHERE target = ?', agent.id);
    const view = {
      ...{
        now: this.#time.now,
        self: agent.id,
        inbox: mail(agent.id),
        members: () => [],
        hasRun: () => false,
      },
      agent: (id: string) => this.#rows('SELECT * FROM agents WHERE id = ?', id).map(agentOf)[0],
      hasLetterFrom: (id: string) => heard(agent.id, id),
      hasMail: ({ id }: Agent, from?: string) => from !== undefined && heard(id, from),
    };
    return wait.from?.length &&
      isNeeded(
        wait,
        view,
        waiters.map(({ waiter }) => String(waiter)),
      )
      ? [{ kind: 'wait', what: `${agent.id} waits for ${wait.from}, and somebody needs it`, agent }]
      : [];
  }

  /** Mail of an agent at rest that starts a turn; a task does so only when there is a free place for a run. */
  #news(agent: Agent): Ripe[] {
    const { id, root_id, origin } = agent;
    const kinds = this.#rows('SELECT kind FROM mail WHERE to_id = ? AND consumed_seq IS NULL', id);
    const has = (kind: string) => kinds.some((one) => one.kind === kind);
    if (!has('task'))
      return has('announce')
        ? [{ kind: 'announcement', what: `${id} rests, and the end of a run is announced to it`, agent }]
        : [{ kind: 'letter', what: `${id} rests, and a letter is there`, agent }];
    if (origin !== 'session') return [];
    const at_work = this.#rows(
      `SELECT id FROM agents WHERE root_id = ? AND origin = 'session' AND ${WORKING}`,
      root_id,
    );
    // If several are queued, any may start; whenever one does, the time limit starts again for the others.
    const place = at_work.map((one) => one.id);
    return at_work.length < this.limits.runs_per_tree
      ? [
          {
            kind: 'queued run',
            what: `${id} is queued, and only ${place.length} runs are at work (${place})`,
            agent,
          },
        ]
      : [];
  }

  #rests(id: string): boolean {
    const [row] = this.#rows(`SELECT *, ${isAtRest('agents')} AS rests FROM agents WHERE id = ?`, id);
    if (row === undefined || isTerminal(agentOf(row).state.type)) return true;
    // The end of its background run will wake it.
    const runs = this.#rows("SELECT * FROM agents WHERE parent_id = ? AND origin = 'session'", id);
    return row.rests === 1 && runs.every((run) => isTerminal(agentOf(run).state.type));
  }

  /** Whether the agent is listed as unled and due, so that a server finds it at its next look. */
  #isCalledFor({ id }: Agent): boolean {
    const [row] = this.#rows('SELECT due_at FROM unled WHERE agent_id = ?', id);
    return row !== undefined && (row.due_at as number) <= this.#time.now;
  }

  #agents(condition: string): Agent[] {
    return this.#rows(`SELECT * FROM agents WHERE ${condition}`).map(agentOf);
  }

  #rows(sql: string, ...values: readonly string[]): Row[] {
    return this.#ledger.database.prepare(sql).all(...values) as Row[];
  }
}

/** Key of a wait; its time limit starts again when the waiting agent gets another leader or a new message. */
function keyOf({ what, agent }: Ripe): string {
  return `${what} ${agent.worker} ${agent.epoch} ${agent.last_seq}`;
}
