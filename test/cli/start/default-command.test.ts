// Proves that `coppice` without a command opens the terminal UI whatever flags it is given, and that a command is recognised after any of them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createProgram } from '../../../src/cli/program.ts';
import { withDefaultCommand } from '../../../src/cli/start/run-command-line.ts';

const { command } = createProgram('0.0.0');
const filled = (args: readonly string[], interactive = true) =>
  withDefaultCommand(['node', 'coppice', ...args], interactive, command).slice(2);
const ui = command.commands.find((one) => one.name() === 'ui');

it('every flag of the UI works without its name, with its value where it takes one', () => {
  const flags = [command, ui].flatMap((one) => one?.options ?? []).filter((one) => one.long !== '--version');
  assert.ok(flags.length > 15);
  for (const { short, long, required } of flags)
    for (const name of [short, long].filter((text) => text != null)) {
      const args = required ? [name, 'value'] : [name];
      assert.deepEqual(filled(args), ['ui', ...args]);
      assert.deepEqual(filled([...args, 'ps']), [...args, 'ps']);
    }
});

it('no command is put in for help, or where nobody looks at a terminal', () => {
  assert.deepEqual(filled(['--help']), ['--help']);
  assert.deepEqual(filled(['--detach'], false), ['--detach']);
  assert.deepEqual(filled([]), ['ui']);
});
