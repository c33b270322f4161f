import { randomUUID } from 'node:crypto';
import { sleep } from '../processes/waiting.ts';
import { type Agent, isActive } from '../records/agent/agent.ts';
import { isTerminal } from '../records/agent/state.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import { hintsOf } from './ledger-hints.ts';

/** Interval at which the ledger is read again, because hints may be lost. */
const POLL_MS = 500;
/** Minimum time between two looks: changes come in bursts. */
const QUIET_MS = 30;

interface Patience {
  readonly ms?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Whether an agent works or is about to, so that a wait for its rest goes on. */
export function isAtWork(agent: Agent): boolean {
  return !isTerminal(agent.state.type) && isActive(agent);
}

/**
 * Looks at the ledger, and again whenever something may have changed, until `isOver`, `ms` have passed, or the signal is aborted. Resolves to the last look.
 * `runtime`: of this process, whose changes the ledger does not report.
 */
export async function lookUntil<Look>(
  { store, runtime }: { readonly store: Store; readonly runtime?: Pick<RuntimeFace, 'subscribe'> },
  look: () => Promise<Look>,
  isOver: (now: Look) => boolean | Promise<boolean>,
  { ms = Number.POSITIVE_INFINITY, signal = new AbortController().signal }: Patience = {},
): Promise<Look> {
  const deadline = performance.now() + ms;
  const hints = await hintsOf(async (wake) => {
    const stop = runtime?.subscribe(({ type }) => {
      if (type === 'agent' || type === 'mail' || type === 'killed') wake();
    });
    const unlisten = await store.listen(randomUUID(), () => wake());
    return async () => {
      stop?.();
      await unlisten();
    };
  }, POLL_MS);
  signal.addEventListener('abort', hints.wake);
  try {
    for (;;) {
      const now = await look();
      const left = deadline - performance.now();
      if ((await isOver(now)) || left <= 0 || signal.aborted) return now;
      await hints.next(left);
      await sleep(Math.min(QUIET_MS, Math.max(0, left)), signal);
    }
  } finally {
    signal.removeEventListener('abort', hints.wake);
    await hints.stop();
  }
}
