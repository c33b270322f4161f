/** So many at most share one transaction. */
const MOST = 200;

interface Waiting<In, Out> {
  readonly input: In;
  readonly resolve: (output: Out) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Calls that are made at the same moment, or while others are under way, done in one go: one durable commit for all of them. Each is answered when its
 * own has been done, in order; a go that fails fails for all that were in it.
 */
export class Together<In, Out> {
  readonly #work: (inputs: readonly In[]) => Promise<readonly Out[]>;
  readonly #waiting: Waiting<In, Out>[] = [];
  #is_working = false;

  constructor(work: (inputs: readonly In[]) => Promise<readonly Out[]>) {
    this.#work = work;
  }

  do(input: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      if (!this.#is_working) void this.#workAll();
    });
  }

  async #workAll(): Promise<void> {
    this.#is_working = true;
    // Whoever calls at this very moment comes along.
    await null;
    while (this.#waiting.length > 0) await this.#workSome(this.#waiting.splice(0, MOST));
    this.#is_working = false;
  }

  async #workSome(some: readonly Waiting<In, Out>[]): Promise<void> {
    try {
      const outputs = await this.#work(some.map(({ input }) => input));
      for (const [index, { resolve }] of some.entries()) resolve(outputs[index] as Out);
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }
}
