import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { type Amounts, type Excess, type LimitName, MB } from './usage.ts';

/** What the processes of one command may take (docs/sandbox.md), as the configuration says it. null: no limit; what is left out depends on the machine. */
export type CommandLimits = { readonly [Name in LimitName]?: number | null | undefined };

/** With their threads: far above what builds need, far below what fills the table of processes. */
const PROCESSES = 2048;
/** Of a fuller disk, this much may be tried: a limit on files also concerns those that were larger before. */
const DISK_LEAST_MB = 1024;
/** What may be written once /tmp is full: enough for a command that makes room. */
const CLEANING_MB = 64;

const TOOK: Readonly<Record<LimitName, (amount: number) => string>> = {
  memory_mb: (amount) => `${amount} MB of memory`,
  processes: (amount) => `${amount} processes and threads`,
  cpu_seconds: (amount) => `${amount} seconds of CPU time`,
  disk_mb: (amount) => `${amount} MB on disk`,
};

/** What programs say that met a limit of the system. */
const MET: readonly (readonly [LimitName, RegExp])[] = [
  ['disk_mb', /File size limit exceeded|File too large|EFBIG/],
  [
    'processes',
    /[Cc]annot fork|fork.*Resource temporarily unavailable|fork: retry|spawn.*EAGAIN|can't start new thread/,
  ],
];
/** Of a shell: its program was ended for the size of a file. */
const FILE_SIZE_EXIT = 128 + 25;

/** What a program that stays may take: it may go on for as long as it likes, and write as much. */
export function lastingLimits({
  memory_mb,
  processes = PROCESSES,
  cpu_seconds,
  disk_mb,
}: CommandLimits): Amounts {
  return {
    memory_mb: memory_mb === undefined ? machineMb() / 2 : (memory_mb ?? Infinity),
    processes: processes ?? Infinity,
    cpu_seconds: cpu_seconds ?? Infinity,
    disk_mb: disk_mb ?? Infinity,
  };
}

/** Why a program that stays is stopped, without its subject. */
export function lastingExcess({ limit, used, allowed }: Excess): string {
  return `it took ${TOOK[limit](Math.round(used))}, and may take ${Math.round(allowed)}; "limits.${limit}" of its entry in the configuration raises that`;
}

/** What one command may take on this machine. */
export class CommandBudget {
  /** Infinity: no limit. */
  readonly limits: Amounts;
  /** What its model is told, whatever comes of it; '' for nothing. */
  readonly note: string;

  /** `heldBytes`: what the /tmp of its tree holds; may measure it if that is more than the given bytes. */
  static async of(
    { memory_mb, processes, cpu_seconds, disk_mb }: CommandLimits,
    cwd: string,
    heldBytes: (limit_bytes: number) => Promise<number>,
  ): Promise<CommandBudget> {
    const limits = {
      // Without seconds, its timeout bounds it.
      ...lastingLimits({ memory_mb, processes, cpu_seconds }),
      disk_mb: disk_mb === undefined ? Math.max(freeMb(cwd) / 2, DISK_LEAST_MB) : (disk_mb ?? Infinity),
    };
    return new CommandBudget(limits, (await heldBytes(limits.disk_mb * MB)) / MB);
  }

  private constructor(limits: Amounts, held_mb: number) {
    const full = held_mb > limits.disk_mb;
    const disk_mb = full ? Math.min(limits.disk_mb, CLEANING_MB) : limits.disk_mb;
    this.limits = { ...limits, disk_mb };
    this.note = full
      ? `/tmp held ${Math.round(held_mb)} MB when this began, and may hold ${Math.round(limits.disk_mb)} MB: remove from it what is not needed. Until then, a command may write ${Math.round(disk_mb)} MB. ${raise('disk_mb')}`
      : '';
  }

  /**
   * What a shell runs before it starts the command, or becomes it. Limits of the system stop at once what the watch finds later. In `own_namespace`,
   * processes are counted for this command alone (and not for root); elsewhere all of the user's are. When memory runs out, the kernel is to take the
   * command, not this program or another.
   */
  script(own_namespace: boolean): string {
    const { disk_mb, processes } = this.limits;
    const parts = ['echo 1000 >/proc/self/oom_score_adj'];
    // In blocks of 512 bytes.
    if (disk_mb !== Infinity) parts.push(`ulimit -f ${Math.ceil(disk_mb * 2048)}`);
    // Above the limit, which would not be seen as reached otherwise. Shells disagree about the letter.
    const most = processes + 16;
    if (own_namespace && processes !== Infinity) parts.push(`ulimit -u ${most} || ulimit -p ${most}`);
    return `{ ${parts.join('; ')}; } 2>/dev/null; `;
  }

  /** Why a command is stopped. */
  excessText({ limit, used, allowed }: Excess): string {
    const took = TOOK[limit](Math.round(used));
    return `stopped: it took ${took}, and a command may take ${Math.round(allowed)}. ${raise(limit)}`;
  }

  /** For a command that failed: the limit that it may have met; '' if none shows. */
  hint(output: string, exit_code: number | undefined): string {
    const met = exit_code === FILE_SIZE_EXIT ? 'disk_mb' : MET.find(([, said]) => said.test(output))?.[0];
    if (met === undefined || this.limits[met] === Infinity) return '';
    return `a command may take ${TOOK[met](Math.round(this.limits[met]))}. ${raise(met)}`;
  }
}

function raise(limit: LimitName): string {
  return `A person can raise "sandbox.limits.${limit}" in the configuration`;
}

/** Of this machine, or of the container it is. */
function machineMb(): number {
  const constrained = process.constrainedMemory();
  return Math.min(totalmem(), constrained > 0 ? constrained : Infinity) / MB;
}

function freeMb(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return (bavail * bsize) / MB;
  } catch {
    return Infinity; // gone, which the start of the command tells
  }
}
