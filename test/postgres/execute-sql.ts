import pg from 'pg';

/** Plain SQL on a connection of its own. Rejects with what the server says. */
export async function executeSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
