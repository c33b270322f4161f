/**
 * What is read for each of `all`, in their order, while so many more are being read already: one way to the ledger and back is not waited for
 * after the other. A failure is told with the one it belongs to.
 */
export async function* readAhead<T, R>(
  all: readonly T[],
  read: (one: T) => Promise<R>,
  ahead: number,
): AsyncGenerator<readonly [T, PromiseSettledResult<R>]> {
  const under_way: Promise<PromiseSettledResult<R>>[] = [];
  for (const [index, one] of all.entries()) {
    for (const next of all.slice(index + under_way.length, index + 1 + ahead))
      under_way.push(Promise.allSettled([read(next)]).then(([result]) => result));
    const result = await under_way.shift();
    if (result !== undefined) yield [one, result];
  }
}
