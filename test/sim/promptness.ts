import type { DatabaseSync } from 'node:sqlite';
import type { Agent } from '../../src/records/agent/agent.ts';
import { isTerminal } from '../../src/records/agent/state.ts';
import { agentOf, type Row } from '../../src/store/ledger/rows.ts';
import { isAtRest } from '../../src/store/ledger/sql-conditions.ts';
import type { VirtualTime } from './virtual-time.ts';

interface Ripe {
  /** Who waits for what, in words. */
  readonly what: string;
  readonly agent: Agent;
}

/** The law of promptness: a parked wait whose condition holds in the ledger ends within so many milliseconds, without a timeout and without a poll. */
export class PromptWaits {
  readonly #database: DatabaseSync;
  readonly #time: VirtualTime;
  readonly within_ms: number;
  readonly #since = new Map<string, number>();
  #ended = 0;

  constructor(database: DatabaseSync, time: VirtualTime, within_ms: number) {
    this.#database = database;
    this.#time = time;
    this.within_ms = within_ms;
  }

  /** Waits whose condition held, and that ended. */
  get ended(): number {
    return this.#ended;
  }

  /** The condition of some wait holds. */
  get areRipe(): boolean {
    return this.#since.size > 0;
  }

  /** What goes on although its condition has held for too long, in words. */
  look(): string[] {
    const ripe = this.#ripe();
    const keys = new Set(ripe.map(keyOf));
    for (const key of this.#since.keys())
      if (!keys.has(key)) {
        this.#since.delete(key);
        this.#ended += 1;
      }
    return ripe.flatMap((one) => {
      const since = this.#since.get(keyOf(one)) ?? this.#time.now;
      this.#since.set(keyOf(one), since);
      if (one.agent.worker === null && !this.#isCalledFor(one.agent))
        return [`nobody is called for: ${one.what}`];
      return one.agent.worker !== null && this.#time.now - since > this.within_ms
        ? [`promptness: ${one.what}, and it held for more than ${this.within_ms} ms`]
        : [];
    });
  }

  #ripe(): Ripe[] {
    const at_work = this.#rows(
      "SELECT * FROM agents WHERE status IN ('executing', 'awaiting', 'cancelling', 'waiting')",
    );
    return at_work
      .map(agentOf)
      .flatMap((agent) => this.#met(agent).map((what) => ({ what: `${agent.id} ${what}`, agent })));
  }

  /** What its waits wait for and is there, in words. */
  #met(agent: Agent): string[] {
    const { state, id } = agent;
    const mail = this.#rows('SELECT kind, from_id FROM mail WHERE to_id = ? AND consumed_seq IS NULL', id);
    const letters = mail.filter(({ kind }) => kind === 'letter');
    const hasOutcome = (child: string) => mail.some((one) => one.kind === 'outcome' && one.from_id === child);
    if (state.type === 'awaiting' || state.type === 'cancelling')
      return state.pending.filter(hasOutcome).map((child) => `awaits ${child}, whose outcome is there`);
    const isAnswered = (target: string) =>
      letters.some(({ from_id }) => from_id === target) || this.#rests(target);
    const met = (from: readonly string[] | null, heard: readonly Row[]) =>
      from === null
        ? heard.length > 0 && 'waits for a letter, and one is there'
        : from.every(isAnswered) && `waits for ${from}, who rest, have ended or have written`;
    const all =
      state.type === 'waiting'
        ? [
            met(
              state.wait.from,
              letters.filter(({ from_id }) => from_id !== null),
            ),
          ]
        : state.type === 'executing'
          ? state.running.map(({ wait, child }) =>
              wait !== undefined
                ? met(wait.from, letters)
                : child !== undefined && hasOutcome(child) && `calls ${child}, whose outcome is there`,
            )
          : [];
    return all.filter((what) => what !== false);
  }

  #rests(id: string): boolean {
    const [row] = this.#rows(`SELECT *, ${isAtRest('agents')} AS rests FROM agents WHERE id = ?`, id);
    return row === undefined || isTerminal(agentOf(row).state.type) || row.rests === 1;
  }

  /** Whoever serves finds it at the next look. */
  #isCalledFor({ id }: Agent): boolean {
    const [row] = this.#rows('SELECT due_at FROM unled WHERE agent_id = ?', id);
    return row !== undefined && (row.due_at as number) <= this.#time.now;
  }

  #rows(sql: string, ...values: readonly string[]): Row[] {
    return this.#database.prepare(sql).all(...values) as Row[];
  }
}

/** It begins anew with whoever leads the waiter. */
function keyOf({ what, agent }: Ripe): string {
  return `${what} ${agent.worker} ${agent.epoch} ${agent.last_seq}`;
}
