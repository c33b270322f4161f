/** Waits for `work` until the signal aborts, then for what `instead` returns or throws; `work` itself goes on. */
export function unlessAborted<Value, Other>(
  work: Promise<Value>,
  signal: AbortSignal,
  instead: () => Other,
): Promise<Value | Other> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const abort = () => resolve();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted.then(instead)]).finally(() =>
    signal.removeEventListener('abort', abort),
  );
}
