import { beforeEach } from 'node:test';
import { Worker } from 'node:worker_threads';

const NAME_BYTES = 1_000;
const BEAT_MS = 1_000;
/** Before the first test, a whole group of files is loaded, and compiled where no cache has it: on a busy machine, longer than any test may take. */
const LOADING = 6;

/** Runs in a thread of its own, which goes on when the main thread does not. */
const WATCH = `
const { workerData: { beats, name, longest_ms } } = require('node:worker_threads');
const never = new Int32Array(new SharedArrayBuffer(4));
for (let [before, still_ms] = [0, 0]; ; ) {
  Atomics.wait(never, 0, 0, ${BEAT_MS});
  const now = Atomics.load(beats, 0);
  still_ms = now === before ? still_ms + ${BEAT_MS} : 0;
  before = now;
  const loading = Atomics.load(beats, 1) === 0;
  if (still_ms < (loading ? ${LOADING} : 1) * longest_ms) continue;
  const test = Buffer.from(name.slice(0, Atomics.load(beats, 1))).toString();
  require('node:fs').writeSync(2, 'a test blocked its thread for ' + longest_ms / 1000 + ' s: ' + test + '\\n');
  process.kill(process.pid, 'SIGKILL');
}`;

/** Kills this process, and names the test, when its thread has done nothing else for `longest_ms`; 0: never. An endless loop would otherwise hold up the whole run. */
export function watchForBlocks(longest_ms: number): void {
  if (!(longest_ms > 0)) return;
  const beats = new Int32Array(new SharedArrayBuffer(8));
  const name = new Uint8Array(new SharedArrayBuffer(NAME_BYTES));
  const encoder = new TextEncoder();
  beforeEach((test) => {
    const { written } = encoder.encodeInto(test.fullName, name);
    Atomics.store(beats, 1, written);
    // Tests that wait for nothing follow each other without a beat.
    Atomics.add(beats, 0, 1);
  });
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  new Worker(WATCH, { eval: true, workerData: { beats, name, longest_ms } }).unref();
}
