import { readFileSync } from 'node:fs';

/** Length of a clock tick on Linux. */
const TICK_MS = 10;

/** Milliseconds of CPU that a process has used so far, all its threads together. */
export function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Skips the name of the process, which may contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Megabytes of memory: all that is resident, and the part that no other process shares. */
export function memoryOf(pid: number): { readonly resident: number; readonly own: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1_000;
  return { resident: of('Rss'), own: of('Private_Clean') + of('Private_Dirty') };
}
