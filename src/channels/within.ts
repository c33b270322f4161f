/**
 * What `work` comes to, or why it was not waited for any longer: the signal aborted, or `limit_ms` passed. The work itself goes on
 * then, so it must not reject.
 */
export function within<T>(
  work: Promise<T>,
  signal: AbortSignal,
  limit_ms: number,
): Promise<
  { readonly type: 'done'; readonly value: T } | { readonly type: 'aborted' } | { readonly type: 'late' }
> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ type: 'aborted' });
    const leave = (type: 'aborted' | 'late') => () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve({ type });
    };
    const abort = leave('aborted');
    const timer = setTimeout(leave('late'), limit_ms);
    signal.addEventListener('abort', abort, { once: true });
    void work.then((value) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve({ type: 'done', value });
    });
  });
}
