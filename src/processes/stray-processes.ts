import { readFileSync } from 'node:fs';
import { orElse } from '../records/coppice-error.ts';
import { isMarkedBy, isOwnerGone, isOwnMark, limitMark, markVariable, processIds } from './process-mark.ts';

/**
 * Processes that left the group of their call, found by the mark in their environment or, for commands without a sandbox, in their limits. Linux only: elsewhere
 * there is no cheap way to read these of another process, so only the process group is killed.
 */
const sweep_delay_ms = 1000;
const ended = new Set<string>();
let timer: NodeJS.Timeout | undefined;

function markOf(pid: string): string | undefined {
  // It may have ended, or belong to another user.
  return orElse(() => {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    const named = environment.find((one) => one.startsWith(`${markVariable}=`));
    return named === undefined ? limitMark(pid) : named.slice(markVariable.length + 1);
  }, undefined);
}

/** Kills every marked process for which `belongs` holds, except this one. */
function killMarked(belongs: (mark: string) => boolean): void {
  if (process.platform !== 'linux') return;
  for (const pid of processIds()) {
    if (Number(pid) === process.pid) continue;
    const mark = markOf(pid);
    if (mark === undefined || !belongs(mark)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // has ended
    }
  }
}

/** Kills the call's stray processes at once: after a stopped call, or if a process still holds its output open. */
export function killStraysOfCall(mark: string): void {
  killMarked((found) => isMarkedBy(found, mark));
}

/** Kills stray processes of ended calls after a delay, for many calls in one sweep: reading the process table for each would cost more than the calls. */
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

/** Kills everything that this runtime started, at exit. */
export function killOwnStrays(): void {
  killMarked(isOwnMark);
}

/**
 * Kills the tool processes of runtimes that died without cleaning up (SIGKILL, power loss): for the start of a runtime, and for taking over work on the same
 * machine.
 */
export function killProcessesOfDeadRuntimes(): void {
  killMarked(isOwnerGone);
}
