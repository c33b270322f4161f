import { within } from '../processes/waiting.ts';
import { clean, cleanLines } from '../render/clean.ts';
import type { Channel, DeliverContext, DeliverResult, Parcel } from './channel.ts';

const TIME_LIMIT_MS = 10_000;
/** Error codes that mean that the reader has closed the stream for good. */
const CLOSED: ReadonlySet<string> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

/** Like `write` of a Node stream: calls `done` once the text was handed to the system. */
export type StdoutWrite = (text: string, done: (error?: Error | null) => void) => unknown;

export interface StdoutOptions {
  /** How long one try waits for the stream; milliseconds, default 10 s. */
  readonly time_limit_ms?: number;
}

/**
 * The channel `stdout`, without addresses: prints a heading line, then the text without terminal control sequences, then an empty line. The stream
 * gets one text at a time, so that a stopped terminal does not pile them up in memory; a text that it accepts after its try timed out is not written
 * again. The owner of the stream handles its errors.
 */
export function openStdout(write: StdoutWrite, options: StdoutOptions = {}): Channel {
  const { time_limit_ms = TIME_LIMIT_MS } = options;
  const closing = new AbortController();
  /** Results of writes that no try has collected yet, by parcel id. */
  const results = new Map<string, DeliverResult>();
  let writing: Promise<void> | null = null;
  const check = (address: string) => (address === '' ? null : 'stdout has no addresses: write just "stdout"');

  function start(parcel: Parcel): Promise<void> {
    return print(write, parcel).then((result) => {
      results.set(parcel.id, result);
      writing = null;
    });
  }

  async function deliver(parcel: Parcel, { signal }: DeliverContext): Promise<DeliverResult> {
    const wrong = check(parcel.address);
    if (wrong !== null) return { type: 'failed', error: wrong };
    const stop = AbortSignal.any([signal, closing.signal]);
    const deadline = performance.now() + time_limit_ms;
    for (;;) {
      const result = results.get(parcel.id);
      results.delete(parcel.id);
      if (result !== undefined) return result;
      if (!stop.aborted) writing ??= start(parcel);
      const left_ms = Math.max(0, deadline - performance.now());
      const outcome = writing === null ? null : await within(writing, stop, left_ms);
      if (outcome?.type !== 'done')
        return { type: 'retry', error: 'standard output did not accept the text', after_ms: null };
    }
  }

  return { name: 'stdout', check, deliver, close: async () => closing.abort() };
}

function print(write: StdoutWrite, parcel: Parcel): Promise<DeliverResult> {
  return new Promise((resolve) => {
    try {
      const heading = `-- ${new Date(parcel.created_at).toISOString()} ${clean(parcel.id)}`;
      const text = `${heading}\n${cleanLines(parcel.text)}\n\n`;
      write(text, (error) => resolve(error ? refused(error) : { type: 'delivered' }));
    } catch (error) {
      resolve(refused(error));
    }
  });
}

function refused(error: unknown): DeliverResult {
  if (error instanceof RangeError)
    return { type: 'failed', error: 'the delivery cannot be printed: its time is invalid' };
  const { code, name } = error as NodeJS.ErrnoException;
  if (CLOSED.has(code ?? '')) return { type: 'failed', error: `the reader closed standard output (${code})` };
  return { type: 'retry', error: `standard output cannot be written now (${code ?? name})`, after_ms: null };
}
