import { type Amounts, DIMENSIONS, type Dimension, DUST, NOTHING } from '../../records/agent/budget.ts';

/** One request whose use the ledger does not have yet. */
export interface Flight {
  /** It was answered: what it really used. */
  used(amounts: Amounts): void;
  /** The ledger has it, or it used nothing. Idempotent. */
  end(): void;
}

/** What each dimension of a request is charged to first: the id of an agent with a budget, or of a root. */
export type Charged = { readonly [Name in Dimension]: string };

/** What this process has asked models for and the ledger has not counted yet: sums by budget, whatever the number of agents. */
export class RequestsInFlight {
  readonly #sums = new Map<string, Amounts>();
  /** What the newest answered request of a tree used. */
  readonly #newest = new Map<string, Amounts>();

  /** What a request of the tree will probably use. */
  usual(root_id: string): Amounts {
    return this.#newest.get(root_id) ?? NOTHING;
  }

  of(charged: string): Amounts {
    return this.#sums.get(charged) ?? NOTHING;
  }

  begin(root_id: string, charged: Charged): Flight {
    let amounts: Amounts = NOTHING;
    const become = (next: Amounts): void => {
      for (const name of DIMENSIONS) this.#add(charged[name], name, next[name] - amounts[name]);
      amounts = next;
    };
    become(this.usual(root_id));
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
    // Sums of binary fractions seldom return to zero.
    if (DIMENSIONS.every((one) => Math.abs(after[one]) < DUST)) this.#sums.delete(charged);
    else this.#sums.set(charged, after);
  }
}
