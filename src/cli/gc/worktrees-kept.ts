import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { clean } from '../../render/clean.ts';
import type { OldWorktree } from '../../runtime/worktree/old-worktrees.ts';
import { shellWord } from '../../settings/suggested-command.ts';

type Row = DocumentOf<'coppice/gc/v1'>['worktrees'][number];

export function worktreesJson(worktrees: readonly OldWorktree[]): Row[] {
  return worktrees.map(({ path, branch, agent, in_ledger, kept }) => ({
    ...{ path, branch, agent_id: agent?.id ?? null, name: agent?.name ?? null, kept },
    merge: mergeCommand(branch, in_ledger ? agent : null),
    remove: `git -C ${shellWord(path)} worktree remove --force ${shellWord(path)}`,
  }));
}

/** Lists the worktrees that are kept, each with the reason and the commands that merge or remove it. */
export function keptLines(worktrees: readonly OldWorktree[]): string[] {
  return worktreesJson(worktrees).flatMap(({ name, branch, kept, merge, remove }) =>
    kept === null
      ? []
      : [
          `stays: worktree ${clean(branch)}${name === null ? '' : ` of ${clean(name)}`}: ${clean(kept)}`,
          `  merge it:  ${clean(merge)}`,
          `  remove it: ${clean(remove)}`,
        ],
  );
}

function mergeCommand(branch: string, agent: OldWorktree['agent']): string {
  return agent === null ? `git merge ${shellWord(branch)}` : `coppice merge ${agent.id.slice(0, 8)}`;
}
