import { commandRows, keyRows } from '../src/tui/keys/key-rows.ts';
import { describeBindings, keyBindings } from '../src/tui/keys/keys-config.ts';

/** The keys and commands of the terminal UI as a Markdown table. */
export function keysTable(): string {
  const bindings = describeBindings(keyBindings());
  const code = (text: string) => (text === '' ? '' : `\`${text}\``);
  const rows = [...keyRows(bindings), ...commandRows(bindings)].map((row) => [
    row.action,
    code(row.chord),
    code(row.leader),
    code(row.slash),
  ]);
  const table = [['what', 'key', 'Ctrl-X, then', 'command'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [head = [], ...body] = table;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}
