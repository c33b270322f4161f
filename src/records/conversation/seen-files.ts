import type { Checkpoint } from './checkpoint.ts';
import type { EventContent, FileMark, FileUse, PlacedMessage } from './message.ts';

type Hashes = ReadonlyMap<string, string>;

/** The files that a fork's ancestors had seen when it was made; built when it is first asked for. */
export type InheritedFiles = () => Hashes;

const NOTHING: Hashes = new Map();
const MARKS_MAX = 500;

/** What a conversation has seen of files: by path, the hash of the content that it was last shown, or wrote itself. */
export class SeenFiles {
  #inherited: InheritedFiles;
  readonly #own = new Map<string, { readonly hash: string; readonly use: FileUse }>();
  /** In order, for forks: each sees those before it. */
  #log: FileMark[] = [];
  /** How many came before the calls of the newest answer: a fork that is one of them does not see what the others return. */
  #before_calls = 0;

  constructor(inherited: InheritedFiles = () => NOTHING) {
    this.#inherited = inherited;
  }

  append(message: Pick<PlacedMessage, 'kind' | 'content'>): void {
    if (message.kind === 'assistant') this.#before_calls = this.#log.length;
    if (message.kind === 'event') this.#checkpoint(message.content as EventContent);
    if (message.kind !== 'result' || !('file' in message.content)) return;
    const { file } = message.content;
    if (file === undefined) return;
    const use = file.before === undefined ? (this.use(file.path) ?? 'read') : 'changed';
    this.#own.set(file.path, { hash: file.hash, use });
    this.#log.push([file.path, file.hash]);
  }

  hashOf(path: string): string | undefined {
    return this.#own.get(path)?.hash ?? this.#inherited().get(path);
  }

  /** What this agent did with the file by calls of its own; undefined: nothing. */
  use(path: string): FileUse | undefined {
    return this.#own.get(path)?.use;
  }

  /** For a checkpoint: what it has seen last, the newest at the end. */
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

  /** Whoever reads the history from the checkpoint on knows the same as whoever was there. */
  #checkpoint({ event, data }: EventContent): void {
    const marks = event === 'checkpoint' ? (data as unknown as Checkpoint).files : undefined;
    if (marks === undefined) return;
    const inherited = new Map(hashesOf(marks.filter(([, , use]) => use === undefined)));
    this.#inherited = () => inherited;
    this.#own.clear();
    for (const [path, hash, use] of marks) if (use !== undefined) this.#own.set(path, { hash, use });
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

/** Of a composed history (`promptOf`). */
export function seenIn(history: readonly PlacedMessage[]): SeenFiles {
  let seen = new SeenFiles();
  let owner: string | null = null;
  for (const message of history) {
    if (owner !== null && message.agent_id !== owner) seen = new SeenFiles(seen.forked());
    owner = message.agent_id;
    seen.append(message);
  }
  return seen;
}
