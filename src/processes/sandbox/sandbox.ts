import type { ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { countIn, keptIn } from '../../records/kept-in.ts';
import { HostProxy, PROXY_ENVIRONMENT } from '../hosts/host-proxy.ts';
import type { CommandBudget } from '../limits/command-budget.ts';
import type { Amounts } from '../limits/process-usage.ts';
import { TREE_TMP } from '../output/spill-folder.ts';
import { bubblewrapCall, LANDLOCK, programWithin, type SandboxLayout } from './bubblewrap.ts';
import type { ConfinedProgram, Program } from './confined-program.ts';
import { fileTextOrEmpty, isInside, isPlaceholder, type Placeholder } from './governing.ts';
import { landlockProgram, PROCESSOR } from './landlock-program.ts';
import { leaderWithin } from './sandbox-report.ts';
import { sandboxFault } from './sandbox-support.ts';
import { missedBy, type SandboxView } from './sandbox-view.ts';
import { socketFilter } from './socket-filter.ts';

export interface SandboxSettings
  extends Pick<SandboxView, 'write' | 'read' | 'hidden' | 'unprotected' | 'sockets'> {
  readonly mode: 'workspace' | 'strict';
  /** Hosts that programs may reach by HTTP and HTTPS: `example.com`, `*.example.com`, `*`; with `:PORT` only that port. */
  readonly hosts: readonly string[];
}

/**
 * Waits up to about 0.3 seconds for processes that the program left running, such as a process substitution that is still writing: all of them end with this
 * shell. Signals are trapped, so that the program receives them and the shell goes on waiting for it.
 */
const SHELL = '/bin/sh';
const INIT =
  'trap : TERM INT HUP; "$@"; s=$?; n=0; while set -- /proc/[0-9]*; [ $# -gt 2 ] && [ $n -lt 30 ]; do sleep 0.01; n=$((n+1)); done; exit $s';

/** Without a network, another try only takes time: package managers would go on for minutes. */
const OFFLINE = ['npm_config_fetch_retries', 'PIP_RETRIES'].flatMap((name) => ['--setenv', name, '0']);

/** Maximum characters, from the end, that are searched for what a program missed. */
const TEXT_MAX = 20_000;

/** Number of running programs that use each placeholder, by path. */
const placeholders = new Map<string, number>();

/**
 * Sandbox for the programs that tools start: restricts what they write and read and which processes they see, and allows no network but `hosts`
 * (docs/sandbox.md). Linux only, by bubblewrap.
 */
export class Sandbox {
  readonly settings: SandboxSettings;
  readonly #proxy: HostProxy | null;
  #problem: Promise<string | null> | undefined;

  constructor(settings: SandboxSettings) {
    this.settings = settings;
    this.#proxy = settings.hosts.length === 0 ? null : new HostProxy(settings.hosts);
  }

  /** Why no program can be confined on this machine, and what to do; null if it works. Checked until it works. */
  problem(): Promise<string | null> {
    this.#problem ??= sandboxFault().then((problem) => {
      if (problem !== null) this.#problem = undefined; // somebody may do what it says
      return problem;
    });
    return this.#problem;
  }

  /**
   * `cwd`: canonical. `shared`: the folder of the tree, kept between calls, which contains the /tmp of its programs. `start`: the folder, within `cwd`, in
   * which the program starts. `notes`: gets what `close` returns.
   */
  confine(
    program: Program,
    { cwd, shared, start }: { readonly cwd: string; readonly shared: string; readonly start: string },
    budget?: CommandBudget,
    notes: string[] = [],
  ): ConfinedProgram {
    const tmp = join(shared, TREE_TMP);
    mkdirSync(tmp, { recursive: true, mode: 0o700 });
    const memory_bytes = Math.ceil((budget?.limits.memory_mb ?? Infinity) * 2 ** 20);
    const begin = [SHELL, '-c', (budget?.script(true) ?? '') + INIT, SHELL];
    const place = { cwd, start, tmp, output: shared, memory_bytes, lasting: false };
    const { close, ...confined } = this.#confine(program, place, begin, budget?.closed);
    return {
      ...confined,
      close: () => {
        notes.push(...close());
        return notes;
      },
    };
  }

  /** Like `confine`, for a long-running program: whatever it started ends as soon as it exits. Its /tmp is in memory, within its limits. */
  confineLasting(program: Program, cwd: string, { memory_mb, disk_mb }: Amounts): ConfinedProgram {
    const memory_bytes = Math.ceil(Math.min(memory_mb, disk_mb) * 2 ** 20);
    const place = { cwd, start: cwd, tmp: null, output: null, memory_bytes, lasting: true };
    return this.#confine(program, place, []);
  }

  #view(programs: readonly string[]) {
    const { mode, hosts: _, ...settings } = this.settings;
    return {
      ...settings,
      strict: mode === 'strict',
      home: homedir(),
      programs,
    };
  }

  /** Sentences about what the text (a command and its output) names and the sandbox does not show, and how to show it. `shared`: as for `confine`; null: a lasting program. */
  missed(text: string, cwd: string, shared: string | null, programs: readonly string[] = []): string[] {
    const tmp = shared === null ? null : join(shared, TREE_TMP);
    return missedBy({ ...this.#view(programs), cwd, tmp }, text.slice(-TEXT_MAX)).map((path) => {
      const name = path.replace(`${homedir()}/`, '~/');
      const why = isInside(path, '/tmp') ? ', since its /tmp is another folder' : '';
      return `the sandbox does not show ${name}${why}. If the user wants that: "sandbox.read": ["${name}"] in the configuration`;
    });
  }

  #confine(
    program: Program,
    place: Pick<SandboxLayout, 'cwd' | 'start' | 'tmp' | 'output' | 'memory_bytes' | 'lasting'>,
    begin: readonly string[],
    closed: readonly string[] = [],
  ): ConfinedProgram {
    const proxy = this.#proxy;
    const landlock_at = proxy === null ? 5 : 6;
    const view = this.#view([program.file, ...(place.lasting ? program.args : [])]);
    const layout = { ...place, ...view, landlock: landlock_at };
    const file = programWithin(layout, program.file);
    const call = bubblewrapCall(layout);
    const { sockets } = this.settings;
    const filter = openAnew(`filter ${sockets}`, () => socketFilter(PROCESSOR, sockets));
    const landlock = openAnew('landlock', () => landlockProgram(PROCESSOR));
    // Signals stay within the sandbox (2), and so do abstract sockets (1), unless sockets are allowed.
    const scoped = sockets ? '2' : '3';
    // Only placeholders are removed afterwards, not what existed before.
    const made = call.missing.filter(({ path }) => placeholders.has(path) || !existsSync(path));
    for (const one of made) takePlaceholder(one);
    let [report, bridge]: [string, Promise<ChildProcess | null> | null] = ['', null];
    const leader = (): number | undefined => leaderWithin(report);
    return {
      file: 'bwrap',
      args: [
        ...(proxy === null ? OFFLINE : proxyArguments()),
        ...call.args,
        ...['--seccomp', '3', '--info-fd', '4', '--', LANDLOCK, scoped],
        ...call.writable.filter((path) => !closed.includes(path)),
        ...['--', ...begin, file, ...program.args],
      ],
      stdio: withoutInherited([filter, 'pipe', ...(proxy === null ? [] : ['pipe' as const]), landlock]),
      told(chunk, go) {
        report += chunk;
        const pid = leader();
        if (proxy === null || pid === undefined || bridge !== null) return;
        bridge = proxy.join(pid);
        // If this fails, the program starts without network, and will report that.
        void bridge.catch(() => null).then(go);
      },
      memory: call.memory,
      standing: call.standing,
      leader,
      close: () => {
        closeSync(filter);
        closeSync(landlock);
        for (const one of made) leavePlaceholder(one);
        void bridge?.then((one) => one?.kill('SIGKILL')).catch(() => {});
        return call.takeBack();
      },
    };
  }
}

/**
 * Bubblewrap reads descriptor 5 to its end for `--file` before it sets up what follows. With `--block-fd` it would wait in a user namespace nested in the one
 * that owns the network namespace, through which only root could join the network.
 */
function proxyArguments(): string[] {
  const variables = Object.entries(PROXY_ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]);
  return ['--file', '5', '/.proxy', ...variables];
}

function takePlaceholder({ path, content }: Placeholder): void {
  countIn(placeholders, path, 1);
  if (existsSync(path)) return;
  if (content === null) mkdirSync(path);
  else writeFileSync(path, content, { flag: 'wx' });
}

function leavePlaceholder(one: Placeholder): void {
  const { path, content } = one;
  if (countIn(placeholders, path, -1) > 0) return;
  try {
    if (content === null) rmdirSync(path);
    else if (isPlaceholder(one)) unlinkSync(path);
  } catch {
    // never made, or no longer empty
  }
}

type Stdio = ConfinedProgram['stdio'];

let inherited: readonly number[] | undefined;
let nothing: number | undefined;

/** Replaces descriptors that this process inherited from its parent, because children would inherit them, too: they may lead out of the sandbox. */
function withoutInherited(own: Stdio): Stdio {
  inherited ??= readdirSync('/proc/self/fd')
    .map(Number)
    .filter((one) => one > 2 && isInherited(one));
  const last = Math.max(2, ...inherited);
  if (last - 3 < own.length) return own;
  nothing ??= openSync('/dev/null', 'r');
  const all: Stdio[number][] = [...own];
  for (let one = 3 + own.length; one <= last; one += 1)
    all.push(inherited.includes(one) ? nothing : 'ignore');
  return all;
}

/** Whether children inherit the descriptor: those that this process opened itself are close-on-exec. */
function isInherited(descriptor: number): boolean {
  const about = fileTextOrEmpty(`/proc/self/fdinfo/${descriptor}`);
  const flags = /^flags:\s*(\d+)$/m.exec(about)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_IN_CHILDREN) === 0;
}

/** `O_CLOEXEC` on x64 and arm64. */
const CLOSED_IN_CHILDREN = 0o2000000;

/** Files without a name, by what they hold. */
const unnamed_files = new Map<string, number>();

/** Opens the file anew for each child, because the read offset belongs to the open file. */
function openAnew(name: string, make: () => Buffer): number {
  return openSync(`/proc/self/fd/${keptIn(unnamed_files, name, () => unnamedFile(make()))}`, 'r');
}

/** Opens a file that holds this and has no name: it ends with its last descriptor. */
export function unnamedFile(content: Buffer | string): number {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-unnamed-'));
  try {
    const file = join(folder, 'content');
    writeFileSync(file, content, { mode: 0o600 });
    return openSync(file, 'r');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
