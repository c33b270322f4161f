import type { Checkpoint } from './checkpoint.ts';
import type { EventContent, FileMark, FileUse, PlacedMessage } from './message.ts';

type Hashes = ReadonlyMap<string, string>;

/** Told of each use of a file. */
export type UseNoted = (path: string, use: FileUse) => void;

/** Files that a fork's ancestors had seen when it was created; built lazily. */
export type InheritedFiles = () => Hashes;

const NOTHING: Hashes = new Map();
const MARKS_MAX = 500;

/** Files that a conversation has seen: by path, the hash of the content that it last read or wrote. */
export class SeenFiles {
  #inherited: InheritedFiles;
  readonly #used: UseNoted;
  readonly #own = new Map<string, { readonly hash: string; readonly use: FileUse }>();
  /** All marks in order. A fork inherits those before its fork point. */
  #log: FileMark[] = [];
  /** Length of `#log` before the calls of the newest answer: a fork created by one of them does not see the results of the others. */
  #before_calls = 0;

  constructor(inherited: InheritedFiles = () => NOTHING, used: UseNoted = () => {}) {
    this.#inherited = inherited;
    this.#used = used;
  }

  append(message: Pick<PlacedMessage, 'kind' | 'content'>): void {
    if (message.kind === 'assistant') this.#before_calls = this.#log.length;
    if (message.kind === 'event') this.#checkpoint(message.content as EventContent);
    if (message.kind !== 'result' || !('file' in message.content)) return;
    const { file } = message.content;
    if (file === undefined) return;
    const use = file.before === undefined ? (this.use(file.path) ?? 'read') : 'changed';
    this.#use(file.path, file.hash, use);
    this.#log.push([file.path, file.hash]);
  }

  #use(path: string, hash: string, use: FileUse): void {
    this.#own.set(path, { hash, use });
    this.#used(path, use);
  }

  hashOf(path: string): string | undefined {
    return this.#own.get(path)?.hash ?? this.#inherited().get(path);
  }

  /** How the agent's own calls used the file; undefined if they did not. */
  use(path: string): FileUse | undefined {
    return this.#own.get(path)?.use;
  }

  /** The newest marks, at most `MARKS_MAX`, for a checkpoint; newest last. */
  marks(): FileMark[] {
    const hashes = new Map(this.#inherited());
    for (const [path, hash] of this.#log) {
      hashes.delete(path);
      hashes.set(path, hash);
    }
    return [...hashes].slice(-MARKS_MAX).map(([path, hash]) => {
      const use = this.use(path);
      return use === undefined ? [path, hash] : [path, hash, use];
    });
  }

  /** Resets to the files of the checkpoint, so that loading the history from the checkpoint on gives the same result as replaying all of it. */
  #checkpoint({ event, data }: EventContent): void {
    const marks = event === 'checkpoint' ? (data as unknown as Checkpoint).files : undefined;
    if (marks === undefined) return;
    const inherited = new Map(hashesOf(marks.filter(([, , use]) => use === undefined)));
    this.#inherited = () => inherited;
    this.#own.clear();
    for (const [path, hash, use] of marks) if (use !== undefined) this.#use(path, hash, use);
    this.#log = [...marks];
    this.#before_calls = marks.length;
  }

  forked(): InheritedFiles {
    const [inherited, log, length] = [this.#inherited, this.#log, this.#before_calls];
    let built: Hashes | null = null;
    return () => {
      built ??= new Map([...inherited(), ...hashesOf(log.slice(0, length))]);
      return built;
    };
  }
}

function hashesOf(marks: readonly FileMark[]): (readonly [path: string, hash: string])[] {
  return marks.map(([path, hash]) => [path, hash]);
}

/** Replays a composed history (as `promptOf`). */
export function seenIn(history: readonly PlacedMessage[], used?: UseNoted): SeenFiles {
  let seen = new SeenFiles(undefined, used);
  let owner: string | null = null;
  for (const message of history) {
    if (owner !== null && message.agent_id !== owner) seen = new SeenFiles(seen.forked(), used);
    owner = message.agent_id;
    seen.append(message);
  }
  return seen;
}
