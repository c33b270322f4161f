/** The end of a command that a model's program asked to run. */
export interface HostExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A command that a model's program runs through its host. */
export interface HostTerminal {
  /** What it has written so far; `truncated`: its beginning was dropped. */
  output(): { readonly text: string; readonly truncated: boolean; readonly exit: HostExit | null };
  readonly exited: Promise<HostExit>;
  /** Stops the whole process group; resolves when it is gone. */
  kill(): Promise<void>;
}

export type HostAnswer<T> =
  | ({ readonly ok: true } & T)
  /** The text names what was refused or went wrong, for the program. */
  | { readonly ok: false; readonly error: string };

/**
 * What an agent program that serves as a model may do on this machine: nothing that the agent's own tools may not. Paths are
 * contained in the agent's folder, every use passes the tree's permissions. No method throws or rejects.
 */
export interface ModelHost {
  /** The agent's folder, absolute and canonical. */
  readonly cwd: string;
  /** Environment variables that its child processes may see. */
  readonly env: Readonly<Record<string, string>>;
  /** Null when the tree's rules allow this use; else the sentence that says which rule does not. `subject` as in permission rules. */
  readonly refusal: (tool: string, subject: string) => string | null;
  readFile(path: string, from_line?: number, lines?: number): Promise<HostAnswer<{ readonly text: string }>>;
  writeFile(path: string, text: string): Promise<HostAnswer<object>>;
  /** `output_bytes` bounds what is kept; the newest is kept. */
  startCommand(request: {
    readonly command: string;
    readonly args: readonly string[];
    readonly cwd: string | null;
    readonly env: Readonly<Record<string, string>>;
    readonly output_bytes: number;
  }): Promise<HostAnswer<{ readonly terminal: HostTerminal }>>;
}
