/** Proves that files keep their line breaks, byte order mark and missing last line break whatever `patch` and `write` do, and that `read` and `search` show them plainly. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { patchTool } from '../../src/tools/files/patch.ts';
import { readTool } from '../../src/tools/files/read.ts';
import { writeTool } from '../../src/tools/files/write.ts';
import { searchTool } from '../../src/tools/search.ts';
import { call, makeWorkspace } from '../tools/tool-fixture.ts';

/** Text of the file, edit, and text afterwards; without `old`, the whole file is written. */
const CHANGES: readonly (readonly [
  what: string,
  file: string,
  old: string | null,
  text: string,
  after: string,
])[] = [
  ['a line', 'a\r\nb\r\nc\r\n', 'b', 'B', 'a\r\nB\r\nc\r\n'],
  ['a line by several', 'a\r\nb\r\nc', 'b', 'b\nX\nY', 'a\r\nb\r\nX\r\nY\r\nc'],
  ['a block', 'a\r\nb\r\nc\r\n', 'a\nb\n', 'x\ny\nz\n', 'x\r\ny\r\nz\r\nc\r\n'],
  ['a block as it stands there', 'a\r\nb\r\nc\r\n', 'a\r\nb', 'x\r\ny', 'x\r\ny\r\nc\r\n'],
  ['a block, with other breaks', 'a\r\nb\r\nc\r\n', 'a\r\nb', 'x\ny', 'x\r\ny\r\nc\r\n'],
  ['the end without a line break', 'a\r\nb', 'b', 'b\nc', 'a\r\nb\r\nc'],
  ['a line that goes', 'a\r\nb\r\nc\r\n', 'b\n', '', 'a\r\nc\r\n'],
  ['an insertion in a mixed file', 'a\r\nb\nc\r\nd\n', 'a\nb\nc', 'a\nX\nb\nc', 'a\r\nX\r\nb\nc\r\nd\n'],
  ['a line of a mixed file', 'a\nb\r\nc\n', 'b', 'B\nX', 'a\nB\r\nX\r\nc\n'],
  ['lines that change places in a mixed file', 'a\r\nb\nc\n', 'a\nb', 'b\na', 'b\na\r\nc\n'],
  ['behind a byte order mark', '\ufeffa\r\nb\r\n', 'a\nb', 'x\ny', '\ufeffx\r\ny\r\n'],
  ['a byte order mark that is replaced', '\ufeffa\nb\n', '\ufeffa', 'x', '\ufeffx\nb\n'],
  ['a file with LF, found by CR LF', 'a\nb\nc\n', 'a\r\nb', 'x\r\ny', 'x\ny\nc\n'],
  ['a single carriage return is text', 'a\rb\r\nc\r\n', 'a\rb', 'x', 'x\r\nc\r\n'],
  ['all of it', 'a\r\nb\r\n', null, 'a\nb\nc\n', 'a\r\nb\r\nc\r\n'],
  ['all of it, without a last line break', 'a\r\nb', null, 'a\nc', 'a\r\nc'],
  ['all of a mixed file', 'a\r\nb\nc\r\nd\n', null, 'a\nX\nb\nc\nd\n', 'a\r\nX\r\nb\nc\r\nd\n'],
  ['all of it, from nothing alike', 'a\r\nb\r\n', null, 'x\ny\nz', 'x\r\ny\r\nz'],
  ['all of it, with a byte order mark', '\ufeffa\r\n', null, 'b\n', '\ufeffb\r\n'],
  ['all of a file with LF and a byte order mark', '\ufeffa\n', null, 'b\n', '\ufeffb\n'],
  ['all of a file with LF, by CR LF on purpose', 'a\n', null, 'a\r\nb\r\n', 'a\r\nb\r\n'],
  ['all of it, to nothing', 'a\r\n', null, '', ''],
];

describe('line breaks stay when a tool changes', () => {
  for (const [what, before, old_text, text, after] of CHANGES)
    it(what, async () => {
      const context = makeWorkspace();
      const file = join(context.cwd, 'f.txt');
      writeFileSync(file, before);
      const [tool, input] =
        old_text === null
          ? [writeTool, { path: 'f.txt', content: text }]
          : [patchTool, { path: 'f.txt', edits: [{ old_text, new_text: text }] }];
      const result = await call(tool, input, context);
      assert.equal(result.status, 'ok', result.output);
      assert.equal(readFileSync(file, 'utf8'), after);
    });
});

describe('a file with CR LF', () => {
  const context = makeWorkspace();
  writeFileSync(join(context.cwd, 'f.txt'), 'first line\r\nsecond line\r\n');

  it('is found as it was read', async () => {
    const { output } = await call(readTool, { path: 'f.txt' }, context);
    assert.match(output, /^1\tfirst line\n2\tsecond line\n\[lines end with CR LF\]$/);
  });

  it('is searched by the ends of its lines, and shown without their breaks', async () => {
    const { output } = await call(searchTool, { pattern: 'line$' }, context);
    assert.equal(output, 'f.txt:1: first line\nf.txt:2: second line');
  });

  it('whose breaks alone would change says so, and a preview shows what will be written', async () => {
    const edits = [{ old_text: 'first line\r\n', new_text: 'first line\n' }];
    const refused = await call(patchTool, { path: 'f.txt', edits }, context).catch(
      (error: Error) => error.message,
    );
    assert.match(JSON.stringify(refused), /changes only line breaks, which stay as they are: use bash/);
    const shown = await writeTool.difference?.(
      { path: 'f.txt', content: 'first line\nsecond line\n' },
      context,
    );
    assert.equal(shown, '(nothing would change)');
  });
});
