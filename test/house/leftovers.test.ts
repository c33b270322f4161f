// Proves that a test file fails when something outlives its tests (an open handle that keeps its process alive, a process left behind, a late error), and
// when a test never gives its thread back.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isRunning } from '../runtime/is-running.ts';
import { until } from '../until.ts';

const folder = mkdtempSync(join(tmpdir(), 'coppice-leftovers-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const LEFTOVERS = pathToFileURL(join(import.meta.dirname, '..', '..', 'scripts', 'leftovers.ts'));

function outcome(body: string): { readonly status: number | null; readonly said: string } {
  const file = join(folder, 'one.test.mjs');
  writeFileSync(file, `import { it } from 'node:test';\n${body}`);
  const { NODE_TEST_CONTEXT: _, COPPICE_TEST_FILE: __, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--test', `--import=${LEFTOVERS}`, '--test-reporter=spec', file],
    { encoding: 'utf8', env: { ...env, LEFTOVERS_GRACE_MS: '1500', COPPICE_TEST_BLOCKED_MS: '1000' } },
  );
  return { status, said: stdout + stderr };
}

it('a file that leaves nothing behind passes', () => {
  const body = `import { spawnSync } from 'node:child_process'; it('a', () => { spawnSync('true'); });`;
  assert.equal(outcome(body).status, 0);
});

it('what keeps the process alive is named', () => {
  const { status, said } = outcome(
    `import { createServer } from 'node:net'; it('a', () => { createServer().listen(0); });`,
  );
  assert.equal(status, 1);
  assert.match(said, /one\.test\.mjs: outlived its tests and kept the process alive: .*TCPServerWrap/);
});

it('a process that was left behind is named and ended, whoever its parent is by then', {
  skip: process.platform === 'linux' ? false : 'only Linux tells whose a process is',
}, async () => {
  const { status, said } = outcome(
    `import { spawn } from 'node:child_process';
     const options = { detached: true, stdio: 'ignore' };
     it('a', () => new Promise((resolve) => spawn('sh', ['-c', 'sleep 98 & exit'], options).on('exit', resolve)));`,
  );
  assert.equal(status, 1);
  const [, pid] = /outlived its tests and still ran at the end: (\d+) (?:sh -c )?sleep 98/.exec(said) ?? [];
  assert.ok(pid !== undefined, said);
  await until(() => !isRunning(Number(pid)), 'it has ended');
});

it('an error that comes after the tests fails the file', () => {
  const body = `it('a', () => { setTimeout(() => Promise.reject(new Error('too late')), 20); });`;
  const { status, said } = outcome(body);
  assert.equal(status, 1);
  assert.match(said, /too late/);
});

it('a loop that never gives the thread back is ended, and its test named', () => {
  const { status, said } = outcome(
    "it('a', () => {}); it('b goes on', async () => { for (;;) await null; });",
  );
  assert.equal(status, 1);
  assert.match(said, /a test blocked its thread for 1 s: b goes on/);
});
