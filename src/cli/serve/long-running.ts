import type { ChannelLog } from '../../channels/channel.ts';
import { sleep } from '../../processes/waiting.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { errorText } from '../../records/coppice-error.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import type { Store } from '../../store/store.ts';
import { StoreError } from '../../store/store-error.ts';
import type { Context } from '../setup/context.ts';
import { closeStore, onStopSignal } from '../setup/end-process.ts';

/** Shared parts of serve and worker, which are processes that run until they are stopped and log what goes wrong. */
const RETRY_MS = 2_000;
const REPEAT_MS = 60_000;
/** Number of notices after which all are forgotten, so that some may be logged again. */
const TOLD_MAX = 10_000;

/** Resolves at the first signal that asks the process to end. */
export function stopped(log: ChannelLog): Promise<void> {
  return new Promise((resolve) => {
    onStopSignal((signal) => {
      log('info', 'stopping: waiting for running work; a second signal exits at once', { signal });
      resolve();
    });
  });
}

/** Opens the ledger, with retries while it cannot be reached. Null when the process was stopped meanwhile. */
export async function openWithRetry(
  context: Context,
  stop: Promise<void>,
  log: ChannelLog,
): Promise<Store | null> {
  const trouble = withoutRepeats(log);
  const stopping = new AbortController();
  void stop.then(() => stopping.abort());
  while (!stopping.signal.aborted) {
    try {
      return await context.openStore();
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'E_DB_UNAVAILABLE') throw error;
      trouble('warn', `${error.message}; waiting for it`);
      await sleep(RETRY_MS, stopping.signal);
    }
  }
  return null;
}

export async function closeLongRunning(runtime: RuntimeFace, store: Store, log: ChannelLog): Promise<void> {
  await runtime.close();
  await closeStore(store, (open) => log('warn', 'ended by force: something was left open', { open }));
  log('info', 'stopped; nothing is lost');
}

/** Whether a person can answer approvals of an agent of a served tree, in its chat or by `coppice approvals`; false for unattended runs outside of a chat. */
export function mayAsk({ channel, unattended }: AgentConfig): boolean {
  return channel !== undefined || unattended !== true;
}

/** Wraps a log so that it leaves out lines that it had within the last minute. */
export function withoutRepeats(log: ChannelLog): ChannelLog {
  const logged = new Map<string, number>();
  return (level, text, fields) => {
    const now = performance.now();
    const key = `${text} ${JSON.stringify(fields ?? {})}`;
    const last = logged.get(key);
    if (last !== undefined && now - last < REPEAT_MS) return;
    for (const [old, at] of logged) if (now - at >= REPEAT_MS) logged.delete(old);
    logged.set(key, now);
    log(level, text, fields);
  };
}

/** Logs when the ledger cannot be reached, and when it can be again, and once each which tools agents do without. */
export function logEvents(runtime: RuntimeFace, log: ChannelLog, trouble: ChannelLog): void {
  const told = new Set<string>();
  runtime.subscribe((event) => {
    if (event.type === 'notice' && event.about === 'tools' && !told.has(event.text)) {
      if (told.size >= TOLD_MAX) told.clear();
      told.add(event.text);
      log('warn', event.text, { agent: event.agent_id });
    }
    if (event.type !== 'ledger') return;
    if (event.reachable) log('info', event.text);
    else trouble('warn', event.text);
  });
}

/** `root_id` is null when the search for trees failed, for example because the ledger cannot be reached. */
export function logTreeTrouble(log: ChannelLog, error: unknown, root_id: string | null): void {
  if (root_id === null) log('warn', `the search for unled trees failed: ${errorText(error)}`);
  else log('error', `a tree or an agent of it could not be taken over: ${errorText(error)}`, { root_id });
}
