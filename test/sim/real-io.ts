import { createHook } from 'node:async_hooks';

/** What ends when the machine gets to it, in an order that no seed decides. */
const REAL_IO = /^(FSREQ|PROCESSWRAP|GETADDRINFO|TCP|ZLIB)/;

/** Tells of all real input and output that begins, with where it began, until the result is called. Ledgers in SQLite have none: they answer at once. */
export function watchRealIo(onBegin: (error: Error) => void): () => void {
  const hook = createHook({
    init(_, type) {
      if (REAL_IO.test(type)) onBegin(new Error(type));
    },
    trackPromises: false,
  });
  hook.enable();
  return () => hook.disable();
}
