import type { Command, Option } from 'commander';
import { createProgram } from '../../src/cli/program.ts';

/** Every command of the program with its arguments and flags, as Markdown: a heading, what it does, a table. */
export function commandsTables(): string {
  return [everywhere(), ...leaves(createProgram('').command).map(section)].join('\n\n');
}

/** Commands that do something by themselves, in the order of the help. */
function leaves(command: Command): readonly Command[] {
  const below = command.commands.flatMap(leaves);
  if (command.parent === null) return below;
  // `worker` does something and has subcommands; `cron` only has subcommands.
  return below.length === 0 || command.options.some((option) => !isGlobal(option))
    ? [command, ...below]
    : below;
}

function globals(): readonly Option[] {
  return createProgram('').command.options.filter(({ long }) => long !== '--version');
}

function isGlobal(option: Option): boolean {
  return globals().some(({ long }) => long === option.long);
}

function everywhere(): string {
  const rows = globals().map((option) => [`\`${option.flags}\``, option.description]);
  return `### Flags of every command\n\n${table(['flag', 'meaning'], rows)}`;
}

function section(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name());
  const given = command.registeredArguments.map((one) => {
    const name = `${one.name().toUpperCase()}${one.variadic ? '…' : ''}`;
    return one.required ? name : `[${name}]`;
  });
  const rows = [
    ...command.registeredArguments.map((one, index) => [
      `\`${given[index]}\``,
      `${one.description}${choices(one.argChoices)}`,
    ]),
    ...command.options
      .filter((option) => !isGlobal(option))
      .map((option) => [
        `\`${option.flags}\``,
        `${option.description}${choices(option.argChoices)}${byDefault(option)}`.replace(/^: /, ''),
      ]),
  ];
  const parts = [`### ${[...names, ...given].join(' ')}`, `${command.description()}.`];
  return [...parts, ...(rows.length === 0 ? [] : [table(['argument or flag', 'meaning'], rows)])].join(
    '\n\n',
  );
}

function choices(names: readonly string[] | undefined): string {
  return names === undefined ? '' : `: ${names.map((name) => `\`${name}\``).join(', ')}`;
}

function byDefault({ defaultValue, defaultValueDescription, negate }: Option): string {
  if (negate || defaultValue === undefined || defaultValue === '' || Array.isArray(defaultValue)) return '';
  return ` (default: ${defaultValueDescription ?? String(defaultValue)})`;
}

export function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const line = (row: readonly string[]) => `| ${row.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
}
