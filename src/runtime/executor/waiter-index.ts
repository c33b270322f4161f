/** Wait-for edges between the agents known here: when a target comes to rest, its waiters are woken. */
export class WaiterIndex {
  readonly #waiters = new Map<string, Set<string>>();

  /** Replaces the targets of one waiter; returns the new ones. */
  set(waiter: string, before: readonly string[], after: readonly string[]): readonly string[] {
    for (const target of before) {
      const waiters = this.#waiters.get(target);
      waiters?.delete(waiter);
      if (waiters?.size === 0) this.#waiters.delete(target);
    }
    for (const target of after) {
      const waiters = this.#waiters.get(target);
      if (waiters === undefined) this.#waiters.set(target, new Set([waiter]));
      else waiters.add(waiter);
    }
    const known = new Set(before);
    return after.filter((target) => !known.has(target));
  }

  of(target: string): Iterable<string> {
    return this.#waiters.get(target) ?? [];
  }
}
