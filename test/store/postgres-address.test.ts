// Proves that our own options are removed from a PostgreSQL URL, that the rest stays unchanged, and that no password is shown.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { postgresAddress } from '../../src/store/postgres/postgres-address.ts';
import { StoreError } from '../../src/store/store-error.ts';

const BASE = 'postgres://ada:secret@db.example:6432/ledger';
const SHOWN = 'postgres://ada@db.example:6432/ledger';
const DIRECT = 'postgres://ada:other@db.example:5432/ledger';

it('a plain address is unchanged, listens there, and prepares statements', () => {
  for (const url of [BASE, `${BASE}?sslmode=verify-full&application_name=a+b%20c`])
    assert.deepEqual(postgresAddress(url), {
      url,
      listen_url: url,
      prepare: true,
      location: url.replace(':secret', '').replace('%20', '+'),
    });
});

it('behind a pooler nothing is prepared, and nothing listens without a direct address', () => {
  for (const option of ['pgbouncer=true', 'prepare=false', 'prepare=0', 'pgbouncer=yes&prepare=true'])
    assert.deepEqual(postgresAddress(`${BASE}?${option}`), {
      url: BASE,
      listen_url: null,
      prepare: false,
      location: SHOWN,
    });
  const listen = `listen=${encodeURIComponent(`${DIRECT}?sslmode=require`)}`;
  assert.deepEqual(postgresAddress(`${BASE}?sslmode=require&${listen}&pgbouncer=1`), {
    url: `${BASE}?sslmode=require`,
    listen_url: `${DIRECT}?sslmode=require`,
    prepare: false,
    location: `${SHOWN}?sslmode=require`,
  });
});

it('the environment may name the address for LISTEN; the URL takes precedence', () => {
  const env = { COPPICE_LISTEN_URL: DIRECT };
  assert.equal(postgresAddress(`${BASE}?pgbouncer=true`, env).listen_url, DIRECT);
  assert.equal(postgresAddress(BASE, env).listen_url, DIRECT);
  const named = `${BASE}?listen=${encodeURIComponent('postgres://elsewhere/ledger')}`;
  assert.equal(postgresAddress(named, env).listen_url, 'postgres://elsewhere/ledger');
});

it('listening can be switched off, which changes nothing else', () => {
  const silent = { url: BASE, listen_url: null, prepare: true, location: SHOWN };
  assert.deepEqual(postgresAddress(`${BASE}?listen=off`), silent);
  assert.deepEqual(postgresAddress(BASE, { COPPICE_LISTEN_URL: 'off' }), silent);
  assert.deepEqual(postgresAddress(`${BASE}?listen=off`, { COPPICE_LISTEN_URL: DIRECT }), silent);
});

it('a password is never shown, wherever it is in the address', () => {
  for (const url of [
    `${BASE}?password=secret`,
    `postgres://db.example/ledger?user=ada&password=secret&listen=${encodeURIComponent(DIRECT)}`,
    'postgres://ada:secret@/ledger?host=/var/run',
  ]) {
    const { location } = postgresAddress(url);
    assert.ok(!/secret|other/.test(location), location);
  }
});

it('an address that cannot be parsed is refused without showing a password', () => {
  for (const query of ['prepare=maybe', 'pgbouncer=2', 'listen=mysql://secret'])
    assert.throws(
      () => postgresAddress(`${BASE}?${query}`),
      (error) =>
        error instanceof StoreError && error.code === 'E_DB_URL' && !error.message.includes('secret'),
    );
});
