import type { AskedCall } from '../permissions/grants/grant.ts';
import type { ProtectedContext } from '../permissions/protected-path.ts';
import type { Agent, PermissionMode } from '../records/agent/agent.ts';

/** Exit of a command that an agent program ran. */
export interface HostExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A command that an agent program runs through its host. */
export interface HostTerminal {
  /** The output so far; `truncated`: the beginning was dropped. */
  output(): { readonly text: string; readonly truncated: boolean; readonly exit: HostExit | null };
  readonly exited: Promise<HostExit>;
  /** Stops the process group; resolves when it has ended. */
  kill(): Promise<void>;
}

/** An action that an agent program asks permission for. */
export interface HostUse {
  readonly tool: string;
  readonly subject: string;
  /** The action's arguments as JSON; shown to the person who is asked. */
  readonly input?: string;
  /** The change that the action would make to a file. */
  readonly change?: { readonly before: string; readonly after: string };
}

export type HostAnswer<T> =
  | ({ readonly ok: true } & T)
  /** `error` tells the program what was refused or failed. */
  | { readonly ok: false; readonly error: string };

/**
 * The actions on this machine that an agent program used as a model may take: no more than the agent's own tools may. Paths are
 * contained in the agent's folder, and every use passes the tree's permissions. No method throws or rejects.
 */
export interface ModelHost {
  /** The agent's folder, absolute and canonical. */
  readonly cwd: string;
  /** Environment variables visible to its child processes. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Resolves to null if the tree's rules or a person allow this use until the prompt ends, otherwise to a sentence that names the rule, and only when the
   * person has answered or the prompt has ended. `subject` is as in permission rules.
   */
  permit(use: HostUse): Promise<string | null>;
  readFile(path: string, from_line?: number, lines?: number): Promise<HostAnswer<{ readonly text: string }>>;
  writeFile(path: string, text: string): Promise<HostAnswer<object>>;
  /** `output_bytes`: maximum bytes of output kept; the newest are kept. */
  startCommand(request: {
    readonly command: string;
    readonly args: readonly string[];
    readonly cwd: string | null;
    readonly env: Readonly<Record<string, string>>;
    readonly output_bytes: number;
  }): Promise<HostAnswer<{ readonly terminal: HostTerminal }>>;
}

/** An action of an agent program that needs approval. */
export interface ProgramAsk extends AskedCall {
  readonly rules: readonly string[];
  readonly input: string;
  readonly difference: string | null;
}

/**
 * Asks a person. Resolves to null if allowed, otherwise to the reason, for the program:
 * `refused` if nobody can be asked. Resolves at the latest when the prompt ends.
 */
export type AskPerson = (ask: ProgramAsk, refused: string) => Promise<string | null>;

/** What a runtime tells a host. `env_allow`: environment variables that child processes may see in addition to the fixed allow-list. */
export type HostTerms = ProtectedContext & { readonly env_allow: readonly string[] };

/** Makes the host of an agent program for one request. */
export type OpenHost = (
  agent: Pick<Agent, 'config' | 'root_id'>,
  terms: HostTerms,
  mode: PermissionMode,
  askPerson: AskPerson,
) => Promise<ModelHost>;
