import { type ChildProcess, fork } from 'node:child_process';
import { FairSlots } from '../fair-slots.ts';
import { forgetProcessGroup, registerProcessGroup, stopProcessGroup } from '../process-group.ts';
import { markVariable } from '../process-mark.ts';
import { killStraysOfCall } from '../stray-processes.ts';
import { followProcess } from './follow-process.ts';
import type { FromLauncher, OrderEnd, ProcessEvents, ProcessOrder, ToLauncher } from './process-order.ts';

/** Programs that a process starts itself before it uses a launcher, which takes a moment to start, and some memory. */
const OWN_STARTS = 24;
/** The launcher exits after this time without a program. */
const IDLE_MS = 60_000;
/** Maximum programs being started at once: the others queue here, where trees take turns, and not in the launcher. */
const STARTING_AT_ONCE = 2;

interface Call {
  readonly order: ProcessOrder;
  readonly events: ProcessEvents;
  readonly onStarted: () => void;
  readonly end: (end: OrderEnd) => void;
  leader: number | undefined;
}

/**
 * A small process that starts programs for this one. Node starts a program by forking its own process, which takes longer the more memory that uses, and
 * blocks until the program has begun: in this process, that would block every tree. When the launcher ends, all that it started ends.
 */
export class Launcher {
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, Call>();
  readonly #starting = new FairSlots({ count: STARTING_AT_ONCE });
  #last_id = 0;
  #idle: NodeJS.Timeout | undefined;
  is_ready = false;
  is_gone = false;

  constructor() {
    const own_mark = process.env[markVariable];
    this.#child = fork(new URL('./launcher-program.ts', import.meta.url), {
      env: own_mark === undefined ? {} : { [markVariable]: own_mark },
      execArgv: [],
      serialization: 'advanced',
      // Signals from the terminal are for this process only.
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('error', () => this.#lost());
    this.#child.once('exit', () => this.#lost());
    this.#child.once('disconnect', () => this.#lost());
    this.#child.on('message', (message: FromLauncher) => this.#heard(message));
    this.#rest();
  }

  /** Like `followProcess`, except that an error thrown in the launcher becomes the end `not_started`. */
  async run(
    order: ProcessOrder,
    events: ProcessEvents,
    signal: AbortSignal,
    tree: string,
  ): Promise<OrderEnd> {
    if (!(await this.#starting.acquire(tree, signal))) return { end: 'aborted', started: false };
    if (this.is_gone) {
      this.#starting.release(tree);
      return followProcess(order, events, signal);
    }
    this.#last_id += 1;
    const id = this.#last_id;
    const abort = (): void => this.#tell({ type: 'abort', id });
    let onStarted = (): void => {
      onStarted = () => {};
      this.#starting.release(tree);
    };
    try {
      return await new Promise<OrderEnd>((end) => {
        this.#calls.set(id, { order, events, onStarted: () => onStarted(), end, leader: undefined });
        this.#work();
        this.#tell({ type: 'run', id, order });
        signal.addEventListener('abort', abort, { once: true });
        if (signal.aborted) abort();
      });
    } finally {
      signal.removeEventListener('abort', abort);
      onStarted();
      this.#calls.delete(id);
      if (this.#calls.size === 0) this.#rest();
    }
  }

  #tell(message: ToLauncher): void {
    // Errors are ignored: the launcher is gone, which its events report.
    if (!this.is_gone) this.#child.send(message, () => {});
  }

  #heard(message: FromLauncher): void {
    if (message.type === 'ready') {
      this.is_ready = true;
      return;
    }
    const call = this.#calls.get(message.id);
    if (call === undefined) return;
    switch (message.type) {
      case 'started':
        call.leader = message.leader;
        registerProcessGroup(message.leader);
        call.events.onStart(message.leader);
        return call.onStarted();
      case 'output':
        return void call.events.onOutput(message.chunk);
      case 'error':
        return void call.events.onErrorOutput(message.chunk);
      case 'sandbox':
        return call.events.onSandboxReport(message.chunk, () => this.#tell({ type: 'go', id: message.id }));
      case 'not_started': {
        const { code } = message;
        const error = Object.assign(new Error(message.message), code === undefined ? {} : { code });
        return this.#end(call, { end: 'not_started', error });
      }
      case 'ended':
        return this.#end(call, message.end);
    }
  }

  #end(call: Call, end: OrderEnd): void {
    if (call.leader !== undefined) forgetProcessGroup(call.leader);
    call.end(end);
  }

  /** Ends what the launcher started, since nobody else would. */
  #lost(): void {
    this.is_gone = true;
    for (const call of this.#calls.values()) {
      const { leader, order } = call;
      killStraysOfCall(order.mark);
      void (leader === undefined ? Promise.resolve() : stopProcessGroup(leader, 0)).then(() =>
        this.#end(call, { end: 'exited', code: null, signal: 'SIGKILL' }),
      );
    }
  }

  #work(): void {
    clearTimeout(this.#idle);
    this.#child.ref();
    this.#child.channel?.ref();
  }

  /** Stops keeping this process alive, and starts the idle timeout. */
  #rest(): void {
    this.#child.unref();
    this.#child.channel?.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

let launcher: Launcher | null = null;
let own_starts = 0;

/** The launcher that should start the program; null: this process starts it itself. */
export function launcherFor(): Launcher | null {
  if (process.platform !== 'linux') return null;
  if (launcher?.is_gone) [launcher, own_starts] = [null, 0];
  own_starts += 1;
  if (launcher === null && own_starts > OWN_STARTS) launcher = new Launcher();
  return launcher?.is_ready ? launcher : null;
}
