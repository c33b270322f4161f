import { StoreError, type StoreErrorCode } from '../store-error.ts';

const CONNECTION = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'ENOENT',
]);

/** Turns what the driver threw into one sentence; errors of our own SQL are bugs and pass through. `location` holds no password. */
export function storeErrorOf(error: unknown, location: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  const code = (error as { readonly code?: string }).code ?? '';
  const make = (kind: StoreErrorCode, text: string) =>
    new StoreError(kind, `database ${location}: ${text}`, { cause: error });
  if (code === '40P01' || code === '40001' || code === '55P03')
    return make('E_DB_BUSY', 'too many writers at once: try again');
  if (code === '53100')
    return make('E_DB_FULL', 'the disk of the server is full: free some space; the work goes on by itself');
  if (code === '28P01' || code === '28000')
    return make('E_DB_UNREADABLE', 'the server refused the user or the password: check the URL');
  if (code === '3D000')
    return make('E_DB_UNREADABLE', 'no such database: create it (createdb NAME) or check the URL');
  if (code === '42501' || code === '25006')
    return make('E_DB_READ_ONLY', 'the user may not write there: grant it, or use another database');
  const gone =
    CONNECTION.has(code) || code.startsWith('08') || code.startsWith('57') || code.startsWith('53');
  if (gone || /terminated|closed|timeout|not queryable/i.test(error.message)) {
    return make(
      'E_DB_UNAVAILABLE',
      `the server cannot be reached (${code || error.message}): the work waits and goes on by itself`,
    );
  }
  return error;
}

/** The address without its password, for people and logs. */
export function publicLocation(url: string): string {
  try {
    const parsed = new URL(url);
    parsed.password = '';
    return parsed.toString();
  } catch {
    return 'postgres';
  }
}
