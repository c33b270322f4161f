/** Proves that a person finds the messages to which a tree can be taken back, and goes on from one of them beside the old tree. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from './run-cli.ts';

it('lists the messages, goes back to one of them with another text, and goes on', async () => {
  const home = makeHome();
  const rules = [
    { when: { user: 'green' }, say: 'It is green.' },
    { when: { step: 0 }, calls: [{ name: 'think', input: { thought: 'red?' } }] },
    { say: 'It is red.' },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const first = await home.run(['run', 'paint it red', '--model', 'scripted:rules.json']);
  assert.equal(first.stdout, 'It is red.\n');

  const { code, stdout } = await home.run(['rewind']);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^MESSAGE .*\n +1 {2}you +\w+ ago {2}paint it red\n +2 {2}answer +\w+ ago {2}\[think\]\n +4 {2}answer +\w+ ago {2}It is red\.\n/,
  );
  const [, id = ''] = /coppice rewind (\w{8}) --to N\n$/.exec(stdout) ?? [];
  assert.equal((await home.run(['rewind', '--json'])).code, 2);
  for (const to of ['', '1 fortnight']) {
    const wrong = await home.run(['rewind', id, '--to', to]);
    assert.match(wrong.stderr, /names no message, call or time.*\n.*NAME#12/s);
  }
  const nobody = await home.run(['rewind', id, '--to', 'nobody#1']);
  assert.match(nobody.stderr, /no agent called "nobody" in this tree.*\n.*NAME#12/);
  assert.match((await home.run(['rewind', id, '--to', '2 weeks'])).stderr, /there is nothing before that/);

  const back = await home.run(['rewind', id, '--to', '1', '--edit', 'paint it green']);
  const [, next = ''] = /coppice resume (\w{8})/.exec(back.stdout) ?? [];
  assert.equal((await home.run(['resume', next])).stdout, 'It is green.\n');
  assert.match((await home.run(['show', id])).stdout, /It is red\./);
  const same = await home.run(['diff', id, next]);
  assert.deepEqual([same.code, /first difference: main, /.test(same.stdout)], [1, true], same.stdout);
});
