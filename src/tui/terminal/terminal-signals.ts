export interface TerminalSignalListener {
  /** Somebody asks us to stop (SIGTSTP from outside: in raw mode Ctrl-Z is a key). */
  readonly onStop: () => void;
  readonly onContinue: () => void;
  /** The terminal is gone, or we are asked to end. */
  readonly onEnd: () => void;
  /** The process ends now, by itself or by an error that nobody caught. */
  readonly onExit: () => void;
}

const ENDS = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const;
/** Where there is no job control the stop is ignored, and we go on after this. */
const NOT_STOPPED_MS = 100;

/** What happens to a process that owns a terminal. */
export class TerminalSignals {
  readonly #listener: TerminalSignalListener;
  #stopping: NodeJS.Timeout | null = null;

  constructor(listener: TerminalSignalListener) {
    this.#listener = listener;
    for (const name of ENDS) process.on(name, listener.onEnd);
    process.on('exit', listener.onExit);
    if (process.platform === 'win32') return;
    process.on('SIGTSTP', listener.onStop);
    process.on('SIGCONT', this.#onContinue);
  }

  /** Stops the process group; `onContinue` follows. */
  stop(): void {
    process.off('SIGTSTP', this.#listener.onStop);
    this.#stopping = setTimeout(this.#onContinue, NOT_STOPPED_MS);
    process.kill(0, 'SIGTSTP');
  }

  /** `hung_up`: the terminal is gone, of which the kernel and the shell both tell; the second must not cut off what the first has begun. */
  end(hung_up: boolean): void {
    if (this.#stopping !== null) clearTimeout(this.#stopping);
    const { onEnd, onExit, onStop } = this.#listener;
    for (const name of ENDS) if (!(hung_up && name === 'SIGHUP')) process.off(name, onEnd);
    process.off('exit', onExit);
    process.off('SIGTSTP', onStop);
    process.off('SIGCONT', this.#onContinue);
  }

  readonly #onContinue = (): void => {
    if (this.#stopping !== null) {
      clearTimeout(this.#stopping);
      this.#stopping = null;
      process.on('SIGTSTP', this.#listener.onStop);
    }
    this.#listener.onContinue();
  };
}
