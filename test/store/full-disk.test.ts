// Proves, through the command line, that a ledger that cannot be created because its file may not grow is `E_DB_FULL`, wherever the limit is reached.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { makeHome } from '../cli/run-cli.ts';
import { MAIN } from '../house/program.ts';

const shell = promisify(execFile);

for (const blocks of [8, 64, 200])
  it(`a file of at most ${blocks} kB`, async () => {
    const { env, work, folder } = makeHome();
    mkdirSync(join(folder, 'small'));
    const command = `ulimit -f ${blocks}; exec "$0" "$1" cron add nightly --every 1d --task hello --model scripted/x --database "sqlite:$2"`;
    const args = ['-c', command, process.execPath, MAIN, join(folder, 'small', 'ledger.db')];
    const options = { cwd: work, env: { ...env, NODE_DISABLE_COMPILE_CACHE: '1' } };
    await assert.rejects(shell('bash', args, options), (error: Error & { readonly stderr: string }) => {
      assert.match(error.stderr, /^error: database \S+ledger\.db: .*\(E_DB_FULL\)\n$/);
      return true;
    });
  });
