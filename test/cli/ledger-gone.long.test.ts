// Proves that each process that works on a ledger for long ends its work when the ledger is taken away, says so, and names the copy: a run, a worker, an editor's
// and a client's process, and a program that uses the library.
import assert from 'node:assert/strict';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createScriptedModel, openCoppice, StoreError } from '../../src/coppice.ts';
import { openEditor, writeRules } from '../acp/editor-client.ts';
import { closeOpened } from '../close-opened.ts';
import { startClient } from '../mcp/mcp-client.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { type Home, makeHome } from './run-cli.ts';

/** Runs until it is stopped; what it leaves shows whether it was. */
const RULES = [
  { when: { step: 0 }, calls: [{ name: 'bash', input: { command: 'touch begun; sleep 60; touch ended' } }] },
  { say: 'done' },
];
const SAID = /the ledger is gone: .* was deleted or moved while in use.* is in (\S+\.rescued-[\w-]+): /;

function take(database: string): void {
  for (const more of ['', '-wal', '-shm']) rmSync(database + more);
}

const begun = (home: Home) => until(() => existsSync(join(home.work, 'begun')), 'a call');

/** The copy that the text names holds an agent with this name. */
async function copyHolds(home: Home, text: string, name: string): Promise<void> {
  const copy = SAID.exec(text)?.[1] ?? assert.fail(text);
  const { stdout } = await home.run(['ps', '--all', '--json', '--database', copy]);
  assert.ok(stdout.includes(`"name":"${name}"`), stdout);
}

describe('a ledger that is deleted under', { timeout: 110_000, concurrency: true }, () => {
  after(closeOpened);

  it('a run: its command ends, and it does not claim that nothing is lost', async () => {
    const home = makeHome();
    const { ended } = home.start(['run', 'go', '--yes', '--model', writeRules(home, RULES)]);
    await begun(home);
    take(home.database);
    const { code, stderr, stdout } = await ended;
    assert.deepEqual([code, stdout], [2, '']);
    assert.doesNotMatch(stderr, /nothing is lost/);
    assert.match(stderr, /\nerror: the ledger is gone: .* \(E_DB_GONE\)\n$/);
    await copyHolds(home, stderr, 'main');
  });

  it('a run that is stopped in that moment', async () => {
    const home = makeHome();
    const { child, ended } = home.start(['run', 'go', '--yes', '--json', '--model', writeRules(home, RULES)]);
    await begun(home);
    renameSync(home.database, `${home.database}.away`);
    child.kill('SIGINT');
    const { code, stderr, stdout } = await ended;
    assert.equal(code, 2);
    assert.doesNotMatch(stderr, /nothing is lost/);
    assert.equal(JSON.parse(stdout).error.code, 'E_DB_GONE');
    await copyHolds(home, stdout, 'main');
  });

  it('a worker: it leads nothing more, and ends at once when it is told to', async () => {
    const home = makeHome();
    const { child, ended } = home.start(['worker', '--log', 'json']);
    let log = '';
    child.stderr?.on('data', (text: string) => {
      log += text;
    });
    await until(() => log.includes('coppice works'), 'a worker');
    const model = writeRules(home, RULES);
    await home.run(['run', 'go', '--detach', '--anywhere', '--yes', '--name', 'led', '--model', model]);
    await begun(home);
    take(home.database);
    await until(() => SAID.test(log), 'a line in the log');
    child.kill('SIGTERM');
    const { code } = await ended;
    assert.equal(code, 2);
    assert.doesNotMatch(log, /nothing is lost|stay in the ledger/);
    await copyHolds(home, log, 'led');
  });

  it('an editor: its open request is answered with the reason', async () => {
    const home = makeHome();
    const editor = await openEditor(home, ['--allow', '*', '--model', writeRules(home, RULES)]);
    const session = await editor.begin();
    const said = editor.say(session, 'go').then(
      () => assert.fail('answered'),
      (error: Error) => error.message,
    );
    await begun(home);
    take(home.database);
    await copyHolds(home, await said, 'main');
    assert.equal((await editor.ended).code, 2);
    assert.match(editor.told(), SAID);
  });

  it('a client over MCP: its open call is answered with the reason', async () => {
    const home = makeHome();
    const client = await startClient(home, writeRules(home, RULES), { args: ['--allow', '*'] });
    await client.tool('fork', { name: 'kid', prompt: 'go' });
    const waited = client.tool('wait', { timeout: 60 });
    await begun(home);
    take(home.database);
    const { is_error, value } = await waited;
    assert.equal(is_error, true);
    await copyHolds(home, JSON.stringify(value), 'kid');
  });

  it('a program with the library: results, calls and the close reject with the reason', async () => {
    const file = join(temporaryFolder(), 'ledger.db');
    const coppice = await openCoppice({
      database: file,
      model: 'script',
      models: { script: createScriptedModel({ rules: [{ delay_ms: 60_000, say: 'late' }] }, 'script') },
    });
    const isGone = (error: unknown) => error instanceof StoreError && error.code === 'E_DB_GONE';
    const agent = await coppice.start({ prompt: 'go' });
    const told: string[] = [];
    coppice.subscribe((event) => {
      if (event.type === 'ledger') told.push(event.text);
    });
    take(file);
    await assert.rejects(agent.result(), isGone);
    await assert.rejects(agent.send('more'), isGone);
    await assert.rejects(coppice.start({ prompt: 'more' }), isGone);
    await assert.rejects(coppice.close(), isGone);
    assert.match(told.at(-1) ?? '', SAID);
  });
});
