import type { ChannelLog } from '../../channels/channel.ts';
import { sleep } from '../../processes/waiting.ts';
import type { Store } from '../../store/store.ts';
import { StoreError } from '../../store/store-error.ts';
import type { Context } from '../setup/context.ts';
import { troubleLog } from './trouble-log.ts';

const AGAIN_MS = 2_000;

/** Opens the ledger; one that cannot be reached yet is waited for. Null when the server was stopped meanwhile. */
export async function openPatiently(
  context: Context,
  stopped: Promise<void>,
  log: ChannelLog,
): Promise<Store | null> {
  const trouble = troubleLog(log);
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  while (!stop.signal.aborted) {
    try {
      return await context.openStore();
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'E_DB_UNAVAILABLE') throw error;
      trouble('warn', `${error.message}; waiting for it`);
      await sleep(AGAIN_MS, stop.signal);
    }
  }
  return null;
}
