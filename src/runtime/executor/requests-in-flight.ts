import { type Amounts, DIMENSIONS, type Dimension, NOTHING, TOLERANCE } from '../../records/agent/budget.ts';

/** A model request whose usage is not in the ledger yet. */
export interface Flight {
  /** Records the actual usage of the answered request. */
  used(amounts: Amounts): void;
  /** Called when the ledger has the usage, or there was none. Idempotent. */
  end(): void;
}

/** Where each dimension of a request is charged first: the id of an agent with a budget, or of a root. */
export type Charged = { readonly [Name in Dimension]: string };

/** Usage of this process's requests that is not in the ledger yet: sums by budget, whose number does not depend on that of agents. */
export class RequestsInFlight {
  readonly #sums = new Map<string, Amounts>();
  /** Usage of the newest answered request, by root id. */
  readonly #newest = new Map<string, Amounts>();

  /** Expected usage of a request of the tree. */
  usual(root_id: string): Amounts {
    return this.#newest.get(root_id) ?? NOTHING;
  }

  of(charged: string): Amounts {
    return this.#sums.get(charged) ?? NOTHING;
  }

  begin(root_id: string, charged: Charged, expected = this.usual(root_id)): Flight {
    let amounts: Amounts = NOTHING;
    const become = (next: Amounts): void => {
      for (const name of DIMENSIONS) this.#add(charged[name], name, next[name] - amounts[name]);
      amounts = next;
    };
    become(expected);
    return {
      used: (used) => {
        become(used);
        this.#newest.set(root_id, used);
      },
      end: () => become(NOTHING),
    };
  }

  forget(root_id: string): void {
    this.#newest.delete(root_id);
  }

  #add(charged: string, name: Dimension, amount: number): void {
    const after = { ...this.of(charged), [name]: this.of(charged)[name] + amount };
    // Floating-point sums seldom return to exactly zero.
    if (DIMENSIONS.every((one) => Math.abs(after[one]) < TOLERANCE)) this.#sums.delete(charged);
    else this.#sums.set(charged, after);
  }
}
