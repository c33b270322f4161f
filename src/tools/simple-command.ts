/**
 * True for one plain command: no operators, redirections, substitutions or line breaks outside quotes, so that
 * everything behind the program's name is only arguments. Anything doubtful is not simple.
 */
export function isSimpleCommand(command: string): boolean {
  let quote: '' | "'" | '"' = '';
  for (let at = 0; at < command.length; at += 1) {
    const character = command[at]!;
    const next = command[at + 1];
    if (character === '\0' || character === '\r') return false;
    if (quote === "'") {
      if (character === "'") quote = '';
      continue;
    }
    if (character === '\\') {
      if (next === undefined || next === '\n') return false;
      at += 1;
      continue;
    }
    if (character === '`') return false;
    // A plain $NAME gives arguments; every other expansion can run something or hide it.
    if (character === '$' && next !== undefined && !/[A-Za-z_\s"]/.test(next)) return false;
    if (quote === '"') {
      if (character === '"') quote = '';
      continue;
    }
    if (character === '$' && next === '"') return false;
    if (character === "'" || character === '"') quote = character;
    else if (/[;&|<>()\n]/.test(character)) return false;
    // A comment would end at a line break that looks quoted from here.
    else if (character === '#' && (at === 0 || /\s/.test(command[at - 1]!))) return false;
  }
  return quote === '';
}
