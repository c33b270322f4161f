import type { CommandBudget, CommandLimits } from '../limits/command-budget.ts';
import type { ConfinedProgram, Program, Sandbox } from './sandbox.ts';

/** What bounds commands of agents: walls, and what they may take, which holds without walls, too. Null: nothing. */
export interface CommandBounds {
  readonly sandbox: Sandbox | null;
  readonly limits: CommandLimits | null;
}

/** For one command of an agent whose folder is `cwd`, in the tree that has `shared`; it begins in `start`. */
export async function boundCommand(
  { sandbox, limits }: CommandBounds,
  { cwd, shared, start = cwd }: { readonly cwd: string; readonly shared: string; readonly start?: string },
): Promise<{
  readonly budget: CommandBudget | undefined;
  readonly confine: ((program: Program) => ConfinedProgram) | undefined;
}> {
  const budget =
    limits === null
      ? undefined
      : await (await import('../limits/command-budget.ts')).CommandBudget.of(
          limits,
          cwd,
          async (limit_bytes) => (await sandbox?.heldBytes(shared, limit_bytes)) ?? 0,
        );
  const confine =
    sandbox === null
      ? undefined
      : (program: Program) => sandbox.confine(program, { cwd, shared, start }, budget);
  return { budget, confine };
}
