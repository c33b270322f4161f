import { parentPort, workerData } from 'node:worker_threads';
import { readPage } from './page-text.ts';
import type { PageJob } from './page-thread.ts';

/** The worker's side of `page-thread.ts`. */
parentPort?.postMessage(await readPage(workerData as PageJob));
