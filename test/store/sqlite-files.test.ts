// Proves that a file that cannot be a ledger is refused with a reason and left unchanged, and that several processes may create one at once.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { openStore } from '../../src/store/open-store.ts';
import { assertCreatable, openReadOnly } from '../../src/store/sqlite/open-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newRoot } from './ledger-fixture.ts';

const folder = temporaryFolder();
const refused = (file: string) =>
  openStore(`sqlite:${file}`).then(
    () => 'opened',
    (error: { code: string }) => error.code,
  );

it('refuses files that are not a ledger, and leaves them unchanged', async () => {
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

it('creates missing folders, and fails where none can be created', async () => {
  const deep = join(folder, 'a', 'b', 'ledger.db');
  assertCreatable(deep);
  assert.equal(existsSync(join(folder, 'a')), false);
  await (await openStore(`sqlite:${deep}`)).close();
  assert.equal(statSync(join(folder, 'a', 'b')).mode & 0o777, 0o700);
  // In /proc (Linux) only the system creates folders.
  for (const nowhere of ['/proc/nope/x/ledger.db', join(deep, 'below', 'ledger.db')]) {
    assert.equal(await refused(nowhere), 'E_DB_UNREADABLE', nowhere);
    assert.throws(() => assertCreatable(nowhere), { code: 'E_DB_UNREADABLE' }, nowhere);
  }
});

it('refuses a ledger of a newer version', async () => {
  const file = join(folder, 'newer.db');
  await (await openStore(file)).close();
  const database = new DatabaseSync(file);
  database.exec('PRAGMA user_version = 999');
  database.close();
  assert.equal(await refused(file), 'E_DB_NEWER');
});

it('reports a truncated ledger as damaged', async () => {
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

it('waits for a process that writes to a new file, where SQLite itself would not wait', async () => {
  const file = join(folder, 'held.db');
  const holder = new Worker(
    `const { DatabaseSync } = require('node:sqlite');
     const database = new DatabaseSync(${JSON.stringify(file)});
     database.exec('BEGIN IMMEDIATE');
     require('node:worker_threads').parentPort.postMessage('held');
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
     database.exec('COMMIT');`,
    { eval: true },
  );
  await once(holder, 'message');
  const store = await openStore(`sqlite:${file}`);
  assert.deepEqual(await store.agents({}), []);
  await store.close();
});

it('names what is at the path if it is not a file, and does not block on a pipe', async () => {
  const [pipe, socket, link] = ['pipe', 'socket', 'link'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  execFileSync('mkfifo', [pipe]);
  symlinkSync(link, link);
  const server = createServer().listen(socket);
  await once(server, 'listening');
  try {
    for (const [file, words] of [
      [folder, /is a folder/],
      [pipe, /is a pipe/],
      [socket, /is a socket/],
      ['/dev/null', /is a device/],
      [link, /form a loop/],
      [join(folder, 'x'.repeat(300)), /too long/],
    ] as const)
      await assert.rejects(openStore(file), { code: 'E_DB_UNREADABLE', message: words });
    assert.throws(() => openReadOnly(pipe, 10), { code: 'E_DB_UNREADABLE', message: /is a pipe/ });
  } finally {
    server.close();
  }
});

it('refuses a ledger whose version does not match its tables, and leaves it unchanged', async () => {
  for (const version of [-3, 0]) {
    const file = join(folder, `version${version}.db`);
    await (await openStore(file)).close();
    const database = new DatabaseSync(file);
    database.exec(`PRAGMA user_version = ${version}`);
    database.close();
    await assert.rejects(openStore(file), {
      code: 'E_DB_CORRUPT',
      message: new RegExp(`schema number is ${version},`),
    });
  }
});

it('names the row that cannot be parsed', async () => {
  const file = join(folder, 'rows.db');
  const store = await openStore(file);
  const agent = await newRoot(store);
  const database = new DatabaseSync(file);
  for (const damage of ["state = '{'", "state = '7'", "state = '{}'", "config = 'null'"]) {
    database.exec(`UPDATE agents SET ${damage}`);
    await assert.rejects(store.agents({}), {
      code: 'E_DB_CORRUPT',
      message: new RegExp(`"${damage.slice(0, damage.indexOf(' '))}" of the row ${agent.id}`),
    });
    database
      .prepare('UPDATE agents SET state = ?, config = ?')
      .run(JSON.stringify(agent.state), JSON.stringify(agent.config));
  }
  assert.equal((await store.agents({})).length, 1);
  database.close();
  await store.close();
});
