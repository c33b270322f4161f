import type { Model } from '../models/model.ts';

/** The models of one process, each opened once. */
export class ModelShelf {
  readonly #open: (name: string) => Promise<Model>;
  readonly #models = new Map<string, Promise<Model>>();

  constructor(open: (name: string) => Promise<Model>) {
    this.#open = open;
  }

  /** Rejects with a `CoppiceError`. */
  model(name: string): Promise<Model> {
    let model = this.#models.get(name);
    if (model === undefined) {
      model = this.#open(name);
      this.#models.set(name, model);
      // A model that could not be opened may be there at the next try: a key was set, a file mended.
      model.catch(() => this.#models.delete(name));
    }
    return model;
  }

  /** Ends what models keep running. */
  async close(): Promise<void> {
    const models = [...this.#models.values()];
    this.#models.clear();
    await Promise.all(models.map((model) => model.then((one) => one.close?.()).catch(() => undefined)));
  }
}
