import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';

/** What a child behind walls tells of them by its descriptor 4. `go` ends what it waits for at its descriptor 5, if it does. */
export function hearWalls(child: ChildProcess, onReport: (chunk: Buffer, go: () => void) => void): void {
  const [report, wait] = [child.stdio[4], (child.stdio as readonly unknown[])[5] as Writable | null];
  wait?.on('error', () => {});
  report?.on('error', () => {});
  report?.on('data', (chunk: Buffer) => onReport(chunk, () => void wait?.end()));
}

/** The id that the first process within the walls has here; undefined until the report says it. */
export function leaderWithin(report: string): number | undefined {
  const pid = /"child-pid": (\d+)\D/.exec(report)?.[1];
  return pid === undefined ? undefined : Number(pid);
}
