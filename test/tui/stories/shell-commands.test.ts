/**
 * Proves that a person can run shell commands: shown while running and when ended, sent to the agent only if wanted, stopped by Esc, and ended with the
 * program.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { KEY, openUi } from './ui-stage.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

it('a command runs in the folder, and its output goes to the agent only if that is wanted', async (test) => {
  const ui = await openUi(test, {
    rules: [{ when: { user: 'seventeen' }, say: 'I see seventeen.' }, { say: 'Hello.' }],
  });
  const { pty, folder } = ui;
  await ui.say('!pwd; echo out of the blue; exit 3');
  await pty.until('[exit code 3]');
  assert.ok(ui.shows(folder.slice(-12)) && ui.shows('! pwd; echo out of the blue; exit 3'));
  await ui.say('hi');
  await pty.until('Hello.');
  await ui.say('!!seq 1 17; echo seventeen');
  await pty.until('I see seventeen.');
  assert.ok(ui.shows('> I ran this command: seq 1 17; echo seventeen'));
  assert.ok(ui.shows('  + its output, 18 lines'));

  await ui.say('!echo $$ > pid; sleep 300 & echo $! >> pid; echo begun; wait');
  await pty.until(
    () => ui.shows('  begun') && ui.shows('Esc stops it'),
    'it runs, and what it wrote is shown',
  );
  const pids = () => readFileSync(join(folder, 'pid'), 'utf8').trim().split('\n').map(Number);
  assert.ok(pids().length === 2 && pids().every(isAlive));
  await ui.say('!echo another');
  await pty.until('another command is running: Esc stops it');
  await ui.press(KEY.escape);
  await pty.until('[cancelled]');
  await until(() => !pids().some(isAlive), 'nothing of it is left');
  const sent = await ui.ledger(async (store) =>
    JSON.stringify(await store.history((await store.agents({}))[0]?.id ?? '')),
  );
  assert.ok(!sent.includes('out of the blue') && !sent.includes('begun'));

  await ui.say('!rm pid; echo $$ > pid2; sleep 300; true');
  await until(() => existsSync(join(folder, 'pid2')), 'the next one runs');
  const last = Number(readFileSync(join(folder, 'pid2'), 'utf8'));
  await ui.say('/quit');
  await pty.ended;
  await until(() => !isAlive(last), 'it ended with the program');
});
