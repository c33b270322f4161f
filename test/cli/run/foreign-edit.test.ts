// Proves, by the program as a process, that an agent with the habits of another program edits a file with `Edit`: where its text stands once, or everywhere if it says so.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../run-cli.ts';

it('the Edit of another program is run, unless its text stands in several places', async () => {
  const home = makeHome();
  const file = join(home.work, 'a.txt');
  writeFileSync(file, 'one two one\n');
  const edit = (old_string: string, new_string: string, more = {}) => ({
    name: 'Edit',
    input: { file_path: 'a.txt', old_string, new_string, ...more },
  });
  const rules = [
    {
      when: { step: 0 },
      calls: [edit('two', '2'), edit('one', 'X'), edit('one', '1', { replace_all: true })],
    },
    { say: 'done' },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const run = await home.run(['run', '--yes', '--model', 'scripted:rules.json', 'go']);
  assert.equal(run.code, 0, run.stderr);
  assert.equal(readFileSync(file, 'utf8'), '1 2 1\n');
  const { stdout } = await home.run(['logs']);
  assert.match(stdout, /old_text": found 2 times \(lines 1, 1\)/);
});
