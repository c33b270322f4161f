// Proves `coppice blame`: lines by agents, older lines and lines by others, with the call that wrote each; a single line; JSON; errors.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from './run-cli.ts';

const patch = (old_text: string, new_text: string) => ({
  name: 'patch',
  input: { path: 'a.txt', edits: [{ old_text, new_text }] },
});
const RULES = {
  rules: [
    {
      when: { root: true, step: 0 },
      calls: [
        { name: 'read', input: { path: 'a.txt' } },
        patch('two', 'zwei'),
        { name: 'fork', input: { name: 'kid', prompt: 'Add three\nlines' } },
      ],
    },
    { when: { root: true, step: 1 }, calls: [{ name: 'wait', input: { timeout: 30 } }] },
    {
      when: { agent: 'kid', step: 0 },
      calls: [
        { name: 'read', input: { path: 'a.txt' } },
        patch('zwei\n', 'zwei\ndrei\n'),
        { name: 'send', input: { to: '{{parent_id}}', message: 'done' } },
      ],
    },
    { say: 'done' },
  ],
};

it('tells who wrote each line of a file', async () => {
  const home = makeHome();
  const file = join(home.work, 'a.txt');
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
  writeFileSync(file, 'one\ntwo\nend\n');
  const nothing = await home.run(['blame', 'a.txt:1']);
  assert.match(nothing.stdout, /before the first change that the ledger knows of/);
  await home.run(['run', 'Translate it', '--model', 'scripted:rules.json', '--allow', '*']);
  assert.equal(readFileSync(file, 'utf8'), 'one\nzwei\ndrei\nend\n');
  appendFileSync(file, 'by hand\n');

  const { stdout } = await home.run(['blame', 'a.txt']);
  const rows = stdout.trimEnd().split('\n');
  for (const [at, row] of [
    /^there before +1 {2}one$/,
    /^main [0-9a-f]{8} #\d+ \d+s ago +2 {2}zwei$/,
    /^kid [0-9a-f]{8} #\d+ \d+s ago +3 {2}drei$/,
    /^there before +4 {2}end$/,
    /^no agent +5 {2}by hand$/,
  ].entries())
    assert.match(rows[at] ?? '', row);

  const line = await home.run(['blame', 'a.txt:3']);
  assert.match(
    line.stdout,
    /a\.txt:3 {2}drei\nagent +kid \([-0-9a-f]{36}\)\ntold to +Add three\nwritten +\d+s ago, message \d+, call \S+ of patch\n/,
  );
  const json = JSON.parse((await home.run(['blame', 'a.txt:2', '--json'])).stdout);
  assert.deepEqual(
    [json.schema, json.whole, json.lines, json.changes[0].prompt, json.changes.length],
    ['coppice/blame/v1', true, [{ line: 2, text: 'zwei', source: 'agent', change: 0 }], 'Translate it', 1],
  );
  const missing = await home.run(['blame', 'b.txt']);
  assert.match(missing.stderr, /b\.txt: there is no such file/);
  assert.match((await home.run(['blame', 'a.txt:9'])).stderr, /the file has no line 9/);
});

it('knows what calls did that were written for the tools of other programs', async () => {
  const home = makeHome();
  const calls = [
    { name: 'write', input: { path: 'a.txt', file_text: 'one\ntwo\n' } },
    { name: 'patch', input: { path: 'a.txt', edits: [{ old: 'two', new: 'zwei' }] } },
    { name: 'Edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'eins' } },
  ];
  const rules = calls.map((call, step) => ({ when: { step }, calls: [call] }));
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: [...rules, { say: 'done' }] }));
  await home.run(['run', 'Translate it', '--model', 'scripted:rules.json', '--allow', '*']);
  assert.equal(readFileSync(join(home.work, 'a.txt'), 'utf8'), 'eins\nzwei\n');

  const { stdout } = await home.run(['blame', 'a.txt']);
  assert.match(stdout, /^main \S+ #\d+ \d+s ago {2}1 {2}eins\nmain \S+ #\d+ \d+s ago {2}2 {2}zwei\n$/);
  const undone = await home.run(['rewind', '--to', 'before 2', '--files', '--dry-run']);
  assert.doesNotMatch(undone.stdout, /not undone/);
});
