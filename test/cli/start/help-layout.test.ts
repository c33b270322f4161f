// Proves that the help has every command in one group, fits 80 columns, and shows only command lines that are valid.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../../src/cli/program.ts';
import { COMMAND_GROUPS, EVERYWHERE, EXAMPLES } from '../../../src/cli/start/help-layout.ts';
import { wordsOf } from './command-words.ts';

const { command: program } = createProgram('0.0.0');

function at(path: string): Command {
  return path.split(' ').reduce<Command>((command, name) => {
    return command.commands.find((one) => one.name() === name) ?? command;
  }, program);
}

it('every command of the program is in one group', () => {
  const grouped = Object.values(COMMAND_GROUPS).flat();
  assert.deepEqual(grouped.toSorted(), program.commands.map((one) => one.name()).toSorted());
  const headings = program.helpInformation().match(/^\S.*:$/gm);
  assert.deepEqual(headings, ['Options:', EVERYWHERE, ...Object.keys(COMMAND_GROUPS), 'Examples:']);
});

it('the flags of a command come before those of every command', () => {
  const help = at('run').helpInformation();
  const places = ['--allow', EVERYWHERE, '--database', 'Examples:'].map((text) => help.indexOf(text));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.ok(!places.includes(-1));
});

for (const [path, lines] of Object.entries(EXAMPLES)) {
  it(`coppice ${path}: the help fits 80 columns`, () => {
    const command = at(path).configureOutput({ getOutHelpWidth: () => 80 });
    for (const line of command.helpInformation().split('\n')) assert.ok(line.length <= 80, line);
  });
  for (const [line] of lines)
    it(`is valid: ${line}`, () => {
      const { command, chosen } = createProgram('0.0.0');
      command.parse(wordsOf(line), { from: 'user' });
      const names = [chosen()?.command.parent?.name(), chosen()?.command.name()].join(' ');
      assert.ok(names.includes(path), names);
    });
}
