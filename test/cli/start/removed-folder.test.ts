// Proves, with whole processes, that a command in a removed folder says so instead of asking for a bug report.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { MAIN } from '../../house/program.ts';
import { makeHome } from '../run-cli.ts';

const home = makeHome();

for (const args of [
  ['profiles'],
  ['run', '--model', 'scripted:rules.json', 'go'],
  ['cron', 'list', '--cwd', home.work],
])
  it(`coppice ${args.join(' ').replace(home.folder, '…')}`, () => {
    const cwd = join(home.folder, 'gone');
    mkdirSync(cwd);
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', 'rmdir "$PWD"; exec "$@"', 'sh', process.execPath, MAIN, ...args],
      { cwd, env: home.env, encoding: 'utf8' },
    );
    if (args.includes('--cwd')) assert.equal(status, 0, stderr);
    else
      assert.match(
        stderr,
        /^error: the folder that you are in was removed \(E_NO_FOLDER\)\n {2}Go to another one, or name it with --cwd\n$/,
      );
    if (!args.includes('--cwd')) assert.equal(status, 2);
  });
