/** Proves that the output of git arrives whole, wherever the pipe cuts it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { gitIn } from '../../src/processes/git-command.ts';
import { temporaryFolder } from '../temporary-folder.ts';

it('characters of several bytes survive in output of any length', async () => {
  const folder = temporaryFolder();
  const text = 'a木ü😀'.repeat(20_000);
  execFileSync('git', ['init', '--quiet', folder]);
  writeFileSync(join(folder, 'text'), text);
  execFileSync('git', ['-C', folder, 'add', 'text']);
  const shown = await gitIn(folder)('show', ':text');
  assert.ok(shown.ok);
  assert.ok(text.startsWith(shown.out.slice(0, 100_000)) && !shown.out.includes('\ufffd'));
});
