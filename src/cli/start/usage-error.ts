import type { Command, CommanderError } from 'commander';
import { CoppiceError } from '../../records/coppice-error.ts';

/** What Commander found wrong with the command line of `command`, as the error that people and programs see. */
export function usageError(command: Command, { code, message }: CommanderError): CoppiceError {
  const names: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
  const path = names.join(' ');
  // Commander has no message for a group of commands without one of them.
  const text = code === 'commander.help' ? `${path} needs a command` : message.replace(/^error: /, '');
  const [what = '', ...suggestions] = text.split('\n');
  return new CoppiceError('E_USAGE', what, {
    hint: [...suggestions.map((line) => line.replace(/^\((.*)\)$/, '$1')), `See: ${path} --help`].join('\n'),
  });
}
