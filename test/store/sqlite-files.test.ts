// Proves that a file that cannot be the ledger is refused with a reason and left as it was, and that two processes may open a new one at once.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, it } from 'node:test';
import { promisify } from 'node:util';
import { openStore } from '../../src/store/open-store.ts';
import { newRoot } from './ledger-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'coppice-files-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const refused = (file: string) =>
  openStore(`sqlite:${file}`).then(
    () => 'opened',
    (error: { code: string }) => error.code,
  );

it('refuses what is no ledger, and leaves it alone', async () => {
  const text = join(folder, 'notes.txt');
  writeFileSync(text, 'not a database '.repeat(500));
  assert.equal(await refused(text), 'E_DB_CORRUPT');
  assert.equal(readFileSync(text, 'utf8'), 'not a database '.repeat(500));
  const foreign = join(folder, 'foreign.db');
  const other = new DatabaseSync(foreign);
  other.exec('CREATE TABLE theirs (x)');
  other.close();
  assert.equal(await refused(foreign), 'E_DB_UNREADABLE');
  assert.equal(await refused(folder), 'E_DB_UNREADABLE');
  assert.equal(await refused(join(text, 'below-a-file.db')), 'E_DB_UNREADABLE');
});

it('refuses a ledger of a newer version', async () => {
  const file = join(folder, 'newer.db');
  await (await openStore(file)).close();
  const database = new DatabaseSync(file);
  database.exec('PRAGMA user_version = 999');
  database.close();
  assert.equal(await refused(file), 'E_DB_NEWER');
});

it('a truncated ledger is called damaged', async () => {
  const file = join(folder, 'cut.db');
  const store = await openStore(file);
  await newRoot(store);
  await store.close();
  truncateSync(file, Math.floor(statSync(file).size / 2) + 100);
  const outcome = await openStore(file)
    .then((cut) => cut.agents({}))
    .then(
      () => 'read',
      (error: { code: string }) => error.code,
    );
  assert.equal(outcome, 'E_DB_CORRUPT');
});

it('is readable by its owner only', async () => {
  const file = join(folder, 'new', 'private.db');
  await (await openStore(file)).close();
  assert.equal(statSync(file).mode & 0o077, 0);
});

it('six processes open the same new file at once', async () => {
  const file = join(folder, 'shared.db');
  const script = `const { openStore } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/store/open-store.ts'))}); const s = await openStore(${JSON.stringify(file)}); console.log((await s.agents({})).length); await s.close();`;
  const run = promisify(execFile);
  const outputs = await Promise.all(
    Array.from({ length: 6 }, () => run(process.execPath, ['--input-type=module', '-e', script])),
  );
  assert.deepEqual(
    outputs.map((output) => output.stdout.trim()),
    Array(6).fill('0'),
  );
});
