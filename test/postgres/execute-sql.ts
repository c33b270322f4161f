import pg from 'pg';

/** Executes plain SQL on a separate connection. Rejects with the server's error. */
export async function executeSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
