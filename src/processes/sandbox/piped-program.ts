import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, type FSWatcher, lstatSync, statSync, watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOfText } from '../../records/text/cut-text.ts';
import { isExecutable, programPlaces } from '../find-shell.ts';
import { type CommandLimits, lastingExcess, lastingLimits } from '../limits/command-budget.ts';
import { LimitWatch } from '../limits/limit-watch.ts';
import type { Amounts, Processes } from '../limits/process-usage.ts';
import { NewestOutput } from '../output/newest-output.ts';
import { forgetProcessGroup, registerProcessGroup, stopProcessGroup } from '../process-group.ts';
import { markVariable, nextMark } from '../process-mark.ts';
import { killStraysOfCall } from '../stray-processes.ts';
import type { ConfinedProgram, Program } from './confined-program.ts';
import type { Sandbox } from './sandbox.ts';
import { forwardSandboxReport } from './sandbox-report.ts';

const STDERR_BYTES = 4096;
/** Delay between two measurements of resource usage: the program may be idle for hours. */
const LOOK_MS = 1000;
/** Maximum characters of stderr in messages. */
const LAST_WORDS = 500;
/** How long to wait for remaining stderr after the exit, and for the exit after stdout was closed. */
const LAST_WORDS_MS = 200;
const CLOSED_OUTPUT_MS = 500;
/** Grace periods: from closing the input to TERM, and from TERM to KILL. */
const POLITE_MS = 500;
const TERM_MS = 1500;

export interface PipedProgramRequest extends Program {
  /** The complete environment; the program is looked up in its `PATH`. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder in which the program starts and, if sandboxed, may write; a canonical path. */
  readonly cwd: string;
  /** Null: no sandbox, all rights of the user. */
  readonly sandbox: Sandbox | null;
  /** Resource limits of the program and its descendants; it is stopped when it exceeds one. */
  readonly limits?: CommandLimits | undefined;
}

/**
 * Starts a long-running program in the folder and the sandbox of the request. If sandboxed, it has a /tmp of its own, in memory. Rejects with
 * an error whose message lacks its subject (`could not be started: …`); never starts without the sandbox that was asked for.
 */
export async function startPipedProgram(request: PipedProgramRequest): Promise<PipedProgram> {
  const problem = (await request.sandbox?.problem()) ?? null;
  if (problem !== null) throw new Error(`could not be started: ${problem}`);
  const limits = lastingLimits(request.limits ?? {});
  const around = request.sandbox === null ? null : confinementOf(request, request.sandbox, limits);
  const mark = nextMark();
  try {
    const child = spawn(around?.confined.file ?? request.file, around?.confined.args ?? request.args, {
      cwd: request.cwd,
      env: { ...request.env, [markVariable]: mark },
      stdio: ['pipe', 'pipe', 'pipe', ...(around?.confined.stdio ?? [])],
      detached: true, // a session and a group of its own
      windowsHide: true,
    }) as ChildProcessWithoutNullStreams;
    const { pid } = child;
    if (pid === undefined) {
      const error = await new Promise<Error>((fail) => child.once('error', fail));
      throw notStarted(request, error);
    }
    registerProcessGroup(pid);
    if (around !== null) forwardSandboxReport(child, around.confined.told);
    return new PipedProgram(child, pid, mark, around, limits);
  } catch (error) {
    around?.takeAway('');
    throw error;
  }
}

interface Confinement {
  readonly confined: ConfinedProgram;
  readonly watch: MountWatch;
  /** Returns sentences about what was set aside, and about what the program missed, by its last words. */
  takeAway(words: string): string[];
}

function confinementOf(
  { file, args, env, cwd }: PipedProgramRequest,
  sandbox: Sandbox,
  limits: Amounts,
): Confinement {
  const found = findProgram(file, env.PATH ?? '');
  try {
    const confined = sandbox.confineLasting({ file: found, args }, cwd, limits);
    const watch = new MountWatch(confined.standing);
    return {
      confined,
      watch,
      takeAway: (words) => {
        watch.close();
        return [...confined.close(), ...sandbox.missed(words, cwd, null, [found, ...args])];
      },
    };
  } catch (error) {
    throw new Error(`could not be started: ${(error as Error).message}`, { cause: error });
  }
}

/** Looks the program up as the system would: inside the sandbox, nothing would report clearly what is missing. Throws if there is no such executable. */
function findProgram(file: string, path: string): string {
  const places = programPlaces(file.includes('/') ? resolve(file) : file, path);
  const found = places.find(isExecutable);
  if (found !== undefined) return found;
  const code = places.some((one) => statSync(one, { throwIfNoEntry: false })?.isFile()) ? 'EACCES' : 'ENOENT';
  throw notStarted({ file, cwd: '/' }, Object.assign(new Error(code), { code }));
}

/** A long-running program, in a process group of its own, that is used through its standard streams. */
export class PipedProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the program and all that it started have ended, to a sentence for people without its subject. Never rejects. */
  readonly gone: Promise<string>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #pid: number;
  readonly #confinement: Confinement | null;
  readonly #limits: LimitWatch;
  readonly #exited: Promise<string>;
  #last_words = Buffer.alloc(0);
  #reason: string | null = null;
  #stopping: Promise<void> | null = null;

  constructor(
    child: ChildProcessWithoutNullStreams,
    pid: number,
    mark: string,
    confinement: Confinement | null,
    limits: Amounts,
  ) {
    this.#child = child;
    this.#pid = pid;
    this.#confinement = confinement;
    this.#exited = new Promise((done) => {
      child.once('exit', (code, signal) =>
        done(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
      );
    });
    child.on('error', () => undefined);
    child.stdin.on('error', () => undefined); // `gone` reports the end of the process
    child.stdout.on('error', () => undefined);
    child.stderr.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => {
      this.#last_words = Buffer.concat([this.#last_words, chunk]).subarray(-STDERR_BYTES);
    });
    child.stdout.once('close', () => void this.#outputClosed());
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.#limits = new LimitWatch(
      limits,
      () => this.#processes(),
      (excess) => this.#end(lastingExcess(excess)),
      [],
      LOOK_MS,
    );
    this.gone = this.#follow(mark);
    confinement?.watch.begin((path) => this.#end(`its sandbox was no longer intact: ${path} was replaced`));
  }

  /** Stops without a grace period, in which the program could use more, or reach what has replaced a path of the sandbox. */
  #end(why: string): void {
    this.#reason ??= why;
    void stopProcessGroup(this.#pid, 0);
  }

  #processes(): Processes | undefined {
    if (this.#confinement === null) return { type: 'session', leader: this.#pid };
    const { confined } = this.#confinement;
    const first = confined.leader();
    return first === undefined ? undefined : { type: 'namespace', first, memory: confined.memory };
  }

  async #follow(mark: string): Promise<string> {
    const how = await this.#exited;
    this.#limits.close();
    const { stderr } = this.#child;
    if (!stderr.closed)
      await Promise.race([new Promise((closed) => stderr.once('close', closed)), sleep(LAST_WORDS_MS)]);
    await stopProcessGroup(this.#pid, LAST_WORDS_MS);
    // The first process within the sandbox ends last, a moment after the child that this process started.
    const first = this.#confinement?.confined.leader();
    if (first !== undefined) await stopProcessGroup(first, LAST_WORDS_MS);
    forgetProcessGroup(this.#pid);
    killStraysOfCall(mark);
    const said = this.#last_words.toString('utf8');
    const notes = this.#confinement?.takeAway(said) ?? [];
    stderr.destroy();
    // Where an error was thrown is worth less than what it says, and longer.
    const words = newest(readable(said.replaceAll(/^[ \t]+at .*\n?/gm, '')));
    const ended = how.endsWith(' code 0') ? `was ended: ${this.#reason}` : `${how} (${this.#reason})`;
    const ending = this.#reason === null ? how : ended;
    return [ending, ...(words === '' ? [] : [`last output on stderr: ${words}`]), ...notes].join('; ');
  }

  /** A program that closed its stdout can no longer answer. */
  async #outputClosed(): Promise<void> {
    const ended = await Promise.race([this.#exited, sleep(CLOSED_OUTPUT_MS, null, { ref: false })]);
    if (ended !== null) return;
    this.#reason ??= 'it closed its standard output';
    await this.stop(this.#reason);
  }

  /** Closes the program's input, then sends TERM, then KILL. Resolves when it has ended. `why` becomes part of the sentence. */
  stop(why: string): Promise<void> {
    // A program that no longer read has ended of its own accord, although that may be heard later.
    if (this.#child.stdin.errored === null) this.#reason ??= why;
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#child.stdin.end();
    const ended = await Promise.race([this.#exited, sleep(POLITE_MS, null)]);
    // Signals the program's own group: a signal to bubblewrap would end the program without a grace period.
    if (ended === null) await stopProcessGroup(this.#confinement?.confined.leader() ?? this.#pid, TERM_MS);
    if ((await Promise.race([this.#exited, sleep(POLITE_MS, null)])) === null)
      await stopProcessGroup(this.#pid, 0);
    await this.gone;
  }
}

/** The part of a sentence of `PipedProgram.gone` that quotes the program. */
export function lastWordsIn(how: string): string {
  return /; last output on stderr: .*$/s.exec(how)?.[0] ?? '';
}

/** The end is more informative than the beginning. */
function newest(text: string): string {
  return text.length <= LAST_WORDS ? text : `…${endOfText(text, LAST_WORDS)}`;
}

function notStarted(
  { file, cwd }: Pick<PipedProgramRequest, 'file' | 'cwd'>,
  error: NodeJS.ErrnoException,
): Error {
  let why = error.message;
  if (!existsSync(cwd)) why = `the folder ${cwd} is gone`;
  else if (error.code === 'ENOENT') why = `there is no command "${file}"`;
  else if (error.code === 'EACCES') why = `no permission to execute "${file}"`;
  return new Error(`could not be started: ${why}`, { cause: error });
}

/** Returns the text on one line, without terminal sequences and control characters. */
export function readable(text: string): string {
  const newest = new NewestOutput(Infinity);
  newest.push(Buffer.from(text));
  return newest
    .text()
    .replace(/\s*\n\s*/g, ' | ')
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .replace(/^\| | \|$/g, '');
}

/** Polling interval: covers replacements for which no event arrives. */
const POLL_MS = 1000;
/**
 * May disappear: git removes this folder with the last worktree. What a program creates in its place belongs to no worktree; only a folder that others create
 * anew holds settings that the program must not reach.
 */
const MAY_GO = /\/\.git\/worktrees$/;

/**
 * Detects when somebody outside replaces a path that the sandbox of a running program depends on: a mount disappears with its mount point, so that, for
 * example, a file rewritten by `git config` would be open to the program.
 */
class MountWatch {
  readonly #identities: ReadonlyMap<string, string | null>;
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  #onReplaced: ((path: string) => void) | undefined;
  #replaced: string | undefined;

  /** Starts watching at once; must be closed. */
  constructor(paths: readonly string[]) {
    this.#identities = new Map(paths.map((path) => [path, identityOf(path)]));
    for (const folder of new Set(paths.map(dirname))) this.#watch(folder);
  }

  /** Calls `onReplaced` at most once, immediately if a path has been replaced already. */
  begin(onReplaced: (path: string) => void): void {
    this.#onReplaced = onReplaced;
    this.#timer = setInterval(() => this.#lookAtAll(), POLL_MS).unref();
    if (this.#replaced !== undefined) onReplaced(this.#replaced);
    else this.#lookAtAll();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }

  #watch(folder: string): void {
    try {
      const inside = [...this.#identities.keys()].filter((path) => dirname(path) === folder);
      const named = new Map(inside.map((path) => [basename(path), path]));
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        const path = name === null ? undefined : named.get(name);
        // The replacement may have the same inode number, so a rename event counts by itself.
        if (event === 'rename' && path !== undefined) this.#look(path, true);
      });
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch {
      // The system allows no more watches, or the folder is gone: polling covers it.
    }
  }

  #lookAtAll(): void {
    for (const path of this.#identities.keys()) this.#look(path, false);
  }

  #look(path: string, changed: boolean): void {
    const now = identityOf(path);
    const was = this.#identities.get(path);
    if (now === was && !(changed && was !== null)) return;
    if (now === null && MAY_GO.test(path)) return;
    if (this.#replaced !== undefined) return;
    this.#replaced = path;
    this.close();
    this.#onReplaced?.(path);
  }
}

/** Returns null if the path does not exist. */
function identityOf(path: string): string | null {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status === undefined ? null : `${status.dev}:${status.ino}`;
}
