import { readdirSync, readFileSync } from 'node:fs';

/**
 * Kills every process that has `temporary` as its `TMPDIR`: what tests leave running when the guard that ends it is taken out. Where the
 * environment of processes cannot be read (not Linux), it does nothing.
 */
export function killLeftOver(temporary: string): void {
  if (process.platform !== 'linux') return;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
      if (environment.includes(`TMPDIR=${temporary}`)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // ended meanwhile, or of another user
    }
  }
}
