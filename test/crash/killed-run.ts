import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { openStore } from '../../src/store/open-store.ts';
import type { Home } from '../cli/run-cli.ts';

export interface KillTerms {
  readonly most_kills: number;
  /** Minimum and maximum time from the start of a process to its kill. */
  readonly after_ms: readonly [number, number];
  /** Exit code of the last process. Default 0. */
  readonly code?: number;
}

export interface KilledRun {
  readonly kills: number;
  readonly reply: string;
}

/** Runs `coppice RUN`, killed with SIGKILL at random moments and continued with `coppice resume` until it ends; `common` is passed to both commands. */
export async function killAndResume(
  home: Home,
  run: readonly string[],
  common: readonly string[],
  { most_kills, after_ms: [earliest, latest], code: wanted = 0 }: KillTerms,
): Promise<KilledRun> {
  for (let kills = 0; ; kills += 1) {
    const { child, ended } = home.start([...((await hasRoot(home.database)) ? ['resume'] : run), ...common]);
    const kill = () => child.kill('SIGKILL');
    const after = earliest + Math.random() * (latest - earliest);
    const timer = kills < most_kills ? setTimeout(kill, after) : undefined;
    const { code, signal, stdout, stderr } = await ended;
    clearTimeout(timer);
    if (signal === 'SIGKILL') continue;
    assert.equal(code, wanted, stderr);
    return { kills, reply: (JSON.parse(stdout) as { reply: string }).reply };
  }
}

async function hasRoot(database: string): Promise<boolean> {
  if (!database.includes('://') && !existsSync(database)) return false;
  const store = await openStore(database);
  const roots = await store.agents({ conversations: true });
  await store.close();
  return roots.length > 0;
}

/** Counts each line of the file to which the agents' commands append. */
export function countLines(file: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of readFileSync(file, 'utf8').trim().split('\n'))
    counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Options that allow a root this many children, all at once. */
export function room(children: number): string[] {
  const limits = [`children=${children}`, `live=${children + 1}`, `total=${children + 1}`, 'tokens=none'];
  return limits.flatMap((limit) => ['--limit', limit]);
}
