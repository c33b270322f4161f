import { createHook } from 'node:async_hooks';

/** Asynchronous resources whose completion order depends on the machine instead of the seed. */
const REAL_IO = /^(FSREQ|PROCESSWRAP|GETADDRINFO|TCP|ZLIB)/;

/** Reports the start of each real I/O operation, with its stack, until the returned function is called. SQLite ledgers cause none: they are synchronous. */
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
