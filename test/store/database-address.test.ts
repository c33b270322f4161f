// Proves that a database is a path or a known address: everything else is refused with a specific message, creates no file, and shows no password.
// Own process: it changes the working directory.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { after, it } from 'node:test';
import { inspect } from 'node:util';
import { databaseAddress } from '../../src/store/database-address.ts';
import { openStore } from '../../src/store/open-store.ts';
import { postgresAddress } from '../../src/store/postgres/postgres-address.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { MALFORMED, SECRET } from './malformed-addresses.ts';

const folder = temporaryFolder();
const before = process.cwd();
process.chdir(folder);
after(() => {
  process.chdir(before);
});

for (const [text, words] of MALFORMED)
  it(`refuses ${JSON.stringify(text).replaceAll(SECRET, '…')}`, async () => {
    await assert.rejects(openStore(text), (error) => {
      assert.ok(error instanceof StoreError, inspect(error).replaceAll(SECRET, '…'));
      assert.equal(error.code, 'E_DB_URL');
      assert.match(error.message, words);
      assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(SECRET), 'the password is shown');
      return true;
    });
    assert.deepEqual(readdirSync(folder), []);
  });

it('distinguishes files and servers', () => {
  for (const [text, path] of [
    ['ledger.db', 'ledger.db'],
    ['./odd:name.db', './odd:name.db'],
    ['sqlite:ledger.db', 'ledger.db'],
    ['sqlite://ledger.db', 'ledger.db'],
    ['SQLite:///var/lib/ledger.db', '/var/lib/ledger.db'],
    ['/srv/with a space/a=b/ledger.db', '/srv/with a space/a=b/ledger.db'],
    ['C:\\Users\\ada\\ledger.db', 'C:\\Users\\ada\\ledger.db'],
    ['sqlite:C:/data/ledger.db', 'C:/data/ledger.db'],
    [resolve('ledger.db'), resolve('ledger.db')],
  ] as const)
    assert.deepEqual(databaseAddress(text), { kind: 'sqlite', path }, text);
  for (const [text, url] of [
    ['postgres://ada@db/ledger', 'postgres://ada@db/ledger'],
    ['POSTGRESQL://ada@db/ledger', 'postgresql://ada@db/ledger'],
  ] as const)
    assert.deepEqual(databaseAddress(text), { kind: 'postgres', url }, text);
});

it('shows only the parts of an address that are not secret', () => {
  for (const [url, location] of [
    [`postgres://ada:${SECRET}@db.example/ledger`, 'postgres://ada@db.example/ledger'],
    [`postgres://ada:${SECRET}@[::1]:5433/ledger`, 'postgres://ada@[::1]:5433/ledger'],
    [`postgres://${encodeURIComponent(`a@b:${SECRET}`)}@db/x`, 'postgres://db/x'],
    [`postgres://ada;${SECRET}@db/x`, 'postgres://db/x'],
    [`postgres://ada:${SECRET}@/ledger?host=/var/run`, 'postgres://ada@/ledger?host=%2Fvar%2Frun'],
    [`postgres://ada@db/x?password=${SECRET}&sslmode=require`, 'postgres://ada@db/x?sslmode=require'],
    [`postgres://ada@db/x?sslpassword=${SECRET}&passfile=${SECRET}`, 'postgres://ada@db/x'],
    [`postgres://ada@db/x?PASSWORD=${SECRET}&options=-c%20x%3D${SECRET}`, 'postgres://ada@db/x'],
  ] as const)
    assert.equal(postgresAddress(url).location, location);
});

it('reports that no PostgreSQL answers at the address', async () => {
  // The server answers that it does not support TLS.
  const server = createServer((socket) => socket.on('data', () => socket.end('N'))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  try {
    const at =
      (host: string, more = '') =>
      () =>
        openStore(`postgres://ada:${SECRET}@${host}/ledger${more}`);
    for (const [tried, code, words] of [
      [
        at(`127.0.0.1:${port}`, '?sslmode=verify-full'),
        'E_DB_UNREADABLE',
        /cannot connect to PostgreSQL there/,
      ],
      [at('nowhere.invalid'), 'E_DB_UNAVAILABLE', /host cannot be resolved/],
      [at('127.0.0.1', '?sslcert=/nowhere.pem'), 'E_DB_UNREADABLE', /nowhere.pem.* cannot be read/],
    ] as const)
      await assert.rejects(tried, (error) => {
        assert.ok(error instanceof StoreError);
        assert.equal(error.code, code);
        assert.match(error.message, words);
        assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(SECRET));
        return true;
      });
  } finally {
    server.close();
  }
});
