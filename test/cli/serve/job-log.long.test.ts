// Proves that the log of `coppice serve` says how a scheduled job ended.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

it('logs how a job ended, not how a run ended that its tree began later', async () => {
  const home = makeHome();
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: [{ say: 'ok' }] }));
  const script = join(home.work, 'nightly.js');
  writeFileSync(
    script,
    "export const meta = { name: 'nightly', description: 'asks' };\nreturn await agent('look around');\n",
  );
  const job = ['cron', 'add', 'nightly', '--at', '+1s', '--workflow', script, '--yes'];
  await home.run([...job, '--model', 'scripted:rules.json']);
  const { child, ended } = home.start(['serve', '--log', 'text']);
  let log = '';
  child.stderr?.on('data', (text: string) => {
    log += text;
  });
  await until(() => / completed /.test(log), 'its end is logged');
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0, log);
  assert.match(log, /info +completed nightly /);
});
