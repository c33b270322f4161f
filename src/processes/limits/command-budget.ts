import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { orElse } from '../../records/coppice-error.ts';
import { type FolderQuota, type FolderUsage, folderUsage } from './folder-usage.ts';
import { type Amounts, type Excess, type LimitName, MB, type ProcessLimit } from './process-usage.ts';

/**
 * Resource limits for the processes of one command (docs/sandbox.md), as configured. null: no limit; an absent limit gets a default that depends on the
 * machine.
 */
export type CommandLimits = { readonly [Name in LimitName]?: number | null | undefined };

export const TIMEOUT_MAX_SECONDS = 3600;

/** Default limit, threads included: far above what builds need, far below the size of the process table. */
const PROCESSES = 2048;
/** Minimum default disk limit, even if the disk is fuller: the limit on file size also applies to files that were already larger. */
const DISK_LEAST_MB = 1024;
/** Default maximum of files in the /tmp of a tree: counting so many takes about half a second. */
const FILES = 100_000;
/** A folder that holds this part of its limit is full; the rest is for entries of folders, and for what is written before it is counted. */
const FULL = 0.99;
/** What a command may add to a full folder while it makes room there. */
const ROOM_MB = 1;
const ROOM_FILES = 100;

const MEASURES: Readonly<Record<LimitName, readonly [unit: string, of: string]>> = {
  memory_mb: [' MB', ' of memory'],
  processes: ['', ' processes and threads'],
  cpu_seconds: [' seconds', ' of CPU time'],
  disk_mb: [' MB', ' on disk'],
  files: ['', ' files and folders'],
  folder_mb: [' MB', ' on disk'],
};

/** Output of programs that hit a system limit. */
const MET: readonly (readonly [ProcessLimit, RegExp])[] = [
  ['disk_mb', /File size limit exceeded|File too large|EFBIG/],
  [
    'processes',
    /[Cc]annot fork|fork.*Resource temporarily unavailable|fork: retry|spawn.*EAGAIN|can't start new thread/,
  ],
];
/** Exit code of a shell whose program was killed by SIGXFSZ, the signal for exceeding the file size limit. */
const FILE_SIZE_EXIT = 128 + 25;

/** Limits of a long-running program: by default, CPU time and disk are unlimited. */
export function lastingLimits(limits: CommandLimits): Amounts {
  const { memory_mb, processes = PROCESSES, cpu_seconds, disk_mb } = limits;
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

function excessClause({ limit, folder, used, allowed }: Excess): string {
  const [unit, of] = MEASURES[limit];
  const what = used === Infinity ? 'a folder that cannot be looked into' : `${Math.round(used)}${unit}${of}`;
  const who = folder === undefined ? 'it used' : `${folder} held`;
  return `${who} ${what}; its limit is ${Math.round(allowed)}${unit}`;
}

/** Resource limits of one command on this machine. */
export class CommandBudget {
  /** Infinity: no limit. */
  readonly limits: Amounts;
  /** Folders that are full, as the command knows them: it must only be able to remove files there. */
  readonly closed: readonly string[];
  /** Limits of what other folders hold, to be watched while it runs. */
  readonly quotas: readonly FolderQuota[];
  /** Maximum size of a file. */
  readonly #file_mb: number;
  /** Note for the model, whatever the command's outcome; '' for none. */
  readonly note: string;

  /** `tmp`: the folder that the command sees as /tmp; null: the machine's own, which is not limited. `canClose`: whether a folder of `closed` will be closed. */
  static async of(given: CommandLimits, cwd: string, tmp: string | null, canClose: Closes) {
    const { files = FILES, folder_mb } = given;
    const of_tmp = { path: tmp ?? '', name: '/tmp', limit: 'disk_mb', files: files ?? Infinity } as const;
    const counts = tmp !== null && (given.disk_mb !== null || files !== null);
    const usage = counts ? await folderUsage(of_tmp) : { mb: 0, files: 0 };
    // With what /tmp holds, so that the default stays the same while it is filled.
    const { disk_mb = Math.max((freeMb(cwd) + usage.mb) / 2, DISK_LEAST_MB) } = given;
    const held: Held[] = counts ? [{ ...of_tmp, mb: disk_mb ?? Infinity, usage }] : [];
    if (folder_mb) {
      const of_folder = { path: cwd, name: cwd, limit: 'folder_mb', mb: folder_mb, files: Infinity } as const;
      held.push({ ...of_folder, usage: await folderUsage(of_folder) });
    }
    // CPU time: by default only the command's timeout bounds it.
    const limits = lastingLimits({ ...given, disk_mb });
    const closed: string[] = [];
    for (const { name } of held.filter(isFull)) if (await canClose(name)) closed.push(name);
    return new CommandBudget(limits, held, closed);
  }

  private constructor(limits: Amounts, held: readonly Held[], closed: readonly string[]) {
    this.limits = limits;
    this.closed = closed;
    this.quotas = held
      .filter(({ name }) => !closed.includes(name))
      .map(({ usage, ...quota }) => ({
        ...quota,
        left_mb: Math.max(0, FULL * quota.mb - usage.mb),
        mb: Math.max(quota.mb, usage.mb + ROOM_MB),
        files: Math.max(quota.files, usage.files + ROOM_FILES),
      }));
    this.#file_mb = Math.min(limits.disk_mb, ...this.quotas.map(({ left_mb }) => left_mb));
    const full = held.filter(isFull);
    this.note = full.map((one) => fullText(one, closed.includes(one.name))).join(' ');
  }

  /**
   * Shell code that runs before the command. System limits act at once, where the watch only polls. `own_namespace`: the number of processes is limited, too,
   * because it is counted for this command alone (not enforced for root); otherwise all processes of the user would count. When memory runs out, the kernel
   * should kill the command, not this program or another.
   */
  script(own_namespace: boolean): string {
    const { processes } = this.limits;
    const parts = ['echo 1000 >/proc/self/oom_score_adj'];
    // The unit is blocks of 512 bytes.
    if (this.#file_mb !== Infinity) parts.push(`ulimit -f ${Math.ceil(this.#file_mb * 2048)}`);
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
    if (met === 'disk_mb' && this.#file_mb < this.limits.disk_mb / 2) {
      const { name } = this.quotas.find(({ left_mb }) => left_mb === this.#file_mb) as FolderQuota;
      return `a file may have at most ${Math.floor(this.#file_mb)} MB now, because ${name} can take no more: delete what is not needed there`;
    }
    if (met === undefined || this.limits[met] === Infinity) return '';
    const [unit, of] = MEASURES[met];
    return `a command may use at most ${Math.round(this.limits[met])}${unit}${of}. ${raise(met)}`;
  }
}

type Closes = (name: string) => Promise<boolean>;
type Held = Omit<FolderQuota, 'left_mb'> & { readonly usage: FolderUsage };

const isFull = ({ usage, mb, files }: Held) => usage.files >= files || usage.mb >= FULL * mb;

function fullText({ name: folder, limit, mb, files, usage }: Held, is_closed: boolean): string {
  const excess: Excess =
    usage.files >= files
      ? { limit: 'files', folder, used: usage.files, allowed: files }
      : { limit, folder, used: usage.mb, allowed: mb };
  const until = is_closed ? 'only read and remove files there' : 'write to no file, only remove some';
  return `${excessClause(excess)}. Until it holds less, commands can ${until}: delete what is not needed. ${raise(excess.limit)}`;
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
  // If the folder is gone, the start of the command will report it.
  const { bavail, bsize } = orElse(() => statfsSync(folder), { bavail: Infinity, bsize: 1 });
  return (bavail * bsize) / MB;
}
