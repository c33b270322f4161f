import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { killOwnStrays } from './stray-processes.ts';

/**
 * The process groups that run now. One list for the whole process, because a signal handler must reach them all
 * whichever runtime started them.
 */
const live = new Set<number>();
let exit_handled = false;

export function registerProcessGroup(leader: number): void {
  live.add(leader);
  if (exit_handled) return;
  exit_handled = true;
  process.on('exit', killAllProcessGroups);
}

export function forgetProcessGroup(leader: number): void {
  live.delete(leader);
}

function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    // macOS answers EPERM for a group of zombies; only ESRCH and that mean that nobody is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM' && process.platform === 'linux';
  }
}

export function isProcessGroupAlive(leader: number): boolean {
  return signalGroup(leader, 0);
}

/**
 * A group of zombies still answers signals until its new parent, not ours to hurry, reaps them. Where the process
 * table can be read, they do not count.
 */
function hasOnlyZombies(leader: number): boolean {
  if (process.platform !== 'linux') return false;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      // Behind the name in brackets: state, parent, group.
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
      if (Number(group) === leader && state !== 'Z' && state !== 'X') return false;
    } catch {
      // ended meanwhile
    }
  }
  return true;
}

async function waitUntilGone(leader: number, limit_ms: number): Promise<boolean> {
  const deadline = performance.now() + limit_ms;
  for (let pause_ms = 2; ; pause_ms = Math.min(pause_ms * 2, 50)) {
    if (!isProcessGroupAlive(leader) || hasOnlyZombies(leader)) return true;
    if (performance.now() >= deadline) return false;
    await sleep(pause_ms);
  }
}

/** TERM to the whole group, KILL after the grace. Resolves when the group is gone, or shortly after KILL. */
export async function stopProcessGroup(leader: number, grace_ms: number): Promise<void> {
  signalGroup(leader, 'SIGTERM');
  // A stopped process acts on nothing but KILL until it is continued.
  signalGroup(leader, 'SIGCONT');
  if (await waitUntilGone(leader, grace_ms)) return;
  signalGroup(leader, 'SIGKILL');
  await waitUntilGone(leader, 500);
}

/**
 * Kills every process that a tool of this runtime started and that still runs, at once and without waiting:
 * for signal handlers and the end of the process. Returns how many groups were killed.
 */
export function killAllProcessGroups(): number {
  let killed = 0;
  for (const leader of live) if (signalGroup(leader, 'SIGKILL')) killed += 1;
  if (exit_handled) killOwnStrays();
  return killed;
}
