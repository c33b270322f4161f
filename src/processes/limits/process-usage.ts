import { readFileSync, statfsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { orElse } from '../../records/coppice-error.ts';
import { processIds, processStatus } from '../process-mark.ts';
import { Slices } from './slices.ts';

export const MB = 2 ** 20;

export type ProcessLimit = 'memory_mb' | 'processes' | 'cpu_seconds' | 'disk_mb';
/** `processes` includes threads. */
export type Amounts = Readonly<Record<ProcessLimit, number>>;

/** `files`, `folder_mb`: of what folders hold, whoever put it there. */
export type LimitName = ProcessLimit | 'files' | 'folder_mb';

export interface Excess {
  readonly limit: LimitName;
  /** The folder that holds too much; absent: the processes use too much. */
  readonly folder?: string;
  readonly used: number;
  readonly allowed: number;
}

export type Processes =
  /** All processes of a PID namespace. `first`: id of its first process, as seen from here; `memory`: in-memory file systems (tmpfs) that only they have. */
  | { readonly type: 'namespace'; readonly first: number; readonly memory: readonly string[] }
  /** Processes of the leader's session, and their descendants. */
  | { readonly type: 'session'; readonly leader: number };

/** Processes as listed in a folder such as /proc. */
interface ProcessTable {
  readonly folder: string;
  readonly pids: readonly string[];
  readonly memory: readonly string[];
}

/** Uses the namespace's own /proc, which lists only its processes. Throws before there is one. */
function namespaceTable(first: number, memory: readonly string[]): ProcessTable {
  const root = `/proc/${first}/root`;
  if (statSync(`${root}/proc`).dev === statSync('/proc').dev) throw new Error('there is none yet');
  return {
    folder: `${root}/proc`,
    pids: processIds(`${root}/proc`),
    memory: memory.map((path) => root + path),
  };
}

async function sessionTable(leader: number): Promise<ProcessTable> {
  const all: { pid: string; parent: number; session: number }[] = [];
  const slices = new Slices();
  for (const pid of processIds()) {
    const status = processStatus(pid);
    if (status !== undefined) all.push({ pid, ...status });
    if (slices.isOver()) await slices.next();
  }
  const mine = new Set(all.filter(({ session }) => session === leader).map(({ pid }) => pid));
  for (let before = -1; before !== mine.size; ) {
    before = mine.size;
    for (const { pid, parent } of all) if (mine.has(String(parent))) mine.add(pid);
  }
  return { folder: '/proc', pids: [...mine], memory: [] };
}

/** USER_HZ, the unit of times in /proc/PID/stat. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = pageBytes();

/** Returns the page size of the kernel in bytes: 4 KiB, on some arm64 kernels 16 or 64 KiB. */
function pageBytes(): number {
  const AT_PAGESZ = 6n;
  try {
    const vector = new BigUint64Array(Uint8Array.from(readFileSync('/proc/self/auxv')).buffer);
    for (let at = 0; at + 1 < vector.length; at += 2)
      if (vector[at] === AT_PAGESZ) return Number(vector[at + 1]);
  } catch {
    // Without /proc nothing is measured anyway.
  }
  return 4096;
}

/** Returns the limit that the processes exceed (`processes`: reach), null for none, and what they have written. Cheap as long as no limit is near. */
export async function excessOf(
  processes: Processes,
  limits: Amounts,
): Promise<{ readonly excess: Excess | null; readonly written_mb: number }> {
  const table =
    processes.type === 'session'
      ? await sessionTable(processes.leader)
      : namespaceTable(processes.first, processes.memory);
  const used = { memory_mb: 0, processes: table.pids.length, cpu_seconds: 0, disk_mb: 0 };
  // Returns early, because the more processes there are, the less time there is to inspect each.
  if (used.processes >= limits.processes) return over('processes', used, limits);
  used.processes = 0;
  // The first process of a namespace, which hides itself there, waits for orphans.
  if (processes.type === 'namespace') used.disk_mb = writtenMb(String(processes.first), '/proc');
  const slices = new Slices();
  for (const pid of table.pids) {
    const status = processStatus(pid, table.folder);
    if (status === undefined) continue;
    used.processes += status.threads;
    used.memory_mb += (status.resident_pages * PAGE_BYTES) / MB;
    used.cpu_seconds += status.cpu_ticks / TICKS_PER_SECOND;
    used.disk_mb += writtenMb(pid, table.folder);
    if (slices.isOver()) await slices.next();
  }
  const shared_mb = table.memory.reduce((sum, path) => sum + usedMb(path), 0);
  used.memory_mb += shared_mb;
  // So far, shared memory such as program code and pages of forks was counted once for each process.
  if (used.memory_mb > limits.memory_mb) used.memory_mb = await exactMemoryMb(table, shared_mb);
  if (used.processes >= limits.processes) return over('processes', used, limits);
  const found = (['memory_mb', 'cpu_seconds', 'disk_mb'] as const).find((one) => used[one] > limits[one]);
  return found === undefined ? { excess: null, written_mb: used.disk_mb } : over(found, used, limits);
}

function over(limit: ProcessLimit, used: Amounts, limits: Amounts): Awaited<ReturnType<typeof excessOf>> {
  return { excess: { limit, used: used[limit], allowed: limits[limit] }, written_mb: used.disk_mb };
}

/** Written by the process and by its ended children, less writes cancelled before they reached the disk. */
function writtenMb(pid: string, folder: string): number {
  const text = orElse(() => readFileSync(`${folder}/${pid}/io`, 'latin1'), '');
  return (numberAfter(text, '\nwrite_bytes:') - numberAfter(text, '\ncancelled_write_bytes:')) / MB;
}

function usedMb(file_system: string): number {
  const ended = { blocks: 0, bfree: 0, bsize: 0 };
  const { blocks, bfree, bsize } = orElse(() => statfsSync(file_system), ended);
  return ((blocks - bfree) * bsize) / MB;
}

/** Memory with each shared page counted once, without pages of files, which the kernel can reclaim. */
async function exactMemoryMb({ folder, pids }: ProcessTable, shared_mb: number): Promise<number> {
  let [own_mb, mapped_mb] = [0, 0];
  for (const pid of pids) {
    const text = await readFile(`${folder}/${pid}/smaps_rollup`, 'latin1').catch(() => '');
    own_mb += numberAfter(text, '\nPss_Anon:') / 1024;
    mapped_mb += numberAfter(text, '\nPss_Shmem:') / 1024;
  }
  return own_mb + Math.max(mapped_mb, shared_mb);
}

function numberAfter(text: string, name: string): number {
  const at = text.indexOf(name);
  return at === -1 ? 0 : Number.parseInt(text.slice(at + name.length), 10);
}
