import { Argument } from 'commander';
import type { CommandBuilder } from '../start/command-builder.ts';
import type { Shell } from './shell-scripts.ts';

export const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];

/** `coppice completion` */
export function addCompletionCommand({ sub }: CommandBuilder): void {
  sub('completion', 'Print the completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    // Not deferred: shells run this as they start, so a broken configuration must not get in the way.
    .action(async (shell: Shell) => {
      process.stdout.write((await import('./shell-scripts.ts')).SHELL_SCRIPTS[shell]);
    });
}
