import type { ChannelLog } from '../../channels/channel.ts';
import { killAllProcessGroups } from '../../processes/process-group.ts';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Resolves at the first signal; a second one leaves at once, and nothing is lost. */
export function stopSignal(log: ChannelLog): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = false;
  for (const [signal, code] of Object.entries(SIGNALS))
    process.on(signal, () => {
      if (asked) {
        killAllProcessGroups();
        process.exit(code);
      }
      asked = true;
      log('info', 'stopping: what is under way may end; once more to leave at once', { signal });
      resolve();
    });
  return promise;
}
