/** Proves that a replay in which something recorded does not happen says what happens instead, ends, and leaves its case as it is. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../../run-cli.ts';

it('a run that goes another way is named, and its case stays as it is', async () => {
  const home = makeHome();
  const rules = [
    { when: { root: true, step: 0 }, calls: [{ name: 'fork', input: { name: 'a', prompt: 'look' } }] },
    { when: { root: true }, say: 'done' },
    { when: { step: 0 }, calls: [{ name: 'bash', input: { command: 'echo hi' } }] },
    { say: 'seen' },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  await home.run(['run', 'go', '--model', 'scripted:rules.json', '--allow', 'bash']);
  const file = join(home.work, 'case.json');
  assert.equal((await home.run(['record', '--out', file])).code, 0);
  const whole = JSON.parse(readFileSync(file, 'utf8'));

  const call = whole.steps[0].parts[0];
  Object.assign(call, { name: 'think', input: '{"thought":"alone"}' });
  const text = JSON.stringify(whole);
  writeFileSync(file, text);
  const other = await home.run(['replay', file, '--update', '--json']);
  assert.equal(other.code, 1);
  const { divergences, updated } = JSON.parse(other.stdout);
  const { what, now } = divergences.at(-1);
  assert.deepEqual([what, now, updated], ['order', 'main calls think {"thought":"alone"}', false]);
  assert.match(other.stderr, /left as it is/);
  assert.equal(readFileSync(file, 'utf8'), text);
});
