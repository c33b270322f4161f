import type { Shell } from './shell.ts';
import { SHELL_SCRIPTS } from './shell-scripts.ts';

/** `coppice completion SHELL`: the script with which the shell asks this program. */
export function completion(shell: Shell): void {
  process.stdout.write(SHELL_SCRIPTS[shell]);
}
