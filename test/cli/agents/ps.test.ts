// Proves that `coppice ps` shows model and effort of an agent where they differ from those of its root, even in a narrow window.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../run-cli.ts';

it('says what differs from the root, and nothing of agents like it', async () => {
  const home = makeHome();
  const other = join(home.folder, 'other.json');
  writeFileSync(other, JSON.stringify({ rules: [{ say: 'done' }] }));
  home.configure({ agents: { deep: { thinking: 'high' }, fast: { model: `scripted/${other}` } } });
  const calls = ['plain', 'deep', 'fast'].map((name) => ({
    name: 'fork',
    input: { name: `a-${name}`, prompt: 'x', ...(name === 'plain' ? {} : { profile: name }) },
  }));
  writeFileSync(
    join(home.work, 'rules.json'),
    JSON.stringify({ rules: [{ when: { root: true, step: 0 }, calls }, { say: 'done' }] }),
  );
  assert.equal((await home.run(['run', 'go', '--model', 'scripted:rules.json'])).code, 0);
  const lines = (await home.run(['ps'], { env: { COLUMNS: '60' } })).stdout.split('\n');
  const of = (name: string) => lines.find((line) => line.includes(name)) ?? '';
  assert.match(of('a-deep'), /thinking high/);
  assert.match(of('a-fast'), /scripted\/\S/);
  assert.doesNotMatch(of('a-plain') + of('main'), /thinking|scripted/);
});
