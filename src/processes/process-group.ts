import { setTimeout as sleep } from 'node:timers/promises';
import { processIds, processStatus } from './process-mark.ts';
import { killOwnStrays } from './stray-processes.ts';

/** The running process groups. One list for the whole process, because a signal handler must reach all of them, whichever runtime started them. */
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

export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    // EPERM: on macOS the group consists of zombies and counts as ended; on Linux the group exists.
    return (error as NodeJS.ErrnoException).code === 'EPERM' && process.platform === 'linux';
  }
}

export function isProcessGroupAlive(leader: number): boolean {
  return signalGroup(leader, 0);
}

/** Whether the group consists of zombies, which still accept signals until their new parent reaps them. Always false where there is no /proc. */
function hasOnlyZombies(leader: number): boolean {
  if (process.platform !== 'linux') return false;
  return processIds().every((pid) => {
    const status = processStatus(pid);
    return status?.group !== leader || status.state === 'Z' || status.state === 'X';
  });
}

async function waitUntilGone(leader: number, limit_ms: number): Promise<boolean> {
  const deadline = performance.now() + limit_ms;
  for (let pause_ms = 2; ; pause_ms = Math.min(pause_ms * 2, 50)) {
    if (!isProcessGroupAlive(leader) || hasOnlyZombies(leader)) return true;
    if (performance.now() >= deadline) return false;
    await sleep(pause_ms);
  }
}

/** Sends TERM to the group, and KILL after the grace period. Resolves when the group has ended, or shortly after KILL. */
export async function stopProcessGroup(leader: number, grace_ms: number): Promise<void> {
  signalGroup(leader, 'SIGTERM');
  // A stopped process acts on nothing but KILL until it is continued.
  signalGroup(leader, 'SIGCONT');
  if (await waitUntilGone(leader, grace_ms)) return;
  signalGroup(leader, 'SIGKILL');
  await waitUntilGone(leader, 500);
}

/** Kills every process that tools of this runtime started, without waiting: for signal handlers and process exit. */
export function killAllProcessGroups(): void {
  for (const leader of live) signalGroup(leader, 'SIGKILL');
  if (exit_handled) killOwnStrays();
}
