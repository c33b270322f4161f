import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { orElse } from '../records/coppice-error.ts';

/**
 * Environment variable of every process that a tool starts; descendants inherit it. It identifies those that left their process group (`setsid`), and those
 * whose runtime was killed.
 *
 * Value: `<pid namespace>-<pid>-<start time>.<call>`, preceded by the runtime's own mark and a `/` if the runtime itself was started by such a call.
 */
export const markVariable = 'COPPICE_CALL';

function pidNamespace(pid = 'self'): string {
  return orElse(() => readlinkSync(`/proc/${pid}/ns/pid`).replace(/\D/g, ''), '0');
}

const namespace = pidNamespace();
const inherited = process.env[markVariable];
const markPrefix = `${inherited === undefined ? '' : `${inherited}/`}${namespace}-${process.pid}-${processStatus('self')?.started ?? '0'}.`;
let calls = 0;

/** Returns the mark for the next call of this process. */
export function nextMark(): string {
  calls += 1;
  return markPrefix + calls;
}

/** Numbers below 2^53: a bit that is always set, the id of the runtime's process (22 bits), the end of its start time (12) and of the number of the call (18). */
const [MARKED, OF_ID, OF_START, CALLS] = [2 ** 52, 2 ** 30, 2 ** 18, 2 ** 18];

/**
 * The mark as a soft limit of resident memory in KB, for a process whose environment may be cleared: descendants inherit the limit whatever they do, and Linux
 * does nothing with it.
 */
export function limitOfMark(mark: string): number {
  const [pid = 0, started = 0, call = 0] = mark.split(/[-.]/).slice(-3).map(Number);
  return MARKED + pid * OF_ID + (started % 2 ** 12) * OF_START + (call % CALLS);
}

/** The mark that is the limit of a process; undefined if it has none. Throws if its limits cannot be read. */
export function limitMark(of_pid: string): string | undefined {
  const bytes = /^Max resident set\s+(\d+)/m.exec(readFileSync(`/proc/${of_pid}/limits`, 'latin1'))?.[1] ?? 0;
  const limit = Number(BigInt(bytes) / 1024n);
  // The ids in the marks of another container mean other processes.
  if (limit < MARKED || limit >= 2 * MARKED || pidNamespace(of_pid) !== namespace) return undefined;
  const pid = Math.floor((limit - MARKED) / OF_ID);
  const started = processStatus(pid)?.started ?? '';
  const is_there = started !== '' && limitOfMark(`-${pid}-${started}.0`) === limit - (limit % CALLS);
  const call = limit % CALLS;
  if (is_there && pid === process.pid) return markPrefix + (calls - ((calls - call + CALLS) % CALLS));
  return `${namespace}-${pid}-${is_there ? started : 0}.${call}`;
}

/** Whether this runtime started the process, directly or indirectly. */
export function isOwnMark(mark: string): boolean {
  return mark.startsWith(markPrefix);
}

/** Whether a process belongs to `call`, or was started by a runtime nested in it. */
export function isMarkedBy(mark: string, call: string): boolean {
  return mark.startsWith(call) && (mark.length === call.length || mark[call.length] === '/');
}

/** Whether the runtime that issued this mark has ended: its process id is free or was reused. */
export function isOwnerGone(mark: string): boolean {
  const innermost = mark.slice(mark.lastIndexOf('/') + 1);
  const match = /^(\d+)-(\d+)-(\d+)\.\d+$/.exec(innermost);
  // A runtime in another process-id namespace cannot be looked up: leave its processes alone.
  if (match === null || match[1] !== namespace) return false;
  return processStatus(Number(match[2]))?.started !== match[3];
}

/** Process ids in `table`, by default Linux's `/proc`. */
export function processIds(table = '/proc'): readonly string[] {
  return readdirSync(table).filter((name) => /^\d+$/.test(name));
}

export interface ProcessStatus {
  readonly state: string | undefined;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** CPU time of the process and of its ended children. */
  readonly cpu_ticks: number;
  readonly threads: number;
  /** Start time in clock ticks since boot; together with the process id it identifies a process. */
  readonly started: string | undefined;
  readonly resident_pages: number;
}

/** Returns undefined if there is no such process. */
export function processStatus(pid: string | number, table = '/proc'): ProcessStatus | undefined {
  try {
    const text = readFileSync(`${table}/${pid}/stat`, 'latin1');
    // The name in field 2 may hold spaces and brackets, so count from its end.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const number = (at: number): number => Number(fields[at]);
    return {
      state: fields[0],
      parent: number(1),
      group: number(2),
      session: number(3),
      cpu_ticks: number(11) + number(12) + number(13) + number(14),
      threads: number(17),
      started: fields[19],
      resident_pages: number(21),
    };
  } catch {
    return undefined;
  }
}
