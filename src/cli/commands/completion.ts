import type { Command } from 'commander';
import { bashScript } from '../completion/bash-script.ts';
import { commandShapes } from '../completion/command-shape.ts';
import { fishScript } from '../completion/fish-script.ts';
import type { Shell } from '../completion/shell.ts';
import { zshScript } from '../completion/zsh-script.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** `coppice completion SHELL`: the script that teaches the shell this very program's commands and flags. */
export function completion(program: Command, shell: Shell): void {
  process.stdout.write(SCRIPTS[shell](commandShapes(program)));
}
