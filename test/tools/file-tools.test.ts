/** Proves what read, write, patch, read_image and think do with ordinary, huge, odd and broken files. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { IMAGE_BYTES } from '../../src/tools/files/read-image.ts';
import { READ_BYTES } from '../../src/tools/files/read-lines.ts';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { call, makeWorkspace, type Workspace } from './tool-fixture.ts';

const tools = new Map(createBuiltInTools().map((tool) => [tool.spec.name, tool]));
const run = (name: string, input: unknown, context: Workspace) => call(tools.get(name)!, input, context);

test('read numbers lines, pages, and says where to continue', async () => {
  const context = makeWorkspace();
  writeFileSync(join(context.cwd, 'a.txt'), 'one\n\nthree\nfour');
  assert.equal((await run('read', { path: 'a.txt' }, context)).output, '1\tone\n2\t\n3\tthree\n4\tfour');
  assert.equal(
    (await run('read', { path: 'a.txt', offset: 2, limit: 2 }, context)).output,
    '2\t\n3\tthree\n[more lines follow: go on with offset 4]',
  );
  const { output: counted } = await run('read', { path: 'a.txt', offset: 0, limit: 1 }, context);
  assert.equal(counted, '1\tone\n[more lines follow: go on with offset 2]');
  const { file: _, ...behind } = (await run('read', { path: 'a.txt', offset: 5 }, context)) as {
    file?: unknown;
  };
  assert.deepEqual(behind, {
    status: 'error',
    output: 'field "offset": 5 is past the end: a.txt has 4 lines',
  });
  writeFileSync(join(context.cwd, 'dos.txt'), 'one\r\ntwo\r\n');
  assert.equal(
    (await run('read', { path: 'dos.txt' }, context)).output,
    '1\tone\n2\ttwo\n[lines end with CR LF]',
  );
  writeFileSync(join(context.cwd, 'mac.txt'), 'one\rtwo\r');
  assert.equal((await run('read', { path: 'mac.txt' }, context)).output, '1\tone\rtwo\r');
  writeFileSync(join(context.cwd, 'empty'), '');
  assert.equal((await run('read', { path: 'empty' }, context)).output, '[empty is empty]');
});

test('read bounds lines, bytes and the length of a line, and pages through all of it', async () => {
  const context = makeWorkspace();
  const lines = Array.from({ length: 5000 }, (_, at) => `line ${at + 1} ${'€'.repeat(at % 50)}`);
  writeFileSync(join(context.cwd, 'long.txt'), lines.join('\n'));
  const seen: string[] = [];
  for (let offset: number | undefined = 1; offset !== undefined; ) {
    const { output } = await run('read', { path: 'long.txt', offset }, context);
    assert.ok(Buffer.byteLength(output) <= READ_BYTES + 100);
    seen.push(
      ...output
        .split('\n')
        .filter((line) => /^\d+\t/.test(line))
        .map((line) => line.replace(/^\d+\t/, '')),
    );
    const next: string | undefined = /go on with offset (\d+)/.exec(output)?.[1];
    offset = next === undefined ? undefined : Number(next);
  }
  assert.deepEqual(seen, lines);
  // Each line takes a kilobyte, including its number, the tab and the line break.
  const kilobytes = Array.from({ length: READ_BYTES / 1024 + 1 }, (_, at) =>
    'x'.repeat(1024 - `${at + 1}\t\n`.length),
  );
  writeFileSync(join(context.cwd, 'full.txt'), kilobytes.join('\n'));
  const full = (await run('read', { path: 'full.txt' }, context)).output;
  assert.match(full, new RegExp(`go on with offset ${kilobytes.length}\\]$`));
  writeFileSync(join(context.cwd, 'wide.txt'), `${'😀'.repeat(3000)}\nnext`);
  const wide = (await run('read', { path: 'wide.txt' }, context)).output;
  assert.match(wide, /^1\t(😀)+ \[… line cut, 12000 bytes\]\n2\tnext$/u);
  assert.ok(wide.isWellFormed());
});

test('reading an endless line keeps memory flat', async () => {
  const context = makeWorkspace();
  const path = join(context.cwd, 'huge.txt');
  writeFileSync(path, Buffer.alloc(70_000, 'x'));
  truncateSync(path, 300 * 1024 * 1024); // sparse: the NULs follow the first part
  const before = process.memoryUsage().rss;
  const { output } = await run('read', { path: 'huge.txt' }, context);
  assert.match(output, /line cut, 314572800 bytes/);
  assert.ok(process.memoryUsage().rss - before < 100 * 1024 * 1024);
});

test('read lists a folder, names with control characters quoted', async () => {
  const context = makeWorkspace();
  mkdirSync(join(context.cwd, 'sub'));
  writeFileSync(join(context.cwd, 'b\n1\tfake \x1b[31m'), '');
  writeFileSync(join(context.cwd, 'a.txt'), '');
  assert.equal(
    (await run('read', { path: '.' }, context)).output,
    './: folder, 3 entries\n"b\\n1\\tfake \\u{1b}[31m"\na.txt\nsub/',
  );
});

test('read refuses binary content with a hint, and finds spilled output', async () => {
  const context = makeWorkspace();
  writeFileSync(join(context.cwd, 'x.bin'), Buffer.from([1, 0, 2]));
  assert.match((await run('read', { path: 'x.bin' }, context)).output, /binary.*bash/);
  const { output } = await run('bash', { command: 'seq 1 30000' }, context);
  const file = /is in (\S+) /.exec(output)![1]!;
  assert.equal(
    (await run('read', { path: file, offset: 29_999 }, context)).output,
    '29999\t29999\n30000\t30000',
  );
});

test('write makes folders, replaces in one step, keeps the mode, and leaves nothing else behind', async () => {
  const context = makeWorkspace();
  assert.equal(
    (await run('write', { path: 'x/y/z.sh', content: 'é\n' }, context)).output,
    'created x/y/z.sh (3 bytes)',
  );
  const file = join(context.cwd, 'x/y/z.sh');
  chmodSync(file, 0o751);
  const inode = statSync(file).ino;
  assert.equal(
    (await run('write', { path: 'x/y/z.sh', content: 'new' }, context)).output,
    'replaced x/y/z.sh (3 bytes)',
  );
  assert.equal(statSync(file).mode & 0o7777, 0o751);
  assert.notEqual(statSync(file).ino, inode, 'a rename, not a rewrite');
  assert.deepEqual(readdirSync(join(context.cwd, 'x/y')), ['z.sh']);
  for (const path of ['x', '.', 'x/y/z.sh/below']) {
    assert.equal((await run('write', { path, content: '' }, context)).status, 'error', path);
  }
  assert.deepEqual(readdirSync(join(context.cwd, 'x/y')), ['z.sh']);
});

test('patch applies exact, unique edits in order and shows the difference', async () => {
  const context = makeWorkspace();
  writeFileSync(join(context.cwd, 'a.ts'), 'const a = 1;\nconst b = 2;\n');
  const edits = [
    { old_text: 'a = 1', new_text: "a = '$& $1 $$'" },
    { old_text: 'const b = 2;\n', new_text: '' },
  ];
  const result = await run('patch', { path: 'a.ts', edits }, context);
  assert.equal(readFileSync(join(context.cwd, 'a.ts'), 'utf8'), "const a = '$& $1 $$';\n");
  assert.match(result.output, /^--- a\.ts\n\+\+\+ a\.ts\n@@ /);
  assert.match(result.output, /^-const b = 2;$/m);
});

test('patch: ambiguous, missing and empty edits say so, and nothing is changed', async () => {
  const context = makeWorkspace();
  const content = 'x = 1\n\tfoo(bar);\nx = 1\naaa\n';
  writeFileSync(join(context.cwd, 'a.txt'), content);
  const cases: [string, RegExp][] = [
    ['x = 1', /edits\[1\]\.old_text": found 2 times \(lines 1, 3\)/],
    ['aa', /found 2 times \(lines 4, 4\)/],
    ['  foo(bar);', /not found; only white space differs; the nearest is line 2/],
    ['fooo(bar)', /not found; the nearest is line 2: "\\tfoo\(bar\);"/],
    ['x = 2', /not found; the nearest is line 1: /],
    ['completely different words', /no line is like it/],
    ['', /must not be empty/],
    ['aaa', /are the same/],
  ];
  for (const [old_text, expected] of cases) {
    const edits = [
      { old_text: 'foo(bar)', new_text: 'foo(bar)' === old_text ? 'y' : 'foo(bar) ' },
      { old_text, new_text: 'aaa' },
    ];
    const kept = old_text.includes('foo') ? [{ old_text: 'aaa\n', new_text: 'bbb\n' }, edits[1]] : edits;
    const result = await run('patch', { path: 'a.txt', edits: kept }, context);
    assert.equal(result.status, 'error');
    assert.match(result.output, expected);
    assert.equal(readFileSync(join(context.cwd, 'a.txt'), 'utf8'), content);
  }
});

test('patch keeps CR LF, and refuses files that are not text', async () => {
  const context = makeWorkspace();
  writeFileSync(join(context.cwd, 'dos.txt'), 'one\r\ntwo\r\nthree\r\n');
  await run('patch', { path: 'dos.txt', edits: [{ old_text: 'one\ntwo', new_text: '1\n2\n2a' }] }, context);
  assert.equal(readFileSync(join(context.cwd, 'dos.txt'), 'utf8'), '1\r\n2\r\n2a\r\nthree\r\n');
  writeFileSync(join(context.cwd, 'latin'), Buffer.from('caf\xe9', 'latin1'));
  assert.match(
    (await run('patch', { path: 'latin', edits: [{ old_text: 'c', new_text: 'd' }] }, context)).output,
    /not UTF-8/,
  );
  assert.match(
    (await run('patch', { path: 'nope', edits: [{ old_text: 'c', new_text: 'd' }] }, context)).output,
    /no such file/,
  );
});

test('a path in the home folder, or as an address, is that path, and never a folder called ~', async (t) => {
  const context = makeWorkspace();
  const home = process.env.HOME;
  process.env.HOME = context.cwd;
  t.after(() => {
    if (home === undefined) delete process.env.HOME;
    else process.env.HOME = home;
  });
  assert.equal(
    (await run('write', { path: '~/notes/a.txt', content: 'one' }, context)).output,
    'created notes/a.txt (3 bytes)',
  );
  assert.deepEqual(readdirSync(context.cwd), ['notes']);
  const address = pathToFileURL(join(context.cwd, 'notes', 'a.txt')).href;
  for (const path of ['~/notes/a.txt', address])
    assert.equal((await run('read', { path }, context)).output, '1\tone', path);
  assert.match((await run('search', { pattern: 'one', path: '~/notes' }, context)).output, /a\.txt:1: one/);
  assert.match((await run('search', { pattern: 'notes', path: '~' }, context)).output, /nothing found/);
  assert.match(
    (await run('write', { path: './~/a.txt', content: 'two' }, context)).output,
    /created ~\/a\.txt/,
    'a folder of that name is written so',
  );
});

test('a path that does not exist is answered with the one that does, as far as its names tell', async () => {
  const context = makeWorkspace();
  mkdirSync(join(context.cwd, 'src', 'store'), { recursive: true });
  writeFileSync(join(context.cwd, 'src', 'app.ts'), 'one');
  writeFileSync(join(context.cwd, 'src', 'store', 'ledger.ts'), 'one');
  for (const [path, like] of [
    ['app.ts', undefined],
    ['src/ap.ts', 'src/app.ts'],
    ['src/App.ts', 'src/app.ts'],
    ['src/app.ts:10-20', 'src/app.ts'],
    ['@src/app.ts', 'src'],
    ['/workspace/src/app.ts', 'src/app.ts'],
    ['project/src/store/ledger.ts', 'src/store/ledger.ts'],
    ['src/stores/ledger.ts', 'src/store'],
    ['src\\app.ts', 'src/app.ts'],
    ['/etc/nothing/like/it', undefined],
    ['../other/README.md', undefined],
  ] as const) {
    const { output } = await run('read', { path }, context);
    assert.match(output, /no such file|outside your folder/, path);
    assert.equal(/Did you mean (.*)\?$/.exec(output)?.[1], like, output);
  }
});

test('patches of one file at the same time are all kept', async () => {
  const context = makeWorkspace();
  const names = Array.from({ length: 50 }, (_, at) => `name-${at};`);
  writeFileSync(join(context.cwd, 'list'), names.join('\n'));
  const edits = names.map((name) =>
    run('patch', { path: 'list', edits: [{ old_text: name, new_text: `done-${name}` }] }, context),
  );
  await Promise.all(edits);
  assert.equal(
    readFileSync(join(context.cwd, 'list'), 'utf8'),
    names.map((name) => `done-${name}`).join('\n'),
  );
});

test('read_image goes by the first bytes, refuses what is broken, and has a limit', async () => {
  const context = makeWorkspace();
  const kinds: [string, RegExp][] = [
    ['not an image', /not a png, jpeg, gif or webp image/],
    ...['\x89PNG\r\n\x1a\n....', '\xff\xd8\xff....', 'GIF89a....', 'RIFF....WEBP'].map(
      (bytes): [string, RegExp] => [bytes, /cannot be read as a picture/],
    ),
  ];
  for (const [bytes, said] of kinds) {
    writeFileSync(join(context.cwd, 'picture.png'), Buffer.from(bytes, 'latin1'));
    const result = await run('read_image', { path: 'picture.png' }, context);
    assert.equal(result.status, 'error');
    assert.match(result.output, said);
  }
  truncateSync(join(context.cwd, 'picture.png'), IMAGE_BYTES + 1);
  assert.match((await run('read_image', { path: 'picture.png' }, context)).output, /the maximum is/);
});

test('think changes nothing', async () => {
  const context = makeWorkspace();
  assert.deepEqual(await run('think', { thought: 'hm' }, context), { status: 'ok', output: 'ok' });
  assert.deepEqual(readdirSync(context.cwd), []);
});

test('write and patch show in advance what they would change, unless the file may not be read', async () => {
  const context = makeWorkspace();
  writeFileSync(join(context.cwd, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(context.cwd, 'b.bin'), Buffer.from([0, 1, 2, 255]));
  const of = (name: string, input: unknown, denied?: (tool: string, path: string) => string | undefined) =>
    tools.get(name)!.difference!(input, { cwd: context.cwd, ...(denied && { denied }) });
  const changed = '@@ -1,3 +1,3 @@\n one\n-two\n+2\n three';
  assert.equal(await of('write', { path: 'a.txt', content: 'one\n2\nthree\n' }), changed);
  assert.equal(await of('patch', { path: './a.txt', edits: [{ old_text: 'two', new_text: '2' }] }), changed);
  assert.equal(await of('write', { path: 'new/file', content: 'x\n' }), '(a new file)\n@@ -0,0 +1,1 @@\n+x');
  assert.equal(await of('write', { path: 'a.txt', content: 'one\ntwo\nthree\n' }), '(nothing would change)');
  const secret = (tool: string, path: string) => (tool === 'read' && path === 'a.txt' ? 'a rule' : undefined);
  assert.equal(await of('write', { path: 'a.txt', content: 'x' }, secret), null);
  assert.equal(await of('patch', { path: 'a.txt', edits: [{ old_text: 'gone', new_text: '2' }] }), null);
  assert.equal(await of('write', { path: 'b.bin', content: 'x' }), null);
  assert.equal(await of('write', { path: '../outside', content: 'x' }), null);
  assert.equal(await of('read', { path: 'a.txt' }), null);
});
