import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Used {
  readonly type: 'used';
  readonly cpu_ms: number;
  /** Executed statements, on SQLite. */
  readonly statements: number;
  readonly memory_mb: number;
}

/** Messages of a worker process. */
export type WorkerNote =
  | { readonly type: 'works' }
  | { readonly type: 'rests'; readonly id: string; readonly at: number }
  | Used;

/** A worker process, from its parent's side. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  /** Time at which each agent came to rest, by its id. */
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

  /** Rejects when the process ends before. */
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
