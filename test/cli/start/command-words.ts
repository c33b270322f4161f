import assert from 'node:assert/strict';

/** Returns the arguments of a command line of the documentation: words and quoted words, without what the shell does with input. */
export function wordsOf(line: string): string[] {
  const [program, ...words] = [
    ...line.replace(/ < \S+$/, '').matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g),
  ].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
  assert.equal(program, 'coppice', line);
  return words;
}
