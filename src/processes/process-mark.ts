import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Every process that a tool starts carries this variable, and its descendants inherit it. It finds those that
 * left their process group (`setsid`), and those whose runtime was killed outright.
 *
 * Value: `<pid namespace>-<pid>-<start time>.<call>`, behind the runtime's own mark and a `/` when the
 * runtime itself was started by such a call.
 */
export const markVariable = 'COPPICE_CALL';

/** Field 22 of `/proc/PID/stat`; the name in field 2 may hold spaces and brackets, so count from its end. */
function startTime(pid: number | 'self'): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '0';
  }
}

const namespace = pidNamespace();
const inherited = process.env[markVariable];
const own = `${inherited === undefined ? '' : `${inherited}/`}${namespace}-${process.pid}-${startTime('self') ?? '0'}.`;
let calls = 0;

/** The mark for one more call of this process. */
export function nextMark(): string {
  calls += 1;
  return own + calls;
}

/** True for every process that this runtime started, directly or not. */
export function isOwnMark(mark: string): boolean {
  return mark.startsWith(own);
}

/** True for `mark` itself and for what a runtime nested in it started. */
export function isMarkedBy(mark: string, call: string): boolean {
  return mark.startsWith(call) && (mark.length === call.length || mark[call.length] === '/');
}

/** True when the runtime that gave out this mark is gone: its process id is free or was taken by another program. */
export function isOwnerGone(mark: string): boolean {
  const innermost = mark.slice(mark.lastIndexOf('/') + 1);
  const match = /^(\d+)-(\d+)-(\d+)\.\d+$/.exec(innermost);
  // The owner of another process-id namespace cannot be looked up: leave its processes alone.
  if (match === null || match[1] !== namespace) return false;
  return startTime(Number(match[2])) !== match[3];
}
