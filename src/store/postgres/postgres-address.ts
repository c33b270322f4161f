import { StoreError } from '../store-error.ts';

/** Where a PostgreSQL ledger is, and how to talk to it. */
export interface PostgresAddress {
  /** For the driver: options of ours are taken out. */
  readonly url: string;
  /** Where `LISTEN` works; null: nowhere, so wake-ups are polled for. */
  readonly listen_url: string | null;
  /** False: a pooler gives every transaction another connection, so statements must not be remembered by name. */
  readonly prepare: boolean;
  /** For people and logs: without passwords. */
  readonly location: string;
}

const OWN = ['prepare', 'pgbouncer', 'listen'];

/**
 * Reads `postgres://…`. Options of ours in its query: `prepare=false` (or `pgbouncer=true`, the same) for a pooler in transaction mode, and
 * `listen=postgres://…`, the direct address for `LISTEN` (or `COPPICE_LISTEN_URL` in `env`), `listen=off` for none. Throws a `StoreError`.
 */
export function postgresAddress(url: string, env: NodeJS.ProcessEnv = {}): PostgresAddress {
  const at = url.indexOf('?');
  const base = at < 0 ? url : url.slice(0, at);
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  const isOwn = OWN.some((name) => query.has(name));
  const prepare = flag(query, 'prepare', true) && !flag(query, 'pgbouncer', false);
  const named = query.get('listen') ?? env.COPPICE_LISTEN_URL ?? '';
  const listens = !/^off$/i.test(named);
  if (listens && named !== '' && !/^postgres(ql)?:\/\//.test(named))
    throw new StoreError(
      'E_DB_URL',
      'the address for LISTEN is no postgres://… URL and not "off": check listen= or COPPICE_LISTEN_URL',
    );
  for (const name of OWN) query.delete(name);
  // What is not ours goes to the driver to the letter.
  const rest = isOwn ? joined(base, query) : url;
  return {
    url: rest,
    listen_url: listens ? (named !== '' ? named : prepare ? rest : null) : null,
    prepare,
    location: publicLocation(base, query),
  };
}

function flag(query: URLSearchParams, name: string, usual: boolean): boolean {
  const value = query.get(name);
  if (value === null) return usual;
  if (/^(true|1|yes|on)$/i.test(value)) return true;
  if (/^(false|0|no|off)$/i.test(value)) return false;
  throw new StoreError('E_DB_URL', `${name}=${value} in the database URL: say true or false`);
}

function joined(base: string, query: URLSearchParams): string {
  const text = query.toString();
  return text === '' ? base : `${base}?${text}`;
}

function publicLocation(base: string, query: URLSearchParams): string {
  const shown = new URLSearchParams(query);
  shown.delete('password');
  try {
    const parsed = new URL(base);
    parsed.password = '';
    return joined(parsed.toString(), shown);
  } catch {
    return 'postgres';
  }
}
