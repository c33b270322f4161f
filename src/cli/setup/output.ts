import { cleanLines } from '../../render/clean.ts';
import { paint, type Style } from '../../render/style.ts';

/** Output of commands: a JSON document, or lines for people. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

/** Prints the result of a command, as JSON for programs or as lines for people; returns the exit code. */
export function printResult(
  { json }: { readonly json: boolean },
  document: object,
  lines: () => readonly string[],
): number {
  if (json) printJson(document);
  else printLines(lines());
  return 0;
}

export type Detail = readonly [name: string, value: string];

/** Formats one detail per line, with the values in one column. */
export function detailLines(rows: readonly Detail[], style: Style): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${paint(style, 'dim', name.padEnd(width))}  ${value}`);
}

/** A text of several lines below its heading; nothing if it is empty. */
export function sectionLines(heading: string, body: string | null, style: Style): string[] {
  return body === null || body === '' ? [] : ['', paint(style, 'dim', heading), cleanLines(body)];
}
