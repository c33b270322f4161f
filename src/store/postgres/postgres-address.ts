import { orElse } from '../../records/coppice-error.ts';
import { StoreError } from '../store-error.ts';

/** Address of a PostgreSQL ledger, and how to connect to it. */
export interface PostgresAddress {
  /** URL for the driver, without our own options. */
  readonly url: string;
  /** URL at which `LISTEN` works; null: nowhere, so the listener polls. */
  readonly listen_url: string | null;
  /** False behind a pooler in transaction mode, where statements must not be prepared by name. */
  readonly prepare: boolean;
  /** Address for people and logs, without passwords. */
  readonly location: string;
}

const OWN = ['prepare', 'pgbouncer', 'listen'];

/** Parses `postgres://…` with our own options `prepare`, `pgbouncer` and `listen` (docs/ledger.md, "Many machines, one pooler"). Throws a `StoreError`. */
export function postgresAddress(url: string, env: NodeJS.ProcessEnv = {}): PostgresAddress {
  const at = url.indexOf('?');
  const base = at < 0 ? url : url.slice(0, at);
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  const isOwn = OWN.some((name) => query.has(name));
  const prepare = flag(query, 'prepare', true) && !flag(query, 'pgbouncer', false);
  const named = query.get('listen') ?? env.COPPICE_LISTEN_URL ?? '';
  const listens = !/^off$/i.test(named);
  const location = publicLocation(base, query, 'the address of the database');
  if (listens && named !== '') checkListen(named);
  for (const name of OWN) query.delete(name);
  // Without our options, the driver gets the URL unchanged.
  const rest = isOwn ? joined(base, query) : url;
  return {
    url: rest,
    listen_url: listens ? (named !== '' ? named : prepare ? rest : null) : null,
    prepare,
    location,
  };
}

function flag(query: URLSearchParams, name: string, usual: boolean): boolean {
  const value = query.get(name);
  if (value === null) return usual;
  if (/^(true|1|yes|on)$/i.test(value)) return true;
  if (/^(false|0|no|off)$/i.test(value)) return false;
  throw new StoreError('E_DB_URL', `${name}= in the address of the database: use true or false`);
}

function joined(base: string, query: URLSearchParams): string {
  const text = query.toString();
  return text === '' ? base : `${base}?${text}`;
}

function checkListen(named: string): void {
  const what = 'the address for LISTEN (listen= or COPPICE_LISTEN_URL)';
  if (!/^postgres(ql)?:\/\//.test(named))
    throw new StoreError('E_DB_URL', `${what} must be a postgres://… URL or "off"`);
  const [base = '', ...rest] = named.split('?');
  publicLocation(base, new URLSearchParams(rest.join('?')), what);
}

/** Scheme, user, password, host, port, name. Characters that have a meaning in a URL must be percent-encoded in each. */
const PARTS =
  /^(postgres(?:ql)?:\/\/)(?:([^:@/#]*)(?::([^@/#]*))?@)?(\[[^@/#[\]]*\]|[^@:/#]*)(?::([^@/#]*))?(?:\/([^@/#]*))?$/;
const HOST = /^(\[[0-9a-f:.]+\]|[\p{L}\p{N}._~%-]*)$/iu;
/** Query parameters that may be shown; everything else in a query may be a secret. */
const SHOWN = new Set(['host', 'port', 'user', 'dbname', 'sslmode', 'application_name']);

/** The address without anything that may be secret. Throws a `StoreError`, also without secrets, for what the driver could not parse. */
function publicLocation(base: string, query: URLSearchParams, what: string): string {
  const refuse = (words: string) => new StoreError('E_DB_URL', `${what} ${words}`);
  const parts = PARTS.exec(base);
  if (parts === null || [...query.keys()].some((name) => !/^\w+$/.test(name)))
    throw refuse(
      'cannot be read: in its user, password and name, the characters @ : / ? # % must be percent-encoded (%40 %3A %2F %3F %23 %25)',
    );
  const [, scheme = '', user = '', , host = '', port, name] = parts;
  if (!parts.slice(2).every((part = '') => orElse(() => decodeURIComponent(part), null) !== null))
    throw refuse('has a % that is not percent-encoded (%25)');
  if (!HOST.test(host)) throw refuse('has an invalid host: write postgres://USER@HOST:PORT/NAME');
  for (const one of [port, query.get('port') ?? undefined])
    if (one !== undefined && !(/^\d{1,5}$/.test(one) && Number(one) >= 1 && Number(one) <= 65_535))
      throw refuse('has an invalid port: use 1 to 65535');
  const shown = new URLSearchParams([...query].filter(([key]) => SHOWN.has(key)));
  // A user with other characters may contain a password, so it is left out.
  const before = /^[\p{L}\p{N}._-]+$/u.test(decodeURIComponent(user)) ? `${user}@` : '';
  const place = `${scheme}${before}${host}${port === undefined ? '' : `:${port}`}`;
  return joined(name === undefined ? place : `${place}/${name}`, shown);
}
