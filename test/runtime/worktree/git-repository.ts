import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../project-folder.ts';

export interface Repository {
  /** Canonical path. */
  readonly folder: string;
  git(...args: readonly string[]): string;
  /** Branches created for agents' worktrees. */
  branches(): string[];
  /** Names of the worktrees except the main one. */
  worktrees(): string[];
}

export function runGit(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** A real git repository with one commit of these files. */
export function makeRepository(files: Readonly<Record<string, string>>): Repository {
  const folder = makeFolder(files);
  const git = (...args: readonly string[]) => runGit(folder, ...args);
  git('init', '--quiet', '--initial-branch', 'main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'first');
  const list = join(folder, '.git', 'worktrees');
  return {
    folder,
    git,
    branches: () =>
      git('branch', '--list', '--format=%(refname:short)', 'coppice/*').split('\n').filter(Boolean),
    // Read from disk, because git fails while another process creates a worktree; git removes the folder with its last entry.
    worktrees() {
      try {
        return readdirSync(list);
      } catch {
        return [];
      }
    },
  };
}
