import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Git, gitIn } from '../../processes/git-command.ts';

/** The top folder of a checkout, its own folder of git's data, and the one that all checkouts of the repository share: canonical paths. */
export interface CheckoutPlaces {
  readonly top: string;
  readonly own: string;
  readonly common: string;
}

export async function placesOf(git: Git): Promise<CheckoutPlaces | { readonly error: string }> {
  const places: string[] = [];
  for (const question of ['--show-toplevel', '--git-dir', '--git-common-dir']) {
    const answer = await git('rev-parse', '--path-format=absolute', question);
    if (!answer.ok) return { error: answer.error };
    const path = answer.out.replace(/\n$/, '');
    if (!existsSync(path)) return { error: `${path} does not exist` };
    places.push(realpathSync(path));
  }
  const [top, own, common] = places as [string, string, string];
  return { top, own, common };
}

/**
 * Reason why git, asked in a worktree just made, would not work on its files alone; null if it would. Settings of the
 * repository (`core.worktree`) can lead a new worktree elsewhere although the checkout that it was made from is in order. Nothing else runs in it before.
 */
export async function astray(place: string, { common }: CheckoutPlaces): Promise<string | null> {
  const made = await placesOf(gitIn(place));
  if ('error' in made)
    return `git does not work in the new worktree (${made.error}); if its settings have core.worktree: ${leaveWorktreeUnset(common)}`;
  const top = realpathSync(place);
  if (made.top !== top)
    return `its settings (core.worktree) lead git from the new worktree to ${made.top}, where it would overwrite files: ${leaveWorktreeUnset(common)}`;
  if (made.common !== common || dirname(made.own) !== join(common, 'worktrees'))
    return `git in the new worktree uses ${made.own} instead of a folder of its own in ${join(common, 'worktrees')}`;
  return null;
}

export function leaveWorktreeUnset(common: string): string {
  return `in a submodule with extensions.worktreeConfig, move the setting to ${join(common, 'config.worktree')}; elsewhere unset it`;
}
