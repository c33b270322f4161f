import { readdirSync, readFileSync } from 'node:fs';

/** Linux's table of processes, `/proc`. */
export function processIds(): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

export interface ProcessStatus {
  readonly state: string | undefined;
  readonly group: number;
  /** In clock ticks since boot; with the process id it identifies a process. */
  readonly started: string | undefined;
}

/** Undefined when there is no such process. */
export function processStatus(pid: string | number): ProcessStatus | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in field 2 may hold spaces and brackets, so count from its end.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0], group: Number(fields[2]), started: fields[19] };
  } catch {
    return undefined;
  }
}
