import type { Command } from 'commander';
import { bashScript } from './bash-script.ts';
import { commandShapes } from './command-shape.ts';
import { fishScript } from './fish-script.ts';
import type { Shell } from './shell.ts';
import { zshScript } from './zsh-script.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** `coppice completion SHELL`: the script that teaches the shell this very program's commands and flags. */
export function completion(program: Command, shell: Shell): void {
  process.stdout.write(SCRIPTS[shell](commandShapes(program)));
}
