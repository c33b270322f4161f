import { killAllProcessGroups } from '../../processes/process-group.ts';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Calls `stop` at the first signal that asks the process to end; at the second one the process exits at once, which loses nothing.
 * Returns what removes the handlers.
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
