import { parentPort, workerData } from 'node:worker_threads';
import type { EndTerms } from './thread-killer.ts';

/** A thread beside a leader: kills the whole process so long after the signal, whatever the leader is doing then. */
const { signal, delay_us } = workerData as EndTerms;
parentPort?.postMessage('ready');
Atomics.wait(signal, 0, 0);
if (delay_us > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delay_us / 1_000);
process.kill(process.pid, 'SIGKILL');
