import { closeSync, openSync } from 'node:fs';
import { killAllProcessGroups } from '../process-group.ts';
import { killStraysOfCall } from '../stray-processes.ts';
import { followProcess } from './follow-process.ts';
import type { FromLauncher, ProcessEvents, ProcessOrder, ToLauncher } from './process-order.ts';

/** The program of the launcher, which starts programs for its parent (`launcher.ts`) and ends with it, together with all that it started. */
interface Call {
  readonly mark: string;
  readonly abort: AbortController;
  go: () => void;
}

/** Maximum bytes of one program's output that the parent has not taken yet; beyond it, reading pauses (backpressure). */
const AHEAD_BYTES = 256 * 1024;
const calls = new Map<number, Call>();

// The parent decides when programs are stopped, even if the signal was sent to both.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => {
  killAllProcessGroups();
  for (const { mark } of calls.values()) killStraysOfCall(mark);
  process.exit();
});
process.on('message', (message: ToLauncher) => {
  const { type, id } = message;
  if (type === 'run') void run(id, message.order);
  else if (type === 'go') calls.get(id)?.go();
  else calls.get(id)?.abort.abort();
});
tell({ type: 'ready' });

function tell(message: FromLauncher, onTaken?: () => void): void {
  // Errors are ignored: the parent is gone, which `disconnect` reports.
  process.send?.(message, undefined, {}, () => onTaken?.());
}

async function run(id: number, order: ProcessOrder): Promise<void> {
  const call: Call = { mark: order.mark, abort: new AbortController(), go: () => {} };
  calls.set(id, call);
  const opened: number[] = [];
  const closeOpened = (): void => {
    for (const descriptor of opened.splice(0)) closeSync(descriptor);
  };
  try {
    const own = order.stdio.map((one) => {
      if (typeof one !== 'number') return one;
      const descriptor = openSync(`/proc/${process.ppid}/fd/${one}`, 'r');
      opened.push(descriptor);
      return descriptor;
    });
    const ending = followProcess({ ...order, stdio: own }, eventsOf(id, call), call.abort.signal);
    closeOpened();
    const end = await ending;
    if (end.end === 'not_started') throw end.error;
    tell({ type: 'ended', id, end });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    tell({ type: 'not_started', id, message, ...(code === undefined ? {} : { code }) });
  } finally {
    closeOpened();
    calls.delete(id);
  }
}

function eventsOf(id: number, call: Call): ProcessEvents {
  let ahead_bytes = 0;
  let onTaken: (() => void)[] = [];
  const pass = (type: 'output' | 'error', chunk: Buffer): Promise<void> | undefined => {
    ahead_bytes += chunk.length;
    tell({ type, id, chunk }, () => {
      ahead_bytes -= chunk.length;
      if (ahead_bytes > AHEAD_BYTES) return;
      for (const resume of onTaken) resume();
      onTaken = [];
    });
    return ahead_bytes <= AHEAD_BYTES ? undefined : new Promise((resolve) => onTaken.push(resolve));
  };
  return {
    onStart: (leader) => tell({ type: 'started', id, leader }),
    onOutput: (chunk) => pass('output', chunk),
    onErrorOutput: (chunk) => pass('error', chunk),
    onSandboxReport: (chunk, go) => {
      call.go = go;
      tell({ type: 'sandbox', id, chunk });
    },
  };
}
