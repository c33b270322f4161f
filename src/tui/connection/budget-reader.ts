import { budgetDocument } from '../../documents/budget-json.ts';
import type { AppContext } from '../app-context.ts';

/** Throttle: minimum time between two reads while agents spend. */
const READ_MS = 1_000;

/** Reads what is left of the budgets of the root and of the agent in view, for the meter, soon after something was spent. */
export class BudgetReader {
  readonly #app: AppContext;
  #timer: NodeJS.Timeout | null = null;
  /** The agent in view at the last read. */
  #view: string | null = null;

  constructor(app: AppContext) {
    this.#app = app;
  }

  /** Reads at once if another agent has come into view. */
  look(): void {
    const { view } = this.#app.state;
    if (view === this.#view) return;
    this.#view = view;
    void this.#read();
  }

  /** Schedules a read: something was spent, or a budget may have changed. */
  spent(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#read();
    }, READ_MS).unref();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #read(): Promise<void> {
    const { store, state } = this.#app;
    const { view, root_id } = state;
    const [root, agent] = [root_id, view].map((id) => (id === null ? undefined : state.agents.get(id)));
    if (root === undefined) return;
    const read = agent === undefined || agent === root ? [root] : [root, agent];
    const budgets = await Promise.all(read.map((one) => budgetDocument(store, one))).catch(() => null);
    const is_current = this.#app.state.root_id === root_id && this.#app.state.view === view;
    if (budgets !== null && is_current) this.#app.dispatch({ type: 'budgets', budgets });
  }
}
