import { cleanLines } from '../../render/clean.ts';
import { paint, type Style } from '../../render/style.ts';

/** Output of commands: a JSON document, or lines for people. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function printLines(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

export type Detail = readonly [name: string, value: string];

/** Formats one detail per line, with the values in one column. */
export function detailLines(rows: readonly Detail[], style: Style): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${paint(style, 'dim', name.padEnd(width))}  ${value}`);
}

/** Prints a text of several lines below its heading; nothing if it is empty. */
export function printSection({ out }: { readonly out: Style }, heading: string, body: string | null): void {
  if (body !== null && body !== '') printLines(['', paint(out, 'dim', heading), cleanLines(body)]);
}
