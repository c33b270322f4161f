import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';

/** Passes on what a sandboxed child reports on its descriptor 4. `go` closes its descriptor 5, for which it may be waiting. */
export function forwardSandboxReport(
  child: ChildProcess,
  onReport: (chunk: Buffer, go: () => void) => void,
): void {
  const [report, wait] = [child.stdio[4], (child.stdio as readonly unknown[])[5] as Writable | null];
  wait?.on('error', () => {});
  report?.on('error', () => {});
  report?.on('data', (chunk: Buffer) => onReport(chunk, () => void wait?.end()));
}

/** Process id of the sandbox's first process, as seen from here; undefined until it is reported. */
export function leaderWithin(report: string): number | undefined {
  const pid = /"child-pid": (\d+)\D/.exec(report)?.[1];
  return pid === undefined ? undefined : Number(pid);
}
