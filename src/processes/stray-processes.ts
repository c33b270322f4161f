import { readdirSync, readFileSync } from 'node:fs';
import { isMarkedBy, isOwnerGone, isOwnMark, markVariable } from './process-mark.ts';

/**
 * Processes that left the group of their call, found by the mark in their environment. Linux only: elsewhere
 * there is no cheap way to read another process's environment, and the process group is all there is. A
 * process that also empties its environment is not found.
 */
const sweep_delay_ms = 1000;
const ended = new Set<string>();
let timer: NodeJS.Timeout | undefined;

function markOf(pid: string): string | undefined {
  let environment: string;
  try {
    environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return undefined; // ended meanwhile, or of another user
  }
  const name = `${markVariable}=`;
  const at = environment.startsWith(name) ? 0 : environment.indexOf(`\0${name}`) + 1;
  if (at === 0 && !environment.startsWith(name)) return undefined;
  const end = environment.indexOf('\0', at);
  return environment.slice(at + name.length, end === -1 ? undefined : end);
}

/** Kills every marked process that `belongs`. Never the caller itself. Returns how many were killed. */
function killMarked(belongs: (mark: string) => boolean): number {
  if (process.platform !== 'linux') return 0;
  let killed = 0;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const mark = markOf(pid);
    if (mark === undefined || !belongs(mark)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
      killed += 1;
    } catch {
      // ended meanwhile
    }
  }
  return killed;
}

/** At once: after a stopped call, or when somebody still holds its output. */
export function killStraysOfCall(mark: string): number {
  return killMarked((found) => isMarkedBy(found, mark));
}

/** Soon, for many ended calls together: reading the process table for each one would cost more than the calls. */
export function sweepStraysOfCallSoon(mark: string): void {
  if (process.platform !== 'linux') return;
  ended.add(mark);
  if (timer !== undefined) return;
  timer = setTimeout(() => {
    timer = undefined;
    const marks = [...ended];
    ended.clear();
    killMarked((found) => marks.some((call) => isMarkedBy(found, call)));
  }, sweep_delay_ms).unref();
}

/** At exit: everything that this runtime ever started. */
export function killOwnStrays(): number {
  return killMarked(isOwnMark);
}

/**
 * Kills the tool processes of runtimes that died without a chance to clean up (SIGKILL, power). For the start
 * of a runtime, and for taking over another's work on the same machine. Returns how many were killed.
 */
export function killProcessesOfDeadRuntimes(): number {
  return killMarked(isOwnerGone);
}
