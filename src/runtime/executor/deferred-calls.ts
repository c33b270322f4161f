import { type Need, type NeedAnswer, needKey } from '../../kernel/toolsets/toolset.ts';
import type { Advance, DeferredCall } from '../../kernel/turn/advance-result.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Call } from '../../records/agent/state.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import type { Store } from '../../store/store.ts';
import type { Cell } from './cell.ts';
import type { ExecutorOptions } from './executor-options.ts';
import { retryUntilReachable } from './ledger-retry.ts';

export interface DeferredCallsOptions extends Pick<ExecutorOptions, 'store' | 'emit' | 'clock'> {
  /** Takes over what the ledger says of an agent. */
  readonly learn: (agent: Agent) => void;
  /** Takes over mail of the agent that its signal has not brought yet. */
  readonly readMail: (cell: Cell) => Promise<void>;
  /** Finds out one thing about the world for a call. Never rejects. */
  readonly resolveNeed: (agent: Agent, need: Need) => Promise<NeedAnswer>;
  /** Nobody will work in this worktree. */
  readonly discard: (worktree: Worktree) => void;
  /** The call may be decoded again. */
  readonly again: (cell: Cell, call: Call) => void;
}

/** Calls of toolsets that could not be decided at once: names are looked up in the ledger, needs found out, then they come again. */
export class DeferredCalls {
  readonly #options: DeferredCallsOptions;

  constructor(options: DeferredCallsOptions) {
    this.#options = options;
  }

  /** After a step: what was found out for calls that it decided is done with, the others are made ready. */
  settle(cell: Cell, { answered, unused, deferred }: Advance): void {
    for (const worktree of unused) this.#options.discard(worktree);
    for (const key of answered) cell.answers.delete(key);
    // One look at the tree serves all calls of one step.
    const surveyed = deferred.some(({ survey }) => survey) ? this.#survey(cell) : null;
    const looking: Promise<void>[] = [];
    for (const one of deferred) {
      const { call, look_up, needs, survey, last } = one;
      const decide = () => this.#options.again(cell, call);
      if (last === true && looking.length > 0) void Promise.all(looking).then(decide);
      else if (survey || look_up.length > 0 || needs.length > 0)
        looking.push(this.#ready(cell, one, surveyed).then(decide));
      else decide();
    }
  }

  async #ready(
    cell: Cell,
    { call, look_up, needs, survey }: DeferredCall,
    surveyed: Promise<void> | null,
  ): Promise<void> {
    const found = Promise.all(
      needs.map(async (need) => [needKey(need), await this.#options.resolveNeed(cell.agent, need)] as const),
    );
    await Promise.all([survey ? surveyed : null, ...look_up.map((text) => this.#lookUp(cell, text))]);
    // All at once: a call that was stopped meanwhile leaves either nothing or everything.
    for (const [key, answer] of await found) {
      if (!cell.gone) cell.answers.set(key, answer);
      else if (answer.ok && answer.worktree !== undefined) this.#options.discard(answer.worktree);
    }
    // It holds for this call only: others change the tree before the next one.
    if (survey) cell.surveyed.add(call.id);
  }

  async #lookUp(cell: Cell, text: string): Promise<void> {
    const { learn } = this.#options;
    await this.#ask(cell, async (store) => {
      for (const agent of await store.find(text, cell.agent.root_id)) learn(agent);
    });
    cell.looked_up.add(text);
  }

  async #survey(cell: Cell): Promise<void> {
    const { learn, readMail } = this.#options;
    await this.#ask(cell, async (store) => {
      for (const agent of await store.agents({ root_id: cell.agent.root_id })) learn(agent);
      // Whoever was seen at rest may have written before that: the call must not see the one without the other.
      await readMail(cell);
    });
  }

  /** A call waits for a ledger that cannot be reached, for as long as somebody waits for the call. */
  async #ask(cell: Cell, question: (store: Store) => Promise<void>): Promise<void> {
    const { store } = this.#options;
    await retryUntilReachable(
      this.#options,
      () => question(store),
      () => cell.gone,
    );
  }
}
