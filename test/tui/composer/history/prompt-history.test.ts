/**
 * Proves that the prompt history survives the program, is kept per folder, can be shared by several programs at once, is bounded, and is readable by its
 * owner only.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { HistorySearch } from '../../../../src/tui/composer/history/history-search.ts';
import { PromptHistory } from '../../../../src/tui/composer/history/prompt-history.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const MODULE = join(import.meta.dirname, '../../../../src/tui/composer/history/prompt-history.ts');

it('keeps what was typed in each folder, whatever it holds, readable by its owner only', () => {
  const folder = join(temporaryFolder(), 'history');
  const history = new PromptHistory(folder, '/project');
  for (const text of ['one', 'two\nlines "of" \\it', 'two\nlines "of" \\it', '   ', '日本語 \u2028'])
    history.add(text);
  const kept = ['one', 'two\nlines "of" \\it', '日本語 \u2028'];
  assert.deepEqual(history.entries, kept);
  assert.deepEqual(new PromptHistory(folder, '/project').entries, kept);
  assert.deepEqual(new PromptHistory(folder, '/other').entries, []);
  const [file = ''] = readdirSync(folder);
  assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

it('programs that run at once lose nothing of each other', async () => {
  const folder = temporaryFolder();
  const program = `
    const { PromptHistory } = await import(process.argv[1]);
    const history = new PromptHistory(process.argv[2], '/project');
    for (let index = 0; index < 200; index += 1) history.add(process.argv[3] + ' ' + index + ' ' + 'x'.repeat(index));`;
  const started = ['a', 'b', 'c'].map((name) =>
    spawn(process.execPath, ['--input-type=module', '-e', program, MODULE, folder, name]),
  );
  assert.deepEqual(
    await Promise.all(started.map(async (child) => (await once(child, 'exit'))[0])),
    [0, 0, 0],
  );
  const { entries } = new PromptHistory(folder, '/project');
  for (const name of ['a', 'b', 'c'])
    assert.deepEqual(
      entries.filter((entry) => entry.startsWith(name)).map((entry) => Number(entry.split(' ')[1])),
      Array.from({ length: 200 }, (_, index) => index),
    );
});

it('a line that a crash cut short spoils nothing but itself', () => {
  const folder = temporaryFolder();
  new PromptHistory(folder, '/project').add('whole');
  const file = join(folder, readdirSync(folder)[0] ?? '');
  appendFileSync(file, '\n"cut sho');
  new PromptHistory(folder, '/project').add('after it');
  assert.deepEqual(new PromptHistory(folder, '/project').entries, ['whole', 'after it']);
});

it('stays small: the newest texts are kept, and a very long one only while the program runs', () => {
  const folder = temporaryFolder();
  const history = new PromptHistory(folder, '/project');
  for (let index = 0; index < 1_500; index += 1) history.add(`${index} ${'word '.repeat(200)}`);
  history.add('long '.repeat(20_000));
  assert.ok(history.entries.at(-1)?.startsWith('long'));
  const { entries } = new PromptHistory(folder, '/project');
  assert.ok(entries.length > 200 && entries.length < 1_000, String(entries.length));
  assert.ok(entries.at(-1)?.startsWith('1499 '));
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  assert.ok(Math.max(...sizes) < 300 * 1024 && sizes.length === 2, String(sizes));
});

it('without a place to write, it lasts as long as the program', () => {
  const folder = join(temporaryFolder(), 'taken');
  writeFileSync(folder, '');
  chmodSync(folder, 0o400);
  const history = new PromptHistory(folder, '/project');
  history.add('still here');
  assert.deepEqual(history.entries, ['still here']);
});

it('the search goes from the newest to the oldest, narrows while it is typed, and widens again', () => {
  const search = new HistorySearch(['git push', 'run the Tests', 'git pull', 'git pull', 'done']);
  const shows = () => [search.match, search.failed];
  assert.deepEqual(shows(), [null, false]);
  search.type('git');
  assert.deepEqual(shows(), ['git pull', false]);
  search.older();
  assert.deepEqual(shows(), ['git push', false], 'the same text is offered once');
  search.older();
  assert.deepEqual(shows(), ['git push', true]);
  search.erase();
  assert.deepEqual(shows(), ['git pull', false]);
  search.type('t pus');
  assert.deepEqual(shows(), ['git push', false]);
  for (let keys = 0; keys < 20; keys += 1) search.erase();
  assert.deepEqual([search.query, ...shows()], ['', null, false]);
  search.type('tests');
  assert.deepEqual(shows(), ['run the Tests', false]);
  search.erase();
  search.type('S');
  assert.deepEqual(shows()[1], true, 'a capital letter is meant');
});
