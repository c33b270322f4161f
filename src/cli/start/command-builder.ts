import type { Command } from 'commander';
import type { Context, WorkOptions } from '../setup/context.ts';

/** Does the work of a command; resolves to its exit code. */
export type Work = (context: Context) => Promise<number>;

/** The same, with the arguments of the command and its options. */
type GivenWork = (context: Context, ...given: never[]) => Promise<number>;
type Action = (this: Command, ...given: unknown[]) => void;

/** Used by each group of commands to define them: options are light and loaded at the start, the work is imported when its command is chosen. */
export interface CommandBuilder {
  /** A command with the flags that every command takes; below `parent`, or else at the top. */
  readonly sub: (name: string, description: string, parent?: Command) => Command;
  /** Commander action whose work is done after parsing, with the command's arguments and options. */
  readonly deferred: (work: GivenWork, options?: WorkOptions) => Action;
  /** The same, for work that is imported when its command is chosen. */
  readonly imported: (load: () => Promise<GivenWork>, options?: WorkOptions) => Action;
}
