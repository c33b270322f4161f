import pg from 'pg';

/** `PostgreSQL 18.4`, as the server of `url` says. */
export async function postgresVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SHOW server_version');
  await client.end();
  return `PostgreSQL ${String(rows[0].server_version).split(' ')[0]}`;
}
