import type { Store } from '../../../src/store/store.ts';

/** What something did to the ledger. */
export type Touch = 'reads' | 'writes' | null;

/** They change nothing. */
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

/** Calls to a ledger, made one at a time in the order in which they are asked for, so that the same is answered to the same on every database. */
export class LedgerCalls {
  /** Set to null by whoever wants to know what is touched from then on. */
  touched: Touch = null;
  #last: Promise<unknown> = Promise.resolve();
  #open = 0;

  /** The store, each call to which is made here. */
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

  /** Every promise that is settled has its say, and every call is done. */
  async settled(): Promise<void> {
    do {
      await this.#last;
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#open > 0);
  }
}
