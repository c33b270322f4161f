export interface TableRow {
  readonly name: string;
  readonly protects: string;
  readonly caught: boolean;
  /** The test, as file and name; otherwise what came of it. */
  readonly caught_by: string;
  readonly seconds: number;
}

const HEAD = ['guard', 'protects', 'caught by', 'seconds'];

/** A table in Markdown, its columns made even. */
export function sabotageTable(rows: readonly TableRow[]): string {
  const cells = rows.map(({ name, protects, caught_by, seconds }) =>
    [name, protects, caught_by, seconds.toFixed(1)].map((cell) => cell.replaceAll('|', '\\|')),
  );
  const widths = HEAD.map((head, column) =>
    Math.max(head.length, ...cells.map((row) => (row[column] as string).length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] as number)).join(' | ')} |`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
  return [line(HEAD), rule, ...cells.map(line)].join('\n');
}
