import type { Command } from 'commander';
import type { Context } from './setup/context.ts';

export type Work = (context: Context) => Promise<number>;

export interface WorkTerms {
  /** It begins something: where there is no ledger yet, it makes one. All other commands never do. Default false. */
  readonly begins?: boolean;
}

/** What a group of commands is built with. */
export interface ProgramPart {
  /** A command with the flags that every command takes; below `parent`, or else at the top. */
  readonly sub: (name: string, description: string, parent?: Command) => Command;
  /** An action that remembers what is to be done, given the command's arguments and options. */
  readonly choose: (
    work: (...given: never[]) => Work,
    terms?: WorkTerms,
  ) => (this: Command, ...given: unknown[]) => void;
}
