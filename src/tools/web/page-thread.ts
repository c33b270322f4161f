import { Worker } from 'node:worker_threads';
import { FairSlots } from '../../processes/fair-slots.ts';
import { afterWork } from '../../processes/waiting.ts';
import { unlessAborted } from '../../records/unless-aborted.ts';

/** One task on untrusted content. */
export type PageJob =
  | {
      readonly type: 'page';
      readonly bytes: Uint8Array;
      /** The header, as received. */
      readonly content_type: string;
      readonly url: string;
      /** Whether to convert all of the page instead of its main text. */
      readonly whole: boolean;
    }
  | { readonly type: 'robots'; readonly text: string; readonly url: string; readonly agent: string };

export type PageOutcome =
  | {
      readonly type: 'text';
      readonly title: string | null;
      readonly text: string;
      readonly note: string | null;
    }
  | { readonly type: 'robots'; readonly allowed: boolean }
  | { readonly type: 'failed'; readonly why: string };

type Bounds = { readonly seconds: number; readonly memory_mb: number };
const BOUNDS: Bounds = { seconds: 15, memory_mb: 512 };

/** Limits concurrent threads: each takes memory and a core. Pages do not hold up the rules of sites, for which a request waits. */
const threads = { page: new FairSlots({ count: 2 }), robots: new FairSlots({ count: 1 }) };

/**
 * Processes untrusted content in its own thread, with limits on time and memory: a page that is made to be costly fails alone, and the trees of the process
 * go on. Rejects with the signal's reason.
 */
export async function inThread(
  job: PageJob,
  tree: string,
  signal: AbortSignal,
  bounds: Bounds = BOUNDS,
): Promise<PageOutcome> {
  const slots = threads[job.type];
  if (!(await slots.acquire(tree, signal))) throw signal.reason;
  try {
    return await runThread(job, signal, bounds);
  } finally {
    slots.release(tree);
  }
}

async function runThread(
  job: PageJob,
  signal: AbortSignal,
  { seconds, memory_mb }: Bounds,
): Promise<PageOutcome> {
  const worker = new Worker(new URL('./page-worker.ts', import.meta.url), {
    workerData: job,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memory_mb, maxYoungGenerationSizeMb: 64 },
  });
  let stop = (): void => undefined;
  try {
    const outcome = new Promise<PageOutcome>((resolve) => {
      const failed = (why: string) => resolve({ type: 'failed', why });
      stop = afterWork(worker, seconds * 1000, () => failed(`it takes more than ${seconds} s`));
      worker.on('message', resolve);
      worker.on('exit', () => failed('it ended early'));
      worker.on('error', (error: NodeJS.ErrnoException) =>
        failed(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `it takes more than ${memory_mb} MB` : error.message,
        ),
      );
    });
    return await unlessAborted(outcome, signal, () => {
      throw signal.reason;
    });
  } finally {
    stop();
    await worker.terminate();
  }
}
