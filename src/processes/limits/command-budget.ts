import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { type Amounts, type Excess, type LimitName, MB } from './process-usage.ts';

/**
 * Resource limits for the processes of one command (docs/sandbox.md), as configured. null: no limit; an absent limit gets a default that depends on the
 * machine.
 */
export type CommandLimits = { readonly [Name in LimitName]?: number | null | undefined };

/** Maximum timeout of a command, in seconds. */
export const TIMEOUT_MAX_SECONDS = 3600;

/** Default limit, threads included: far above what builds need, far below the size of the process table. */
const PROCESSES = 2048;
/** Minimum default disk limit, even if the disk is fuller: the limit on file size also applies to files that were already larger. */
const DISK_LEAST_MB = 1024;
/** What a command may write once /tmp is full: enough for one that frees space. */
const CLEANING_MB = 64;

/** The unit of each limit, and what it limits. */
const MEASURES: Readonly<Record<LimitName, readonly [unit: string, of: string]>> = {
  memory_mb: [' MB', ' of memory'],
  processes: ['', ' processes and threads'],
  cpu_seconds: [' seconds', ' of CPU time'],
  disk_mb: [' MB', ' on disk'],
};

/** Output of programs that hit a system limit. */
const MET: readonly (readonly [LimitName, RegExp])[] = [
  ['disk_mb', /File size limit exceeded|File too large|EFBIG/],
  [
    'processes',
    /[Cc]annot fork|fork.*Resource temporarily unavailable|fork: retry|spawn.*EAGAIN|can't start new thread/,
  ],
];
/** Exit code of a shell whose program was killed by SIGXFSZ, the signal for exceeding the file size limit. */
const FILE_SIZE_EXIT = 128 + 25;

/** Limits of a long-running program: by default, CPU time and disk are unlimited. */
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

/** Why a long-running program is stopped, as a clause. */
export function lastingExcess(excess: Excess): string {
  return `${excessClause(excess)}: raise "limits.${excess.limit}" of its entry in the configuration`;
}

function excessClause({ limit, used, allowed }: Excess): string {
  const [unit, of] = MEASURES[limit];
  return `it used ${Math.round(used)}${unit}${of}; its limit is ${Math.round(allowed)}${unit}`;
}

/** Resource limits of one command on this machine. */
export class CommandBudget {
  /** Infinity: no limit. */
  readonly limits: Amounts;
  /** Note for the model, whatever the command's outcome; '' for none. */
  readonly note: string;

  /** `heldBytes`: returns the size of the tree's /tmp; may measure it anew if the known size exceeds `limit_bytes`. */
  static async of(
    { memory_mb, processes, cpu_seconds, disk_mb }: CommandLimits,
    cwd: string,
    heldBytes: (limit_bytes: number) => Promise<number>,
  ): Promise<CommandBudget> {
    const limits = {
      // CPU time: by default only the command's timeout bounds it.
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
      ? `/tmp held ${Math.round(held_mb)} MB when this began; its limit is ${Math.round(limits.disk_mb)} MB: delete what is not needed. Until then, a command may write ${Math.round(disk_mb)} MB. ${raise('disk_mb')}`
      : '';
  }

  /**
   * Shell code that runs before the command. System limits act at once, where the watch only polls. `own_namespace`: the number of processes is limited, too,
   * because it is counted for this command alone (not enforced for root); otherwise all processes of the user would count. When memory runs out, the kernel
   * should kill the command, not this program or another.
   */
  script(own_namespace: boolean): string {
    const { disk_mb, processes } = this.limits;
    const parts = ['echo 1000 >/proc/self/oom_score_adj'];
    // The unit is blocks of 512 bytes.
    if (disk_mb !== Infinity) parts.push(`ulimit -f ${Math.ceil(disk_mb * 2048)}`);
    // Above the limit, since otherwise the watch would never see the limit reached. The option's letter depends on the shell.
    const most = processes + 16;
    if (own_namespace && processes !== Infinity) parts.push(`ulimit -u ${most} || ulimit -p ${most}`);
    return `{ ${parts.join('; ')}; } 2>/dev/null; `;
  }

  /** Why a command was stopped. */
  excessText(excess: Excess): string {
    return `stopped: ${excessClause(excess)}. ${raise(excess.limit)}`;
  }

  /** For a failed command: a hint at the limit that it probably hit; '' if none is recognized. */
  hint(output: string, exit_code: number | undefined): string {
    const met = exit_code === FILE_SIZE_EXIT ? 'disk_mb' : MET.find(([, said]) => said.test(output))?.[0];
    if (met === undefined || this.limits[met] === Infinity) return '';
    const [unit, of] = MEASURES[met];
    return `a command may use at most ${Math.round(this.limits[met])}${unit}${of}. ${raise(met)}`;
  }
}

function raise(limit: LimitName): string {
  return `A person can raise "sandbox.limits.${limit}" in the configuration`;
}

/** Memory of this machine, or of the container in which this process runs. */
function machineMb(): number {
  const constrained = process.constrainedMemory();
  return Math.min(totalmem(), constrained > 0 ? constrained : Infinity) / MB;
}

function freeMb(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return (bavail * bsize) / MB;
  } catch {
    return Infinity; // the folder is gone, which the start of the command will report
  }
}
