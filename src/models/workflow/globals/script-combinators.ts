/**
 * Makes `parallel` and `pipeline`. Like `installGlobals`, its text is run inside the interpreter, so it uses nothing from outside. `dropped` reports what an entry threw.
 */
export function makeCombinators(dropped: (what: string, error: unknown) => void) {
  const ENTRIES_MAX = 4096;
  const PlainPromise = Promise;
  const list = (given: unknown, what: string): readonly unknown[] => {
    if (!Array.isArray(given)) throw new TypeError(`${what} needs a list`);
    const { length } = given as unknown[];
    if (length > ENTRIES_MAX)
      throw new RangeError(`${what} takes ${ENTRIES_MAX} entries at most, and was given ${length}`);
    return [...(given as unknown[])];
  };
  /** What the entry gives, or null if it throws. */
  const orNull = async (what: string, entry: () => unknown) => {
    try {
      return await entry();
    } catch (error) {
      dropped(what, error);
      return null;
    }
  };
  const all = (work: readonly Promise<unknown>[]) =>
    new PlainPromise<unknown[]>((done) => {
      const results: unknown[] = [...work];
      let left = work.length;
      if (left === 0) done(results);
      for (let index = 0; index < work.length; index++)
        (async () => {
          results[index] = await work[index];
          if (--left === 0) done(results);
        })();
    });
  const parallel = async (thunks: unknown) =>
    all(
      list(thunks, 'parallel()').map((thunk, index) =>
        orNull(`parallel(): entry ${index} is null, because it`, async () =>
          typeof thunk === 'function' ? thunk() : thunk,
        ),
      ),
    );
  const pipeline = async (items: unknown, ...stages: unknown[]) => {
    const all_items = list(items, 'pipeline()');
    for (const stage of stages)
      if (typeof stage !== 'function') throw new TypeError('pipeline(): each stage is a function');
    return all(
      all_items.map((item, index) =>
        orNull(`pipeline(): entry ${index} is null, because it`, async () => {
          let previous = await item;
          for (const stage of stages)
            previous = await (stage as (...given: unknown[]) => unknown)(previous, item, index);
          return previous;
        }),
      ),
    );
  };

  return { orNull, parallel, pipeline };
}
