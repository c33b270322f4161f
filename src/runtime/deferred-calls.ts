import type { Agent } from '../core/agent.ts';
import type { Call } from '../core/state.ts';
import type { Store } from '../store/store.ts';
import { type Need, type NeedAnswer, needKey } from '../toolsets/need.ts';
import type { Cell } from './cell.ts';
import type { Draft } from './draft.ts';

export interface DeferredCallsOptions {
  readonly store: Store;
  /** Takes over what the ledger says of an agent. */
  readonly learn: (agent: Agent) => void;
  /** Finds out one thing about the world for a call. Never rejects. */
  readonly findOut: (agent: Agent, need: Need) => Promise<NeedAnswer>;
  /** The call may be decoded again. */
  readonly again: (cell: Cell, call: Call) => void;
}

/** Calls of toolsets that could not be decided at once: names are looked up in the ledger, needs found out, then they come again. */
export class DeferredCalls {
  readonly #options: DeferredCallsOptions;

  constructor(options: DeferredCallsOptions) {
    this.#options = options;
  }

  settle(cell: Cell, deferred: Draft['deferred']): void {
    for (const { call, look_up, needs } of deferred) {
      if (look_up.length === 0 && needs.length === 0) this.#options.again(cell, call);
      else void this.#ready(cell, look_up, needs).then(() => this.#options.again(cell, call));
    }
  }

  async #ready(cell: Cell, look_up: readonly string[], needs: readonly Need[]): Promise<void> {
    await Promise.all([
      this.#lookUp(cell, look_up),
      ...needs.map(async (need) => {
        cell.answers.set(needKey(need), await this.#options.findOut(cell.agent, need));
      }),
    ]);
  }

  /** Asks the ledger who is meant; `*` asks for everybody of the tree. */
  async #lookUp(cell: Cell, texts: readonly string[]): Promise<void> {
    const { store, learn } = this.#options;
    const root_id = cell.agent.root_id;
    for (const text of texts) {
      const found = await (text === '*' ? store.agents({ root_id }) : store.find(text, root_id)).catch(
        () => [],
      );
      for (const agent of found) learn(agent);
      if (text !== '*') cell.looked_up.add(text);
    }
    // The whole tree is asked for again at the next call: others change it.
    if (texts.includes('*')) {
      cell.looked_up.add('*');
      setImmediate(() => cell.looked_up.delete('*')).unref();
    }
  }
}
