import type { PlacedMessage } from './message.ts';

type Hashes = ReadonlyMap<string, string>;

/** The files that a fork's ancestors had seen when it was made; built when it is first asked for. */
export type InheritedFiles = () => Hashes;

const NOTHING: Hashes = new Map();

/** What a conversation has seen of files: by path, the hash of the content that it was last shown, or wrote itself. */
export class SeenFiles {
  readonly #inherited: InheritedFiles;
  readonly #own = new Map<string, { readonly hash: string; readonly changed: boolean }>();
  /** In order, for forks: each sees those before it. */
  readonly #log: (readonly [path: string, hash: string])[] = [];
  /** How many came before the calls of the newest answer: a fork that is one of them does not see what the others return. */
  #before_calls = 0;

  constructor(inherited: InheritedFiles = () => NOTHING) {
    this.#inherited = inherited;
  }

  append(message: Pick<PlacedMessage, 'kind' | 'content'>): void {
    if (message.kind === 'assistant') this.#before_calls = this.#log.length;
    if (message.kind !== 'result' || !('file' in message.content)) return;
    const { file } = message.content;
    if (file === undefined) return;
    const changed = file.before !== undefined || this.#own.get(file.path)?.changed === true;
    this.#own.set(file.path, { hash: file.hash, changed });
    this.#log.push([file.path, file.hash]);
  }

  hashOf(path: string): string | undefined {
    return this.#own.get(path)?.hash ?? this.#inherited().get(path);
  }

  /** What this agent did with the file by calls of its own; undefined: nothing. */
  use(path: string): 'read' | 'changed' | undefined {
    const own = this.#own.get(path);
    return own && (own.changed ? 'changed' : 'read');
  }

  forked(): InheritedFiles {
    const [inherited, log, length] = [this.#inherited, this.#log, this.#before_calls];
    let built: Hashes | null = null;
    return () => {
      built ??= new Map([...inherited(), ...log.slice(0, length)]);
      return built;
    };
  }
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
