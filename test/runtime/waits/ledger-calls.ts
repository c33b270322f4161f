import type { Store } from '../../../src/store/store.ts';

/** How an event accessed the ledger. */
export type Touch = 'reads' | 'writes' | null;

/** Methods that change nothing. */
const READS: ReadonlySet<string> = new Set([
  'tree',
  'agent',
  'agents',
  'find',
  'history',
  'mail',
  'waiters',
  'unledTrees',
  'now',
]);

/** Serializes calls to a ledger in the order in which they are made, so that the same calls get the same answers on every database. */
export class LedgerCalls {
  /** Strongest access since it was last set to null; reset by the caller. */
  touched: Touch = null;
  #last: Promise<unknown> = Promise.resolve();
  #open = 0;

  /** Wraps a store so that all its calls are serialized here. */
  all(store: Store): Store {
    return new Proxy(store, {
      get: (target, method: string) => {
        const value = (target as unknown as Record<string, unknown>)[method];
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => this.#make(method, () => Reflect.apply(value, target, args));
      },
    });
  }

  #make<T>(method: string, call: () => Promise<T>): Promise<T> {
    if (!READS.has(method)) this.touched = 'writes';
    else this.touched ??= 'reads';
    this.#open += 1;
    const answer = this.#last.then(call);
    const done = () => {
      this.#open -= 1;
    };
    this.#last = answer.then(done, done);
    return answer;
  }

  /** Resolves when no call is open and callbacks of settled promises have run. */
  async settled(): Promise<void> {
    do {
      await this.#last;
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#open > 0);
  }
}
