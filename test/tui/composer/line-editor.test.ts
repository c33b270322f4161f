/** Proves how the input handles keys, pastes, wide characters and history, and what it shows of them. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { FolderFiles } from '../../../src/tui/composer/attachments/folder-files.ts';
import { LineCompletion } from '../../../src/tui/composer/line-completion.ts';
import { LineEditor } from '../../../src/tui/composer/line-editor.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';

const folder = temporaryFolder();
mkdirSync(join(folder, 'source'));
for (const name of ['source/main.ts', 'source/mail.ts', 'README.md', '.hidden', 'bad\x1b[31mname'])
  writeFileSync(join(folder, name), '');

const plain = (text: string) => text;
function open(unicode = true, sent: readonly string[] = []) {
  const completion = new LineCompletion({
    sent: () => sent,
    resources: () => [{ server: 'docs', uri: 'docs://guide', description: 'How it is done' }],
    commands: () => [
      { name: 'capture', help: 'compose a task' },
      { name: 'cancel', help: 'leave capture' },
      { name: 'kill', help: 'kill an agent', completes: 'agent' },
      { name: 'wait', help: 'wait for agents', completes: 'agents' },
    ],
    agents: () => [
      { name: 'file-reader', description: 'running' },
      { name: 'filter', description: 'idle' },
    ],
    folder: () => folder,
    files: new FolderFiles(),
  });
  const seen = { submitted: [] as string[], redraws: 0 };
  const editor = new LineEditor({
    completion,
    sent: () => sent,
    style: { unicode, selected: (text) => `[${text}]`, dim: plain },
    onRedraw: () => {
      seen.redraws += 1;
    },
  });
  editor.onSubmit = (text) => seen.submitted.push(text);
  const type = (text: string) => {
    for (const key of text) editor.handleInput(key);
  };
  return { editor, seen, type };
}
const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;

test('shows a prompt, the caret behind the text, and a new line below the first', () => {
  const { editor, type, seen } = open();
  assert.deepEqual(editor.render(20, 5), { lines: ['> '], cursor: { row: 0, column: 2 } });
  type('hello');
  editor.handleInput('\x1b[13;2u');
  type('you');
  assert.deepEqual(editor.render(20, 5), { lines: ['> hello', '  you'], cursor: { row: 1, column: 5 } });
  editor.handleInput('\x1b[D');
  assert.deepEqual(editor.render(20, 5).cursor, { row: 1, column: 4 });
  assert.equal(editor.text, 'hello\nyou');
  editor.handleInput('\r');
  assert.deepEqual(seen.submitted, ['hello\nyou']);
  assert.equal(editor.text, '');
});

test('capture marks each row with its own sign, in ASCII without Unicode', () => {
  for (const [unicode, sign] of [
    [true, '┆'],
    [false, '|'],
  ] as const) {
    const { editor, type } = open(unicode);
    editor.mode = 'capture';
    type('one\ntwo');
    assert.deepEqual(editor.render(20, 5).lines, [`${sign} one`, `${sign} two`]);
  }
});

test('wide characters wrap at the edge, and the caret counts their columns', () => {
  const { editor, type } = open();
  type('日本語日本語');
  assert.deepEqual(editor.render(12, 5), {
    lines: ['> 日本語日', '  本語'],
    cursor: { row: 1, column: 6 },
  });
  editor.handleInput('\x1b[D');
  assert.deepEqual(editor.render(12, 5).cursor, { row: 1, column: 4 });
  editor.setText('a👨‍👩‍👧b');
  editor.handleInput('\x1b[D');
  editor.handleInput('\x7f');
  assert.equal(editor.text, 'ab');
});

test('a text longer than its rows is shown around the caret, with marks for what is hidden', () => {
  const { editor } = open();
  const lines = Array.from({ length: 9 }, (_, index) => `line ${index}`);
  editor.setText(lines.join('\n'));
  for (const rows of [1, 2, 3, 5, 7]) {
    const { lines: shown, cursor } = editor.render(30, rows);
    assert.deepEqual(
      shown.map((line) => line.slice(2)),
      lines.slice(9 - rows),
    );
    assert.deepEqual(cursor, { row: rows - 1, column: 8 });
    assert.match(shown[0] ?? '', /^↑ /);
  }
  for (let up = 0; up < 8; up += 1) editor.handleInput('\x1b[A');
  const { lines: shown, cursor } = editor.render(30, 3);
  assert.deepEqual(cursor?.row, 0);
  assert.deepEqual(shown, ['> line 0', '  line 1', '↓ line 2']);
});

test('a paste of 100 kB is shown as a marker and submitted unchanged, including tabs', () => {
  const { editor, seen, type } = open();
  const text = Array.from(
    { length: 2_000 },
    (_, index) => `\tline ${index} of a log that is rather long, 日本語`,
  );
  const whole = `see: ${text.join('\n')} end`;
  assert.ok(Buffer.byteLength(whole) > 100_000);
  type('see: ');
  editor.handleInput(paste(`${text.join('\r\n')}`));
  type(' end');
  assert.deepEqual(editor.render(60, 5), {
    lines: ['> see: [pasted 2,000 lines] end'],
    cursor: { row: 0, column: 31 },
  });
  assert.equal(editor.text, whole);
  editor.handleInput('\r');
  assert.deepEqual(seen.submitted, [whole]);
});

test('a long draft that is restored is also a marker, and complete', () => {
  const { editor } = open();
  const draft = `${'word '.repeat(20_000)}end`;
  editor.setText(draft);
  assert.ok(editor.render(60, 5).lines.length === 1);
  assert.equal(editor.text, draft);
});

test('a short paste is inserted without control characters and does not submit', () => {
  const { editor, seen } = open();
  editor.handleInput(paste('a\x1b[31mb\x9b2J\tc\r\n.ts\x07'));
  assert.equal(editor.text, 'a[31mb2J\tc\n.ts');
  assert.deepEqual(editor.render(30, 5).lines, ['> a[31mb2J c', '  .ts']);
  for (const key of ['\x1b[A', '\x1b[F']) editor.handleInput(key);
  assert.deepEqual(editor.render(30, 5).cursor, { row: 0, column: 12 });
  assert.deepEqual(seen.submitted, []);
  editor.setText('file');
  editor.handleInput(paste('.txt'));
  assert.equal(editor.text, 'file.txt');
});

test('undo reverts words and pastes, and word movement skips words', () => {
  const { editor, type } = open();
  type('one two');
  editor.handleInput(paste(`${'x'.repeat(2_000)}`));
  editor.handleInput('\x1f');
  assert.equal(editor.text, 'one two');
  editor.handleInput('\x1f');
  assert.equal(editor.text, 'one');
  type(' three');
  editor.handleInput('\x1b[1;3D');
  assert.deepEqual(editor.render(30, 5).cursor, { row: 0, column: 6 });
  editor.handleInput('\x17');
  assert.equal(editor.text, 'three');
});

test('redo puts back what undo took, in order, until something else is written', () => {
  const { editor, type } = open();
  type('one');
  editor.handleInput(paste('x'.repeat(2_000)));
  const whole = editor.text;
  const [undo, times] = ['\x1f', 2];
  for (let at = 0; at < times; at += 1) editor.handleInput(undo);
  assert.equal(editor.text, '');
  editor.redo();
  assert.equal(editor.text, 'one');
  editor.redo();
  assert.equal(editor.text, whole, 'a long paste comes back whole');
  editor.redo();
  assert.equal(editor.text, whole);
  editor.handleInput(undo);
  type('!');
  editor.redo();
  assert.equal(editor.text, 'one!', 'written since: nothing to redo');
  editor.handleInput(undo);
  assert.equal(editor.text, 'one');
});

test('the list of completions has ten rows, and offers first what was sent most', async () => {
  const many = Array.from({ length: 15 }, (_, at) => ({ name: `c${at}`, help: `command ${at}` }));
  const sent = ['/c7', 'see @source/mail.ts', '/c9 again', '/c9'];
  const completion = new LineCompletion({
    sent: () => sent,
    resources: () => [],
    commands: () => many,
    agents: () => [],
    folder: () => folder,
    files: new FolderFiles(),
  });
  const style = { unicode: true, selected: plain, dim: plain };
  const editor = new LineEditor({ completion, sent: () => sent, style, onRedraw: () => undefined });
  editor.handleInput('/');
  await until(() => editor.completing, 'the list');
  const rows = editor.render(80, 15).lines.slice(1);
  const names = rows.map((row) => /c\d+/.exec(row)?.[0]);
  assert.deepEqual(names.slice(0, 10), ['c9', 'c7', 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c8']);
  assert.equal(rows.length, 11, 'and one that says how many there are');
  sent.push('/c3', '/c3', '/c3');
  const { signal } = new AbortController();
  const first = async (text: string) =>
    (await completion.getSuggestions([text], 0, text.length, { signal }))?.items[0]?.value;
  assert.equal(await first('/'), '/c3');
  assert.equal(await first('see @source/ma'), '@source/mail.ts');
});

test('the arrow keys recall history, and then the draft', () => {
  const { editor, type, seen } = open();
  type('draft');
  for (const entry of ['oldest', 'two\tlines\nof it', 'newest']) editor.addHistory(entry);
  assert.equal(editor.text, 'draft');
  const up = () => editor.handleInput('\x1b[A');
  up();
  up();
  assert.equal(editor.text, 'newest');
  up();
  assert.equal(editor.text, 'two\tlines\nof it');
  up();
  assert.equal(editor.text, 'oldest');
  for (let down = 0; down < 6; down += 1) editor.handleInput('\x1b[B');
  assert.equal(editor.text, 'draft');
  editor.handleInput('\r');
  assert.deepEqual(seen.submitted, ['draft']);
});

test('a search of the history shows the match in place of the draft, and ends as in shells', () => {
  const { editor, type, seen } = open(true, [
    'git push --force',
    'look at \x1b[31mthis\nand that',
    'git pull',
  ]);
  const search = (query: string) => {
    editor.setText('draft');
    editor.searchHistory();
    for (const key of query) assert.ok(editor.searchKey(key));
  };
  search('push');
  assert.deepEqual(editor.render(60, 5), {
    lines: ['search: push', '> git push --force', '  Enter sends · Esc edits · again: older · Ctrl-C back'],
    cursor: { row: 0, column: 12 },
  });
  assert.equal(editor.text, 'draft');
  assert.ok(editor.searchKey('\x03'));
  assert.deepEqual([editor.searching, editor.text], [false, 'draft']);
  search('git');
  editor.searchHistory();
  assert.ok(editor.searchKey('\x1b'));
  assert.deepEqual([editor.searching, editor.text], [false, 'git push --force']);
  search('that');
  assert.deepEqual(editor.render(14, 4).lines.slice(0, 3), ['search: that', '> look at this', '  and that']);
  assert.ok(!editor.searchKey('\r'), 'Enter does what it does otherwise');
  editor.handleInput('\r');
  assert.deepEqual(seen.submitted, ['look at this\nand that'.replace('this', '[31mthis')]);
  search('zebra');
  assert.equal(editor.render(60, 1).lines[0], 'no older match: zebra');
  assert.ok(!editor.searchKey('\x1b[D'));
  assert.equal(editor.text, 'draft');
  type('!');
  assert.equal(editor.text, 'draft!');
});

test('slash commands are listed with descriptions while they are typed', async () => {
  for (const unicode of [true, false]) {
    const { editor, type, seen } = open(unicode);
    type('/ca');
    await until(() => editor.completing, 'the list');
    const { lines, cursor } = editor.render(60, 6);
    assert.match(lines[0] ?? '', /^> \/ca$/);
    assert.match(
      lines[1] ?? '',
      unicode ? /^ {2}\[→ \/capture +compose a task\]$/ : /^ {2}\[> \/capture +compose/,
    );
    assert.match(lines[2] ?? '', /\/cancel +leave capture$/);
    assert.equal(lines.length, 3);
    assert.deepEqual(cursor, { row: 0, column: 5 });
    assert.equal(editor.render(60, 2).lines.length, 2);
    editor.handleInput('\x1b[B');
    editor.handleInput('\t');
    assert.equal(editor.text, '/cancel ');
    assert.ok(seen.redraws > 0);
    editor.handleInput('\r');
    assert.deepEqual(seen.submitted, ['/cancel']);
  }
});

test('a description that is cut off in the list of completions ends with a sign, a whole one does not', async () => {
  const completion = new LineCompletion({
    commands: () => [
      { name: 'long', help: 'words and '.repeat(20), completes: null },
      { name: 'lost', help: 'a few words', completes: null },
    ],
    agents: () => [],
    resources: () => [],
    sent: () => [],
    folder: () => '.',
    files: { list: async () => [] },
  } as never);
  for (const [unicode, sign] of [
    [true, '…'],
    [false, '...'],
  ] as const) {
    const style = { unicode, selected: (text: string) => text, dim: plain };
    const editor = new LineEditor({ completion, sent: () => [], style, onRedraw: () => undefined });
    for (const key of '/lo') editor.handleInput(key);
    await until(() => editor.completing, 'the list');
    const rows = editor.render(80, 10).lines;
    const shownAs = (name: string) =>
      stripVTControlCharacters(rows.findLast((row) => row.includes(name)) ?? '').trimEnd();
    assert.ok(shownAs('/long').endsWith(sign), shownAs('/long'));
    assert.ok(shownAs('/lost').endsWith('a few words'), shownAs('/lost'));
  }
});

test('an outdated completion list does not override newer keys', async () => {
  const { editor, type, seen } = open();
  type('/');
  await until(() => editor.completing, 'the list, /capture first');
  type('cancel\r');
  assert.deepEqual(seen.submitted, ['/cancel']);
});

test('completes names of agents after commands that take them', async () => {
  const { editor, type } = open();
  type('/kill fi');
  await until(() => editor.completing, 'the list');
  assert.match(editor.render(60, 6).lines[1] ?? '', /file-reader +running/);
  editor.handleInput('\x1b[B');
  editor.handleInput('\t');
  assert.equal(editor.text, '/kill filter ');
  editor.setText('/wait 30 file-reader fil');
  editor.handleInput('\t');
  await until(() => editor.text === '/wait 30 file-reader filter ' || editor.completing, 'the name');
  assert.match(editor.render(60, 6).lines[1] ?? '', /file-reader/);
});

test('Tab completes file paths and offers no name with control characters', async () => {
  const { editor, type } = open();
  type('read sou');
  editor.handleInput('\t');
  await until(() => editor.text === 'read source/', 'the folder');
  await until(() => editor.completing, 'the list goes on inside');
  type('mai');
  assert.deepEqual(
    editor
      .render(60, 6)
      .lines.slice(1)
      .map((line) => line.replaceAll(/[[\]→ ]/g, '')),
    ['mail.ts', 'main.ts'],
  );
  type('n');
  await until(() => editor.render(60, 6).lines.length === 2, 'a list of one');
  editor.handleInput('\t');
  await until(() => editor.text === 'read source/main.ts ', 'the file');
  editor.handleInput('\t');
  await until(() => editor.completing, 'everything');
  assert.deepEqual(
    editor
      .render(60, 6)
      .lines.slice(1)
      .map((line) => line.replaceAll(/[[\]→ ]/g, '')),
    ['README.md', 'source/'],
  );
});

test('a mention offers agents as the first word, and files by any part of their path', async () => {
  const { editor, type } = open();
  const offered = () =>
    editor
      .render(60, 8)
      .lines.slice(1)
      .map((line) =>
        line
          .replaceAll(/[[\]→]/g, '')
          .trim()
          .replaceAll(/ +/g, ' '),
      );
  type('@fi');
  await until(() => editor.completing, 'agents');
  assert.deepEqual(offered(), ['@file-reader agent', '@filter agent']);
  editor.setText('');
  type('see @mai');
  await until(() => editor.completing, 'files');
  assert.deepEqual(offered(), ['source/mail.ts', 'source/main.ts']);
  type('n');
  await until(() => offered().length === 1, 'one file');
  editor.handleInput('\r');
  assert.equal(editor.text, 'see @source/main.ts ');
  type('and @sour');
  await until(() => editor.completing, 'the folder');
  assert.equal(offered()[0], 'source/');
  editor.handleInput('\t');
  assert.equal(editor.text, 'see @source/main.ts and @source/');
  for (const text of ['mail a@mai', 'see @source/main.t']) {
    editor.setText(text);
    type(text.endsWith('i') ? 'n' : 's');
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(!editor.completing, 'an address is no mention, and what is named in full needs no list');
  }
  editor.setText('');
  type(`@${folder}/READ`);
  editor.handleInput('\t');
  await until(() => editor.text === `@${folder}/README.md `, 'a path from elsewhere');
});

test('completes resources of MCP servers behind the files, and commands with their arguments', async () => {
  const completion = new LineCompletion({
    sent: () => [],
    resources: () => [{ server: 'docs', uri: 'docs://guide', description: 'How it is done' }],
    commands: () => [{ name: 'look', label: '/look [file]', help: 'Looks' }],
    agents: () => [],
    folder: () => folder,
    files: new FolderFiles(),
  });
  const { signal } = new AbortController();
  const offered = async (text: string) =>
    (await completion.getSuggestions([text], 0, text.length, { signal }))?.items ?? [];
  const resource = {
    value: '@docs:docs://guide',
    label: '@docs:docs://guide',
    description: 'How it is done',
  };
  assert.deepEqual((await offered('see @')).at(-1), resource);
  assert.deepEqual(await offered('see @GUIDE'), [resource]);
  assert.deepEqual(await offered('/lo'), [{ value: '/look', label: '/look [file]', description: 'Looks' }]);
});

test('what is typed behind a folder whose name is quoted goes on inside it', async () => {
  mkdirSync(join(folder, 'mit leer'), { recursive: true });
  for (const name of ['größe ä@b.txt', 'other.txt']) writeFileSync(join(folder, 'mit leer', name), '');
  const { editor, type } = open();
  const listed = () => editor.render(60, 15).lines.slice(1).join('\n');
  type('see @mit');
  await until(() => editor.completing && listed().includes('mit leer/'), 'the folder');
  editor.handleInput('\t');
  await until(() => listed().includes('other.txt'), 'what is inside');
  assert.equal(editor.text, 'see @"mit leer/"');
  type('grö');
  await until(() => editor.completing && !listed().includes('other.txt'), 'only what is meant');
  editor.handleInput('\t');
  assert.equal(editor.text, 'see @"mit leer/größe ä@b.txt" ');
});

test('Tab on a folder goes on inside it, also where its name is quoted; Enter takes it', async () => {
  mkdirSync(join(folder, 'my notes', 'deep'), { recursive: true });
  for (const name of ['my notes/first.md', 'my notes/deep/second.md']) writeFileSync(join(folder, name), '');
  const { editor, type, seen } = open();
  const listed = () => editor.render(60, 15).lines.slice(1).join('\n');
  type('see @my');
  await until(() => editor.completing && listed().includes('my notes/'), 'the folder');
  editor.handleInput('\t');
  await until(() => editor.completing && listed().includes('my notes/deep/'), 'what is inside');
  assert.equal(editor.text, 'see @"my notes/"');
  assert.ok(!listed().includes('second.md'), 'only what is in the folder itself');
  editor.handleInput('\t');
  await until(() => editor.completing && listed().includes('second.md'), 'and so on');
  editor.handleInput('\r');
  assert.equal(editor.text, 'see @"my notes/deep/second.md" ');
  editor.setText('');
  type('read so');
  editor.handleInput('\t');
  await until(() => editor.completing && listed().includes('main.ts'), 'a path without @ goes on, too');
  assert.equal(editor.text, 'read source/');
  editor.setText('');
  type('see @my');
  await until(() => editor.completing && listed().includes('my notes/'), 'the folder');
  editor.handleInput('\r');
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(!editor.completing, 'Enter has taken it');
  editor.handleInput('\r');
  assert.deepEqual(seen.submitted, ['see @"my notes/"']);
});

test('Enter on a bare slash writes the selected command and runs nothing', async () => {
  const { editor, seen, type } = open();
  type('/');
  await until(() => editor.completing, 'the list');
  editor.handleInput('\r');
  assert.deepEqual([editor.text.trim(), seen.submitted], ['/capture', []]);
  editor.handleInput('\r');
  assert.deepEqual(seen.submitted, ['/capture']);
});
