import { setTimeout as pause } from 'node:timers/promises';

export interface TerminalSignalListener {
  /** SIGTSTP from another process: in raw mode Ctrl-Z is a key. */
  readonly onStop: () => void;
  readonly onContinue: () => void;
  /** The terminal is gone, or the process is asked to end. */
  readonly onEnd: () => void;
  /** The process exits. */
  readonly onExit: () => void;
}

const ENDS = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const;
/** Without job control a stop has no effect: the process then continues after this time. */
const NOT_STOPPED_MS = 100;
/** Time by which a signal for another program may arrive after the end of that program. */
const LATE_MS = 50;

/** The signals of a process that owns a terminal. */
export class TerminalSignals {
  readonly #listener: TerminalSignalListener;
  #stopping: NodeJS.Timeout | null = null;
  /** Whether another program has the terminal: Ctrl-C is then meant for it, and stopping and continuing concern both. */
  #lent = false;

  constructor(listener: TerminalSignalListener) {
    this.#listener = listener;
    for (const name of ENDS) process.on(name, this.#onEnd);
    process.on('exit', listener.onExit);
    if (process.platform === 'win32') return;
    process.on('SIGTSTP', this.#onStop);
    process.on('SIGCONT', this.#onContinue);
  }

  /** Lends the terminal to another program until `work` ends. */
  async lend(work: () => Promise<void>): Promise<void> {
    this.#lent = true;
    try {
      await work();
    } finally {
      await pause(LATE_MS);
      this.#lent = false;
    }
  }

  /** Stops the process group; `onContinue` follows. */
  stop(): void {
    process.off('SIGTSTP', this.#onStop);
    // After a real stop this timer is late, and SIGCONT waits behind it: it goes first, or the terminal would be taken twice.
    this.#stopping = setTimeout(() => {
      this.#stopping = setTimeout(this.#onContinue, NOT_STOPPED_MS);
    }, NOT_STOPPED_MS);
    process.kill(0, 'SIGTSTP');
  }

  /** Removes the handlers, except, if `hung_up`, that of SIGHUP: the kernel and the shell both send it, and the second must not kill the closing process. */
  end(hung_up: boolean): void {
    if (this.#stopping !== null) clearTimeout(this.#stopping);
    for (const name of ENDS) if (!(hung_up && name === 'SIGHUP')) process.off(name, this.#onEnd);
    process.off('exit', this.#listener.onExit);
    process.off('SIGTSTP', this.#onStop);
    process.off('SIGCONT', this.#onContinue);
  }

  readonly #onEnd = (signal: NodeJS.Signals): void => {
    if (!this.#lent || signal !== 'SIGINT') this.#listener.onEnd();
  };

  readonly #onStop = (): void => {
    if (this.#lent) process.kill(process.pid, 'SIGSTOP');
    else this.#listener.onStop();
  };

  readonly #onContinue = (): void => {
    if (this.#lent) return;
    if (this.#stopping !== null) {
      clearTimeout(this.#stopping);
      this.#stopping = null;
      process.on('SIGTSTP', this.#onStop);
    }
    this.#listener.onContinue();
  };
}
