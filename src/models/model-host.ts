/** Exit of a command that an agent program ran. */
export interface HostExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A command that an agent program runs through its host. */
export interface HostTerminal {
  /** Its output so far; `truncated`: the beginning was dropped. */
  output(): { readonly text: string; readonly truncated: boolean; readonly exit: HostExit | null };
  readonly exited: Promise<HostExit>;
  /** Stops the process group; resolves when it has ended. */
  kill(): Promise<void>;
}

/** Something that an agent program wants to do. */
export interface HostUse {
  readonly tool: string;
  readonly subject: string;
  /** What it does it with, as JSON; shown to the person who is asked. */
  readonly input?: string;
  /** What it would change in a file. */
  readonly change?: { readonly before: string; readonly after: string };
}

export type HostAnswer<T> =
  | ({ readonly ok: true } & T)
  /** The text tells the program what was refused or failed. */
  | { readonly ok: false; readonly error: string };

/**
 * What an agent program used as a model may do on this machine: only what the agent's own tools may. Paths are
 * contained in the agent's folder, every use passes the tree's permissions. No method throws or rejects.
 */
export interface ModelHost {
  /** The agent's folder, absolute and canonical. */
  readonly cwd: string;
  /** Environment variables visible to its child processes. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Null if the tree's rules or a person allow this use until the prompt ends, otherwise a sentence that names the rule. `subject` as in permission rules.
   * Resolves only when the person has answered, or the prompt has ended.
   */
  permit(use: HostUse): Promise<string | null>;
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
