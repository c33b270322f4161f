// Proves that `ps --watch` without a terminal prints a line for each tree, then one for each change, and exits without an error when told to stop.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

it('tells in lines what changes; it takes no other selection, and no JSON', async () => {
  const home = makeHome();
  const rules = [{ say: 'Heard.' }];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const run = (task: string) => home.run(['run', task, '--model', 'scripted:rules.json']);
  assert.equal((await run('the first')).code, 0);
  const { child, ended } = home.start(['ps', '--watch']);
  let told = '';
  child.stdout?.on('data', (text: string) => {
    told += text;
  });
  await until(() => /the first: /.test(told), 'what there is');
  await run('the second');
  await until(() => /the second: ○ idle/.test(told), 'what is new');
  child.kill('SIGINT');
  const { code, stdout, stderr } = await ended;
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^\d\d:\d\d:\d\d \w{8} the first: ○ idle\n(?:\S+ \w{8} the second: .*\n)*\S+ \w{8} the second: ○ idle\n$/,
  );
  for (const other of ['--all', '--json', '--tree=x']) {
    const refused = await home.run(['ps', '--watch', other]);
    assert.equal(refused.code, 2);
    assert.match(refused.stdout + refused.stderr, /--watch (?:shows all trees|prints for people)/);
  }
  const served = await home.run(['ps', '--watch', '--server', 'http://127.0.0.1:9'], {
    env: { COPPICE_TOKEN: 'x' },
  });
  assert.equal(served.code, 2);
  assert.match(served.stderr, /--watch reads the database, not a server/);
});
