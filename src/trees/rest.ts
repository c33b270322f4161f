import { randomUUID } from 'node:crypto';
import { sleep } from '../processes/waiting.ts';
import type { Agent } from '../records/agent/agent.ts';
import { deedsLine } from '../records/agent/deeds-line.ts';
import { failureOf } from '../records/agent/state.ts';
import { cutShort } from '../records/conversation/child-text.ts';
import type { WaitRow } from '../records/conversation/facts/wait-row.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';

/** Interval at which the ledger is read again, because hints may be lost. */
const POLL_MS = 500;
/** Minimum time between two looks: changes come in bursts. */
const QUIET_MS = 30;

interface Patience {
  readonly ms?: number;
  readonly signal?: AbortSignal | undefined;
}

/** How an agent rests, in the row of a wait: why its turn failed or who ended it, which limit cut it short, and what it did. While it works, only that. */
export function restOf(agent: Agent, works: boolean, now: number): Pick<WaitRow, 'error' | 'limit' | 'did'> {
  const error = works ? undefined : failureOf(agent.state)?.error;
  const limit = works ? null : cutShort(agent.state);
  const did = deedsLine(agent, now);
  return {
    ...(error === undefined ? {} : { error }),
    ...(limit === null ? {} : { limit }),
    ...(did === undefined ? {} : { did }),
  };
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

export interface Hints {
  /**
   * Resolves at the next hint, at once if one came since the last call, and at the latest after `ms` or the usual interval, because hints may be lost.
   * Rejects once the source of hints has failed.
   */
  readonly next: (ms?: number) => Promise<void>;
  /** Resolves the pending call of `next`. */
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
}

/** Hints of changes, for a poll loop. `listen` resolves to a function that stops listening; a hint with an error makes `next` reject. */
export async function hintsOf(
  listen: (wake: (error?: unknown) => void) => Promise<() => Promise<void>>,
  usual_ms: number,
): Promise<Hints> {
  let hint = new AbortController();
  let failed: unknown;
  const wake = (): void => hint.abort();
  const stop = await listen((error) => {
    failed ??= error;
    wake();
  });
  const next = async (ms = usual_ms): Promise<void> => {
    await sleep(Math.min(ms, usual_ms), hint.signal);
    hint = new AbortController();
    if (failed !== undefined) throw failed;
  };
  return { next, wake, stop };
}

/** Hints that another process has written to the ledger. */
export function ledgerHints(store: Store, usual_ms: number): Promise<Hints> {
  return hintsOf((wake) => store.listen(randomUUID(), () => wake()), usual_ms);
}
