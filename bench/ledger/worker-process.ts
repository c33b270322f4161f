import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Used {
  readonly type: 'used';
  readonly cpu_ms: number;
  /** On SQLite: all that it executed. */
  readonly statements: number;
  readonly memory_mb: number;
}

/** What a worker tells. */
export type WorkerNote =
  | { readonly type: 'works' }
  | { readonly type: 'rests'; readonly id: string; readonly at: number }
  | Used;

/** A worker that was started, seen from outside. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  /** When each agent came to rest here. */
  readonly rested = new Map<string, number>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (note: WorkerNote) => {
      if (note.type === 'rests') this.rested.set(note.id, note.at);
    });
  }

  static async start(url: string): Promise<WorkerProcess> {
    const worker = new WorkerProcess(fork(join(import.meta.dirname, 'worker.ts'), [url]));
    await worker.#note('works');
    return worker;
  }

  /** Rejects when it ends before it has told. */
  async #note<T extends WorkerNote['type']>(type: T): Promise<Extract<WorkerNote, { type: T }>> {
    const ended = once(this.#child, 'exit').then(([code]) => {
      throw new Error(`the worker has ended: ${code}`);
    });
    ended.catch(() => undefined);
    for (;;) {
      const [note] = (await Promise.race([once(this.#child, 'message'), ended])) as [WorkerNote];
      if (note.type === type) return note as Extract<WorkerNote, { type: T }>;
    }
  }

  async used(): Promise<Used> {
    const note = this.#note('used');
    this.#child.send('used');
    return note;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.send('stop');
    await ended;
  }
}
