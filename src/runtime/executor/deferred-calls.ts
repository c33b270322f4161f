import { type Need, type NeedAnswer, needKey } from '../../kernel/toolsets/toolset.ts';
import type { Advance, DeferredCall } from '../../kernel/turn/advance-result.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Call } from '../../records/agent/state.ts';
import type { TaskAnswer } from '../../records/run/listed-task.ts';
import type { Store } from '../../store/store.ts';
import type { Cell } from './cell.ts';
import type { ExecutorOptions } from './executor-options.ts';
import { retryUntilReachable } from './ledger-retry.ts';

export interface DeferredCallsOptions
  extends Pick<ExecutorOptions, 'store' | 'emit' | 'clock' | 'mayCreate' | 'resolveNeed' | 'discard'> {
  /** Updates what is known of agents from a read of the ledger. */
  readonly learn: (agents: readonly Agent[]) => Promise<void>;
  /** Reads the agent's mail from the ledger, including mail that was not signalled yet. */
  readonly readMail: (cell: Cell) => Promise<void>;
  /** Called when the call can be decided. */
  readonly retry: (cell: Cell, call: Call) => void;
}

const NOBODY_LEADS = { ok: false, error: 'this process no longer leads this conversation' } as const;

/** Prepares calls of toolsets that could not be decided at once: looks up names in the ledger, resolves needs outside it, then retries the call. */
export class DeferredCalls {
  readonly #options: DeferredCallsOptions;
  readonly #tasks = new WeakMap<Cell, Promise<unknown>>();

  constructor(options: DeferredCallsOptions) {
    this.#options = options;
  }

  /** After a step: drops the answers of calls that it decided, prepares the calls that it deferred. */
  settle(cell: Cell, { answered, unused, deferred }: Advance): void {
    for (const worktree of unused) this.#options.discard(worktree);
    for (const key of answered) cell.answers.delete(key);
    // All calls of a step share one survey of the tree.
    const surveyed = deferred.some(({ survey }) => survey) ? this.#survey(cell) : null;
    const under_way: Promise<void>[] = [];
    for (const one of deferred) {
      const { call, look_up, needs, survey, last } = one;
      const decide = () => this.#options.retry(cell, call);
      if (last === true && under_way.length > 0) void Promise.all(under_way).then(decide);
      else if (survey || look_up.length > 0 || needs.length > 0)
        under_way.push(this.#prepare(cell, one, surveyed).then(decide));
      else decide();
    }
  }

  async #prepare(
    cell: Cell,
    { call, look_up, needs, survey }: DeferredCall,
    surveyed: Promise<void> | null,
  ): Promise<void> {
    const found = Promise.all(
      needs.map(async (need) => {
        return [needKey(need), await this.#answer(cell, need)] as const;
      }),
    );
    await Promise.all([survey ? surveyed : null, ...look_up.map((text) => this.#lookUp(cell, text))]);
    // Stored together: a call that is stopped meanwhile leaves either all of its answers or none.
    for (const [key, answer] of await found) {
      if (!cell.gone) cell.answers.set(key, answer);
      else if (answer.ok && answer.worktree !== undefined) this.#options.discard(answer.worktree);
    }
    // Valid for this call only: other processes may change the tree before the next one.
    if (survey) cell.surveyed.add(call.id);
  }

  #answer(cell: Cell, need: Need): Promise<NeedAnswer> {
    if (need.type === 'tasks') return this.#askTasks(cell, need);
    if (need.type === 'creation') return this.#askCreation(cell, need);
    return this.#options.resolveNeed(cell.agent, need);
  }

  async #askCreation(cell: Cell, need: Extract<Need, { type: 'creation' }>): Promise<NeedAnswer> {
    let answer: NeedAnswer = NOBODY_LEADS;
    await this.#ask(cell, async () => {
      answer = await this.#options.mayCreate(cell.agent, need);
    });
    return answer;
  }

  async #lookUp(cell: Cell, text: string): Promise<void> {
    const { learn } = this.#options;
    await this.#ask(cell, async (store) => {
      await learn(await store.find(text, cell.agent.root_id));
    });
    cell.looked_up.add(text);
  }

  /** Sequential, because the calls of a message take effect in their order. */
  #askTasks(cell: Cell, { call_id, order }: Extract<Need, { type: 'tasks' }>): Promise<NeedAnswer> {
    const answer = async (): Promise<NeedAnswer> => {
      let decided = NOBODY_LEADS as TaskAnswer;
      await this.#ask(cell, async (store) => {
        const { id: agent_id, root_id, epoch } = cell.agent;
        decided = await store.changeTasks({ agent_id, root_id, epoch, call_id }, order);
      });
      return decided.ok ? { ok: true, text: JSON.stringify(decided.output) } : decided;
    };
    const asked = (this.#tasks.get(cell) ?? Promise.resolve()).then(answer);
    this.#tasks.set(cell, asked);
    return asked;
  }

  async #survey(cell: Cell): Promise<void> {
    const { learn, readMail } = this.#options;
    await this.#ask(cell, async (store) => {
      await learn(await store.agents({ root_id: cell.agent.root_id }));
      // An agent that is at rest now may have sent mail before: the call must see both or neither.
      await readMail(cell);
    });
  }

  /** Retries while the ledger cannot be reached and the agent is led here. */
  async #ask(cell: Cell, question: (store: Store) => Promise<void>): Promise<void> {
    const { store } = this.#options;
    await retryUntilReachable(
      this.#options,
      () => question(store),
      () => cell.gone,
    );
  }
}
