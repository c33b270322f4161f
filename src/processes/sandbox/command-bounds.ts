import { join } from 'node:path';
import type { CommandBudget, CommandLimits } from '../limits/command-budget.ts';
import { TREE_TMP } from '../output/spill-folder.ts';
import type { ConfinedProgram, Program } from './confined-program.ts';
import type { Sandbox } from './sandbox.ts';
import { sandboxGap } from './sandbox-support.ts';
import type { SandboxView } from './sandbox-view.ts';

/** Bounds on commands of agents: the sandbox, and resource limits, which also apply without it. Null: none. */
export interface CommandBounds extends Pick<SandboxView, 'unprotected'> {
  readonly sandbox: Sandbox | null;
  readonly limits: CommandLimits | null;
}

/** Bounds for one command. `cwd`: the agent's folder; `shared`: the folder of its tree; `start`: the folder in which the command starts. */
export async function boundCommand(
  { sandbox, limits }: CommandBounds,
  { cwd, shared, start = cwd }: { readonly cwd: string; readonly shared: string; readonly start?: string },
): Promise<{
  readonly budget: CommandBudget | undefined;
  readonly confine: ((program: Program) => ConfinedProgram) | undefined;
  /** Sentences about what was set aside when the command had ended. */
  readonly notes: readonly string[];
}> {
  const notes: string[] = [];
  const budget =
    limits === null
      ? undefined
      : await (await import('../limits/command-budget.ts')).CommandBudget.of(
          limits,
          cwd,
          sandbox === null ? null : join(shared, TREE_TMP),
          // A folder within one that stays open cannot be closed.
          async (path) =>
            sandbox !== null &&
            !['/dev', '/tmp', ...sandbox.settings.write].some((around) => path.startsWith(`${around}/`)) &&
            (await sandboxGap()) === null,
        );
  const confine =
    sandbox === null
      ? undefined
      : (program: Program) => sandbox.confine(program, { cwd, shared, start }, budget, notes);
  return { budget, confine, notes };
}
