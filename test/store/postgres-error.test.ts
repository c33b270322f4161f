// Proves the code and the message of each kind of failure of a PostgreSQL server, and that our own bugs pass through.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { postgresStoreError } from '../../src/store/postgres/postgres-error.ts';
import { StoreError } from '../../src/store/store-error.ts';

type Look = Parameters<typeof postgresStoreError>[2];

function said(fields: object, look?: Look): string {
  const error = Object.assign(new Error('text'), fields);
  const made = postgresStoreError(error, 'host/ledger', look);
  if (made === error) return 'passes';
  assert.ok(made instanceof StoreError && made.cause === error && made.message.includes('host/ledger'));
  return made.code;
}

it('distinguishes conflicts that can be retried, an unavailable server, and what needs a change', () => {
  for (const code of ['40P01', '40001', '55P03', '26000', '42P05'])
    assert.equal(said({ code }), 'E_DB_BUSY', code);
  assert.equal(said({ code: '53100' }), 'E_DB_FULL');
  for (const code of ['28P01', '28000', '3D000', '22P05'])
    assert.equal(said({ code }), 'E_DB_UNREADABLE', code);
  for (const code of ['42501', '3F000']) assert.equal(said({ code }), 'E_DB_READ_ONLY', code);
  assert.equal(said({ code: 'ENOENT', syscall: 'open', path: '/key.pem' }), 'E_DB_UNREADABLE');
  const gone = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT', '08006', '57P01', '53300'];
  for (const code of gone) assert.equal(said({ code }), 'E_DB_UNAVAILABLE', code);
  for (const message of ['Connection terminated', 'Query read timeout', 'Client was closed', 'not queryable'])
    assert.equal(said({ message }), 'E_DB_UNAVAILABLE', message);
});

it('a plan outdated by a newer schema is retried; any other unsupported feature is a bug', () => {
  assert.equal(said({ code: '0A000', message: 'cached plan must not change result type' }), 'E_DB_BUSY');
  assert.equal(said({ code: '0A000', message: 'not supported' }), 'passes');
  assert.equal(said({ code: '42601', message: 'cached plan' }), 'passes');
});

it('a read-only server is unavailable if it took writes before, and read-only if it never did', () => {
  assert.equal(said({ code: '25006' }), 'E_DB_READ_ONLY');
  assert.equal(said({ code: '25006' }, { was_writable: true }), 'E_DB_UNAVAILABLE');
  assert.equal(said({ code: '42501' }, { was_writable: true }), 'E_DB_READ_ONLY');
});

it('a server that is not PostgreSQL is reported only when the ledger is opened', () => {
  assert.equal(said({}, { opening: true }), 'E_DB_UNREADABLE');
  assert.equal(said({}), 'passes');
  assert.equal(said({ code: '42601' }, { opening: true }), 'passes');
  const bug = new TypeError('x');
  assert.equal(postgresStoreError(bug, 'l', { opening: true }), bug);
});

it('passes through non-errors and store errors', () => {
  const told = new StoreError('E_DB_FULL', 'told');
  for (const one of [told, 'text', null]) assert.equal(postgresStoreError(one, 'l'), one);
});
