const MAX_BATCH = 200;

interface Waiting<In, Out> {
  readonly input: In;
  readonly resolve: (output: Out) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit for single calls: those made at the same moment, or while a batch is under way, share the next batch and its one durable commit. Each call
 * resolves to its own output, in order; a batch that fails rejects all of its calls.
 */
export class Batcher<In, Out> {
  readonly #commit: (inputs: readonly In[]) => Promise<readonly Out[]>;
  readonly #waiting: Waiting<In, Out>[] = [];
  #is_committing = false;

  constructor(commit: (inputs: readonly In[]) => Promise<readonly Out[]>) {
    this.#commit = commit;
  }

  add(input: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      if (!this.#is_committing) void this.#commitAll();
    });
  }

  async #commitAll(): Promise<void> {
    this.#is_committing = true;
    // Calls made in this tick join the first batch.
    await null;
    while (this.#waiting.length > 0) await this.#commitBatch(this.#waiting.splice(0, MAX_BATCH));
    this.#is_committing = false;
  }

  async #commitBatch(batch: readonly Waiting<In, Out>[]): Promise<void> {
    try {
      const outputs = await this.#commit(batch.map(({ input }) => input));
      for (const [index, { resolve }] of batch.entries()) resolve(outputs[index] as Out);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
