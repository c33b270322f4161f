import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { childEnvironment } from '../../processes/child-environment.ts';
import { forgetProcessGroup, registerProcessGroup, stopProcessGroup } from '../../processes/process-group.ts';
import { markVariable, nextMark } from '../../processes/process-mark.ts';
import { killStraysOfCall } from '../../processes/stray-processes.ts';
import type { AcpServerConfig } from './acp-config.ts';

const STDERR_BYTES = 4096;
/** Maximum characters of stderr in messages. */
const LAST_WORDS = 500;
/** How long to wait for remaining stderr after the exit, and for the exit after stdout was closed. */
const LAST_WORDS_MS = 200;
const CLOSED_OUTPUT_MS = 500;
/** From closing its input to TERM, and from TERM to KILL. */
const POLITE_MS = 500;
const TERM_MS = 1500;

type Environment = Readonly<Record<string, string | undefined>>;

/** The program's environment: a basic allow-list, variables passed by name, and variables set by the configuration. */
export function acpEnvironment(config: AcpServerConfig, from: Environment): Record<string, string> {
  const environment = childEnvironment([], from);
  for (const name of config.envAllow ?? []) {
    const value = from[name];
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...config.env };
}

/** One run of an agent program, in a process group of its own. */
export class AcpChild {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  /** Resolves when its process group has ended, with a sentence for people. Never rejects. */
  readonly gone: Promise<string>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<string>;
  #last_words = Buffer.alloc(0);
  #reason: string | null = null;
  #stopping: Promise<void> | null = null;

  constructor(config: AcpServerConfig, from: Environment) {
    const mark = nextMark();
    const env = { ...acpEnvironment(config, from), [markVariable]: mark };
    const { command, args = [] } = config;
    const child = spawn(command, args, { env, stdio: 'pipe', detached: true, windowsHide: true });
    this.#child = child;
    if (child.pid !== undefined) registerProcessGroup(child.pid);
    this.#exited = new Promise((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        if (child.pid === undefined) resolve(notStarted(command, error));
      });
      child.once('exit', (code, signal) =>
        resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
      );
    });
    child.stdin.on('error', () => undefined); // the end of the process is told by `gone`
    child.stdout.on('error', () => undefined);
    child.stderr.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => {
      this.#last_words = Buffer.concat([this.#last_words, chunk]).subarray(-STDERR_BYTES);
    });
    child.stdout.once('close', () => void this.#outputClosed());
    this.gone = this.#follow(mark);
    this.stdin = Writable.toWeb(child.stdin) as WritableStream<Uint8Array>;
    this.stdout = Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>;
  }

  async #follow(mark: string): Promise<string> {
    const how = await this.#exited;
    const { pid, stderr } = this.#child;
    if (!stderr.closed && pid !== undefined)
      await Promise.race([new Promise((resolve) => stderr.once('close', resolve)), sleep(LAST_WORDS_MS)]);
    if (pid !== undefined) {
      await stopProcessGroup(pid, LAST_WORDS_MS);
      forgetProcessGroup(pid);
      killStraysOfCall(mark);
    }
    stderr.destroy();
    const words = newest(readable(this.#last_words.toString('utf8')));
    const ending = this.#reason === null ? how : `${how} (${this.#reason})`;
    return words === '' ? ending : `${ending}; its last words: ${words}`;
  }

  /** A program that closed its stdout can no longer answer. */
  async #outputClosed(): Promise<void> {
    const ended = await Promise.race([this.#exited, sleep(CLOSED_OUTPUT_MS, null, { ref: false })]);
    if (ended === null) await this.stop('it closed its standard output');
  }

  /** Closes stdin, then sends TERM, then KILL to the group. Resolves when it has ended. `why` becomes part of the sentence. */
  stop(why: string): Promise<void> {
    this.#reason ??= why;
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined) return;
    this.#child.stdin.end();
    const ended = await Promise.race([this.#exited, sleep(POLITE_MS, null)]);
    if (ended === null) await stopProcessGroup(pid, TERM_MS);
    await this.gone;
  }
}

/** The end is more informative than the beginning. */
function newest(text: string): string {
  return text.length <= LAST_WORDS ? text : `…${text.slice(-LAST_WORDS).toWellFormed()}`;
}

function notStarted(command: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return `could not be started: there is no command "${command}"`;
  if (error.code === 'EACCES') return `could not be started: "${command}" may not be executed`;
  return `could not be started: ${error.message}`;
}

/** Without terminal sequences and control characters, on one line. */
export function readable(text: string): string {
  const plain = text.replace(/(?!\s)\p{Cc}\[[0-9;?]*[A-Za-z]/gu, '').replace(/\s*\n\s*/g, ' | ');
  return plain
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .replace(/^\| | \|$/g, '');
}
