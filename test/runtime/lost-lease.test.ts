// Proves that a process whose lease has run out while another one took its agent over stops what still runs for it here, although nothing
// happens to the agent that would tell.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { isRunning } from './is-running.ts';
import { setStage, until } from './stage.ts';

it('the command of the agent ends where it is not led any more, and is reported as interrupted where it is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-lease-'));
  const file = join(folder, 'ledger.db');
  const options = { database: `sqlite:${file}`, tools: createBuiltInTools() };
  const command = 'echo $$ > pid.new; mv pid.new pid; exec sleep 600';
  const first = await setStage(() => [['bash', { command }]], options);
  const second = await setStage(() => 'taken over', options);
  const ledger = new DatabaseSync(file, { timeout: 10_000 });
  try {
    const root = await first.start();
    const written = join(root.config.cwd, 'pid');
    await until(() => existsSync(written), 'the command runs');
    const pid = Number(readFileSync(written, 'utf8'));
    const expire = ledger.prepare('UPDATE workers SET expires_at = 1 WHERE id = ?');
    // Its next heartbeat may come in between, and then its lease lives again.
    await until(async () => {
      expire.run(root.worker);
      return (await second.runtime.resume(root.id)).agents.length === 1;
    }, 'another process leads it');
    const { reply } = await second.runtime.settled(root.id);
    assert.equal(reply, 'taken over');
    assert.deepEqual(
      (await second.results(root)).map((result) => result.status),
      ['interrupted'],
    );
    await until(() => !isRunning(pid), 'the command has ended');
  } finally {
    ledger.close();
    await first.close();
    await second.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
