import { killAllProcessGroups } from '../../processes/process-group.ts';
import type { Store } from '../../store/store.ts';

/** Time after which even the pauses and connection attempts of an unreachable database are over. */
const LATEST_MS = 10_000;
/** How long the last messages may wait for a program to read them. */
const UNREAD_MS = 2_000;

/**
 * Called when everything is closed: ends the process if something that was left open keeps it alive, and first reports the kinds of these resources,
 * as Node names them. Waits for output that is still being read.
 */
export function endProcessSoon(tell = tellPerson): void {
  // A process with an IPC channel is left to its parent.
  if (process.connected) return;
  setInterval(() => {
    if (process.stdout.writableLength > 0) return;
    const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
    tell([...kinds].map(([kind, all]) => `${all.length} ${kind}`).join(', '));
    process.exit();
  }, LATEST_MS).unref();
}

/** Ends the processes of agents, and closes the ledger; rejects if its file is gone. */
export async function closeStore(store: Store, tell = tellPerson): Promise<void> {
  killAllProcessGroups();
  await store.close().finally(() => endProcessSoon(tell));
}

/** Ends a process that serves a program through pipes: what that does not read would keep it alive for ever. */
export function endUnread(): void {
  if (!process.connected) setTimeout(() => process.exit(), UNREAD_MS).unref();
}

/** Calls `end` when the file of the ledger is gone, once open requests of the program have been answered with that. */
export function onGone({ gone }: Store, end: () => void): void {
  gone.addEventListener('abort', () => setTimeout(end, UNREAD_MS).unref());
}

function tellPerson(open: string): void {
  process.stderr.write(`ended by force: something was left open: ${open}\n`);
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Calls `stop` at the first signal that asks the process to end; at the second one the process exits at once, which loses nothing. Returns a function
 * that removes the handlers.
 */
export function onStopSignal(stop: (signal: string, exit_code: number) => void): () => void {
  let asked = false;
  const handlers = Object.entries(SIGNALS).map(([signal, code]) => {
    const handler = () => {
      if (asked) {
        killAllProcessGroups();
        process.exit(code);
      }
      asked = true;
      stop(signal, code);
    };
    process.on(signal, handler);
    return () => void process.off(signal, handler);
  });
  return () => {
    for (const remove of handlers) remove();
  };
}
