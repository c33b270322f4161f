// Proves that docs/operations.md matches the log: every line that it explains is written by the program, and every warning and error of
// workers and servers is explained.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
const table = page.slice(page.indexOf('## What the log says'), page.indexOf('What nobody logs'));
/** Log lines in the first column of the table, marked as code; `…` stands for a variable part. */
const explained = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text as string),
);
/** Reads the matching files. A glob without a match is an error: the files that it covered have moved. */
function sources(pattern: string): string[] {
  const files = globSync(pattern, { cwd: ROOT });
  assert.ok(files.length > 0, `no file matches ${pattern}`);
  return files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
}
const words = (text: string) => text.split('…').map((piece) => piece.trim().replace(/^: /, ''));

it('every line that the page explains is written somewhere', () => {
  const all = sources('src/**/*.ts').join('\n');
  const own_names = ['text', 'failed', 'timeout', 'cancelled', 'skipped'];
  const lines = explained.filter((text) => !own_names.includes(text));
  assert.ok(lines.length > 25);
  const unknown = lines.filter((text) => words(text).some((piece) => !all.includes(piece)));
  assert.deepEqual(unknown, []);
});

it('every warning and error of workers and servers is explained', () => {
  const written = [
    ...sources('src/cli/{serve,run,setup}/*.ts'),
    ...sources('src/serve/**/*.ts'),
    ...sources('src/channels/{outbox,telegram}/**/*.ts'),
  ].flatMap((text) =>
    [...text.matchAll(/(?:log|trouble)\(\s*'(?:warn|error)',\s*[`']([^`'$]+)/g)].map(
      ([, line]) => line as string,
    ),
  );
  assert.ok(written.length >= 20);
  const missing = written.filter((line) => !explained.some((text) => begins(text, line)));
  assert.deepEqual(missing, []);
});

/** Whether one text begins with the other. */
function begins(text: string, line: string): boolean {
  const [said, wrote] = [words(text)[0] as string, line.trim()];
  return said.startsWith(wrote) || wrote.startsWith(said);
}
