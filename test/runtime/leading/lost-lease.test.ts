// Proves that a process stops what runs for an agent that another process has taken over, even if no event of the agent reports it; and, in trees
// that other processes take over by themselves, already before its lease expires if the lease cannot be renewed.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, it } from 'node:test';
import { LEASE_OVER_TEXT } from '../../../src/runtime/performing/perform-call.ts';
import type { Store } from '../../../src/store/store.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { closeOpened } from '../../close-opened.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { isRunning } from '../is-running.ts';
import { type Play, setStage } from '../stage.ts';

afterEach(closeOpened);

/** A ledger that accepts steps but, once `away` is true, no heartbeat. */
function heartless(): { readonly wrap: (store: Store) => Store; away: boolean } {
  const ledger = {
    away: false,
    wrap: (store: Store) =>
      new Proxy(store, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name, target);
          if (typeof member !== 'function') return member;
          if (name === 'heartbeat' && ledger.away)
            return () => Promise.reject(new StoreError('E_DB_UNAVAILABLE', 'it is away'));
          return member.bind(target);
        },
      }),
  };
  return ledger;
}

it('the command of the agent ends in the process that lost it, and is reported as interrupted by the new leader', async () => {
  const folder = temporaryFolder();
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
    // Repeated, because a heartbeat of the first process may renew its lease in between.
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
  }
});

// Both at once, since each waits for the end of a lease.
it('a call under a lease that cannot be renewed ends before it where others may take over, and goes on where only a person does', {
  timeout: 60_000,
}, async () => {
  const play: Play = ({ results }) =>
    results.length > 1
      ? 'went on'
      : [['bash', { command: 'echo $$ > pid.new; mv pid.new pid; exec sleep 11' }]];
  const lastResult = async (unattended: boolean) => {
    const first = await setStage(play, { tools: createBuiltInTools() });
    const root = await first.start();
    const written = join(root.config.cwd, 'pid');
    await until(() => existsSync(written), 'the command runs');
    rmSync(written);
    const ledger = heartless();
    const next = await first.reopen(play, { tools: createBuiltInTools(), wrap: ledger.wrap });
    await next.runtime.resume(root.id, { unattended });
    await until(() => existsSync(written), 'it runs again');
    ledger.away = true;
    assert.equal((await next.runtime.settled(root.id)).reply, 'went on');
    return (await next.results(root)).at(-1);
  };
  const [left, attended] = await Promise.all([lastResult(true), lastResult(false)]);
  assert.deepEqual([left?.status, left?.output], ['interrupted', LEASE_OVER_TEXT]);
  assert.equal(attended?.status, 'ok');
});
