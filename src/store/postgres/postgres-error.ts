import { StoreError, type StoreErrorCode } from '../store-error.ts';

const CONNECTION =
  /^E(?:CONN(?:REFUSED|RESET|ABORTED)|NOTFOUND|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH|ADDRNOTAVAIL|AI_AGAIN|NOENT)$/;

/** Codes after which the transaction was rolled back or never began: a deadlock, a lock, an unknown prepared statement. */
const ROLLED_BACK = new Set(['40P01', '40001', '55P03', '26000', '42P05']);
const READ_ONLY_TRANSACTION = '25006';

/**
 * Turns an error of the driver into a `StoreError`; errors of our own SQL are bugs and pass through. `location` contains no password. `opening`: it happened
 * on the first connection. `was_writable`: the server accepted writes before, so refusing them is temporary (a fail-over).
 */
export function postgresStoreError(
  error: unknown,
  location: string,
  {
    was_writable = false,
    opening = false,
  }: { readonly was_writable?: boolean; readonly opening?: boolean } = {},
): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  const code = (error as { readonly code?: string }).code ?? '';
  const make = (kind: StoreErrorCode, text: string) =>
    new StoreError(kind, `database ${location}: ${text}`, { cause: error });
  // `cached plan must not change result type`: a newer Coppice migrated the ledger meanwhile.
  if (ROLLED_BACK.has(code) || (code === '0A000' && /cached plan/.test(error.message)))
    return make('E_DB_BUSY', 'too many writers at once: try again');
  if (code === '53100') return make('E_DB_FULL', 'the disk of the server is full: free some space');
  const { syscall, path } = error as { readonly syscall?: string; readonly path?: string };
  if (syscall === 'open')
    return make('E_DB_UNREADABLE', `${path}, which its address names, cannot be read (${code})`);
  if (code === '28P01' || code === '28000')
    return make('E_DB_UNREADABLE', 'the server refused the user or the password: check the URL');
  if (code === '3D000')
    return make('E_DB_UNREADABLE', 'no such database: create it (createdb NAME) or check the URL');
  if (was_writable && (code === '42P01' || (code === '42883' && error.message.includes('coppice_'))))
    return make('E_DB_GONE', `its tables were dropped: restore a backup (${error.message})`);
  if (code === READ_ONLY_TRANSACTION && was_writable)
    return make('E_DB_UNAVAILABLE', 'the server is temporarily read-only, for example during a failover');
  if (code === '42501' || code === READ_ONLY_TRANSACTION)
    return make(
      'E_DB_READ_ONLY',
      'the user has no permission to write there: grant it, or use another database',
    );
  if (code === '3F000')
    return make(
      'E_DB_READ_ONLY',
      'it has no schema in which the user may create tables: grant usage and create on one, or set search_path',
    );
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return make('E_DB_UNAVAILABLE', `its host cannot be resolved (${code}): check the address and DNS`);
  if (code === '53300')
    return make(
      'E_DB_UNAVAILABLE',
      'all its connections are in use (53300): raise max_connections, or use a pooler',
    );
  if (code === '22P05') return make('E_DB_UNREADABLE', `its encoding is not UTF8: ${error.message}`);
  const gone =
    CONNECTION.test(code) || code.startsWith('08') || code.startsWith('57') || code.startsWith('53');
  if (gone || /terminated|closed|timeout|not queryable/i.test(error.message)) {
    return make('E_DB_UNAVAILABLE', `the server cannot be reached (${code || error.message})`);
  }
  // Not a database error: another protocol, a certificate, a missing password.
  if (opening && !/^[0-9A-Z]{5}$/.test(code) && !(error instanceof TypeError))
    return make('E_DB_UNREADABLE', `cannot connect to PostgreSQL there: ${error.message}: check the address`);
  return error;
}
